"""AXI4-Lite: the bus of a chip's host port."""

from enum import IntEnum

from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

DATA_BITS = 32
DATA_BYTES = DATA_BITS // 8


class Response(IntEnum):
    """Responses that a subordinate gives. Source: ARM IHI 0022, table A3-4."""

    OKAY = 0b00
    SLVERR = 0b10


class AxiLiteSignature(wiring.Signature):
    """A 32-bit AXI4-Lite bus, seen from the manager. Names are those of ARM IHI 0022.

    Parameters
    ----------
    address_bits : :class:`int`
        Width of a byte address.
    """

    def __init__(self, address_bits: int):
        self.address_bits = address_bits
        super().__init__(
            {
                "awaddr": Out(address_bits),
                "awprot": Out(3),
                "awvalid": Out(1),
                "awready": In(1),
                "wdata": Out(DATA_BITS),
                "wstrb": Out(DATA_BYTES),
                "wvalid": Out(1),
                "wready": In(1),
                "bresp": In(2),
                "bvalid": In(1),
                "bready": Out(1),
                "araddr": Out(address_bits),
                "arprot": Out(3),
                "arvalid": Out(1),
                "arready": In(1),
                "rdata": In(DATA_BITS),
                "rresp": In(2),
                "rvalid": In(1),
                "rready": Out(1),
            }
        )
