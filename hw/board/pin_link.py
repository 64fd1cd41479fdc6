"""How a link crosses the pins between two boards.

The sender drives a clock of its own making, with a flit of data and a ``valid`` in each period.
They change when the clock falls and are taken when it rises, so each is stable for half a period on
both sides of that edge. The receiver takes them in the domain of that clock, and hands them to its
own through an asynchronous FIFO. One wire leads back; see :mod:`hw.board.back_wire`.
"""

from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hw.interfaces import positive


class PinLinkSignature(wiring.Signature):
    """The wires of one link between two boards, seen from the sending board.

    Parameters
    ----------
    data_pins : int
        Bits of a flit, each on a pin of its own.

    Members
    -------
    clock : ``Out(1)``
        Clock of the sender, one period for each flit.
    valid : ``Out(1)``
        Whether ``data`` is a flit.
    data : ``Out(data_pins)``
        The flit.
    back : ``In(1, init=1)``
        Pulses for credits and starts; high for long while the receiver is not ready.
    """

    def __init__(self, data_pins: int):
        self.data_pins = positive(data_pins, "Data pins")
        super().__init__(
            {
                "clock": Out(1),
                "valid": Out(1),
                "data": Out(data_pins),
                "back": In(1, init=1),
            }
        )

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.data_pins == self.data_pins
