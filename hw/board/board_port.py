"""The board's registers beside its chip, on the bus that the host's bridge drives."""

from amaranth.hdl import C, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hw.axi_lite import DATA_BITS, AxiLiteSignature, Response
from hw.board.board_registers import board_registers
from hw.board.uart_bone import ADDRESS_BITS, ERROR_COUNT_BITS
from hw.interfaces import positive
from hw.program_digest import DIGEST_BITS
from hw.register_map import Access, Register

LINK_LIMIT = DATA_BITS
"""Most link ports that one register has bits for."""


class BoardPort(wiring.Component):
    """AXI4-Lite subordinate that holds a board's registers and passes the rest on to the chip.

    One access at a time. Bit 31 of a byte address is set for a register of the board; other
    addresses go to the chip, unless it does not have them or is held, in which case they are
    answered SLVERR. So are writes of registers that are not to be written, and accesses that are
    not aligned to 32 bits or meet nothing. A register is answered in the cycle after its request.
    What is for the chip is passed on from the next cycle on; from then on, and on the way back,
    there are combinational paths between the buses.

    Parameters
    ----------
    address_bits : :class:`int`
        Width of the byte addresses of the chip, from 3 to 31.
    clock_hz : :class:`int`
        Frequency of the clock.
    link_count : :class:`int`
        Link ports of the chip, at most 32.
    digest : :class:`int`
        Digest of the chip's program, of 64 bits.

    Members
    -------
    bus : ``In(AxiLiteSignature(32))``
        The bus of board and chip.
    chip : ``Out(AxiLiteSignature(address_bits))``
        The bus of the chip.
    hold : ``Out(1)``
        Whether chip and links are to be held in reset. 0 after reset.
    start : ``Out(1)``
        Asserted for one cycle when the host starts a run on this board and those that send to it.
    running : ``In(1)``
        Whether the chip runs, which refuses a start.
    links_up : ``In(link_count)``
        Which link ports are ready.
    bus_errors : ``In(16)``
        Accesses that ended in an error.
    checksum : ``In(32)``
        Checksum of the bytes of the serial line.

    Raises
    ------
    :exc:`TypeError`
        If a parameter is not an integer of its range.
    """

    def __init__(self, address_bits: int, *, clock_hz: int, link_count: int, digest: int):
        if address_bits not in range(3, ADDRESS_BITS):
            raise TypeError(
                f"Address bits must be an integer from 3 to {ADDRESS_BITS - 1}, "
                f"not {address_bits!r}"
            )
        if link_count not in range(LINK_LIMIT + 1):
            raise TypeError(
                f"Link count must be an integer from 0 to {LINK_LIMIT}, not {link_count!r}"
            )
        self.address_bits = address_bits
        self.clock_hz = positive(clock_hz, "Clock frequency")
        self.link_count = link_count
        if not isinstance(digest, int) or not 0 <= digest < 1 << DIGEST_BITS:
            raise TypeError(f"Digest must be an integer of {DIGEST_BITS} bits, not {digest!r}")
        self.digest = digest
        self.registers = board_registers(clock_hz=clock_hz, link_count=link_count, digest=digest)
        super().__init__(
            {
                "bus": In(AxiLiteSignature(ADDRESS_BITS)),
                "chip": Out(AxiLiteSignature(address_bits)),
                "hold": Out(1),
                "start": Out(1),
                "running": In(1),
                "links_up": In(link_count),
                "bus_errors": In(ERROR_COUNT_BITS),
                "checksum": In(DATA_BITS),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        self.answer = Signal(DATA_BITS)
        self.refused = Signal()
        m.d.comb += self.bus.rdata.eq(self.answer)
        m.d.comb += self.chip.awaddr.eq(self.bus.awaddr)
        m.d.comb += self.chip.awprot.eq(self.bus.awprot)
        m.d.comb += self.chip.wdata.eq(self.bus.wdata)
        m.d.comb += self.chip.wstrb.eq(self.bus.wstrb)
        m.d.comb += self.chip.araddr.eq(self.bus.araddr)
        m.d.comb += self.chip.arprot.eq(self.bus.arprot)
        with m.FSM():
            with m.State("IDLE"):
                with m.If(self.bus.awvalid & self.bus.wvalid):
                    self._begin_write(m)
                with m.Elif(self.bus.arvalid):
                    self._begin_read(m)
            with m.State("WRITTEN"):
                m.d.comb += self.bus.bvalid.eq(1)
                m.d.comb += self.bus.bresp.eq(Mux(self.refused, Response.SLVERR, Response.OKAY))
                with m.If(self.bus.bready):
                    m.next = "IDLE"
            with m.State("READ"):
                m.d.comb += self.bus.rvalid.eq(1)
                m.d.comb += self.bus.rresp.eq(Mux(self.refused, Response.SLVERR, Response.OKAY))
                with m.If(self.bus.rready):
                    m.next = "IDLE"
            self._pass_on(m)
        return m

    def _is_for_chip(self, address: Value) -> Value:
        """Whether the chip has an address, and can answer."""
        return (address[self.address_bits :] == 0) & ~self.hold

    def _begin_write(self, m: Module) -> None:
        address = self.bus.awaddr
        offset = {register.name: register.offset for register in self.registers}
        holds = address == offset["hold"]
        starts = (address == offset["start"]) & ~self.running & ~self.hold
        with m.If(self._is_for_chip(address)):
            m.next = "CHIP_WRITES"
        with m.Else():
            m.d.comb += self.bus.awready.eq(1)
            m.d.comb += self.bus.wready.eq(1)
            m.d.sync += self.refused.eq(~holds & ~starts)
            with m.If(holds & self.bus.wstrb[0]):
                m.d.sync += self.hold.eq(self.bus.wdata[0])
            m.d.comb += self.start.eq(starts & self.bus.wstrb[0] & self.bus.wdata[0])
            m.next = "WRITTEN"

    def _begin_read(self, m: Module) -> None:
        address = self.bus.araddr
        with m.If(self._is_for_chip(address)):
            m.next = "CHIP_READS"
        with m.Else():
            m.d.comb += self.bus.arready.eq(1)
            m.d.sync += self.answer.eq(0)
            m.d.sync += self.refused.eq(1)
            with m.Switch(address):
                for register in self.registers:
                    if register.access is Access.WRITE:
                        continue
                    with m.Case(register.offset):
                        m.d.sync += self.answer.eq(self._shown(register))
                        m.d.sync += self.refused.eq(0)
            m.next = "READ"

    def _shown(self, register: Register) -> Value:
        if register.value is not None:
            return C(register.value, DATA_BITS)
        return getattr(self, register.source)

    def _pass_on(self, m: Module) -> None:
        """States in which the chip does an access; each of its channels takes its part once."""
        address_taken, data_taken = Signal(), Signal()
        with m.State("CHIP_WRITES"):
            m.d.comb += self.chip.awvalid.eq(~address_taken)
            m.d.comb += self.bus.awready.eq(self.chip.awready & ~address_taken)
            m.d.sync += address_taken.eq(address_taken | self.chip.awready)
            m.d.comb += self.chip.wvalid.eq(~data_taken)
            m.d.comb += self.bus.wready.eq(self.chip.wready & ~data_taken)
            m.d.sync += data_taken.eq(data_taken | self.chip.wready)
            m.d.comb += self.chip.bready.eq(self.bus.bready)
            m.d.comb += self.bus.bvalid.eq(self.chip.bvalid)
            m.d.comb += self.bus.bresp.eq(self.chip.bresp)
            with m.If(self.chip.bvalid & self.bus.bready):
                m.d.sync += address_taken.eq(0)
                m.d.sync += data_taken.eq(0)
                m.next = "IDLE"
        with m.State("CHIP_READS"):
            m.d.comb += self.chip.arvalid.eq(~address_taken)
            m.d.comb += self.bus.arready.eq(self.chip.arready & ~address_taken)
            m.d.sync += address_taken.eq(address_taken | self.chip.arready)
            m.d.comb += self.chip.rready.eq(self.bus.rready)
            m.d.comb += self.bus.rvalid.eq(self.chip.rvalid)
            m.d.comb += self.bus.rdata.eq(self.chip.rdata)
            m.d.comb += self.bus.rresp.eq(self.chip.rresp)
            with m.If(self.chip.rvalid & self.bus.rready):
                m.d.sync += address_taken.eq(0)
                m.next = "IDLE"
