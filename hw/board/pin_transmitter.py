"""The sending end of a link between two boards."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hw.board.back_wire import BackWireReceiver
from hw.board.pin_link import PinLinkSignature
from hw.interfaces import CreditLinkSignature, positive


class PinTransmitter(wiring.Component):
    """Puts a chip's flits on pins, with a clock.

    The clock never stops. A flit waits until the next period begins, for ``flit_cycles - 1`` cycles
    at most, and leaves through registers.

    Parameters
    ----------
    data_pins : :class:`int`
        Bits of a flit.
    flit_cycles : :class:`int`
        Cycles of a period, at least 2. Flits must come no faster.

    Members
    -------
    link : ``In(CreditLinkSignature(data_pins))``
        The chip's end.
    pins : ``Out(PinLinkSignature(data_pins))``
        The pins.
    up : ``Out(1)``
        Whether the receiver is ready. What is sent before is lost.
    start : ``Out(1)``
        Asserted for one cycle when the receiver sends a start.

    Raises
    ------
    :exc:`TypeError`
        If ``data_pins`` is not a positive integer, or ``flit_cycles`` no integer of at least 2.
    """

    def __init__(self, data_pins: int, *, flit_cycles: int):
        self.data_pins = positive(data_pins, "Data pins")
        if positive(flit_cycles, "Flit cycles") < 2:
            raise TypeError(f"Flit cycles must be at least 2 for a clock, not {flit_cycles!r}")
        self.flit_cycles = flit_cycles
        super().__init__(
            {
                "link": In(CreditLinkSignature(data_pins)),
                "pins": Out(PinLinkSignature(data_pins)),
                "up": Out(1),
                "start": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.back = back = BackWireReceiver()
        m.d.comb += back.wire.eq(self.pins.back)
        m.d.comb += self.link.credit.eq(back.credit)
        m.d.comb += self.up.eq(back.up)
        m.d.comb += self.start.eq(back.start)

        cycle = Signal(range(self.flit_cycles))
        last = cycle == self.flit_cycles - 1
        waits = Signal()
        flit = Signal(self.data_pins)
        m.d.sync += cycle.eq(Mux(last, 0, cycle + 1))
        m.d.sync += self.pins.clock.eq(~last & (cycle + 1 >= (self.flit_cycles + 1) // 2))
        with m.If(self.link.flit.valid):
            m.d.sync += waits.eq(~last)
            m.d.sync += flit.eq(self.link.flit.payload)
        with m.Elif(last):
            m.d.sync += waits.eq(0)
        with m.If(last):
            m.d.sync += self.pins.valid.eq(self.link.flit.valid | waits)
            m.d.sync += self.pins.data.eq(Mux(waits, flit, self.link.flit.payload))
        return m
