"""The sending end of a link between two boards."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import io, wiring
from amaranth.lib.wiring import In, Out

from hw.board.back_wire import BackWireReceiver
from hw.board.link_pads import LinkPads, simulation_pads
from hw.board.pin_link import PinLinkSignature
from hw.interfaces import CreditLinkSignature, positive


class PinTransmitter(wiring.Component):
    """Puts a chip's flits on pins, with a clock.

    The clock never stops. A flit waits until the next period begins, for ``flit_cycles - 1`` cycles
    at most, and leaves with its clock through registers in the cells of the pins, so that no way
    through the device comes between the two.

    Parameters
    ----------
    data_pins : :class:`int`
        Bits of a flit.
    flit_cycles : :class:`int`
        Cycles of a period, at least 2. Flits must come no faster.
    pads : :class:`LinkPads` or None
        I/O ports of a platform. If left out, the wires are members of the component.

    Members
    -------
    link : ``In(CreditLinkSignature(data_pins))``
        The chip's end.
    pins : ``Out(PinLinkSignature(data_pins))``
        The pins, unless they are ``pads``.
    up : ``Out(1)``
        Whether the receiver is ready. What is sent before is lost.
    start : ``Out(1)``
        Asserted for one cycle when the receiver sends a start.

    Raises
    ------
    :exc:`TypeError`
        If ``data_pins`` is not a positive integer, or ``flit_cycles`` no integer of at least 2.
    """

    def __init__(self, data_pins: int, *, flit_cycles: int, pads: LinkPads | None = None):
        self.data_pins = positive(data_pins, "Data pins")
        if positive(flit_cycles, "Flit cycles") < 2:
            raise TypeError(f"Flit cycles must be at least 2 for a clock, not {flit_cycles!r}")
        self.flit_cycles = flit_cycles
        self.pads = pads
        super().__init__(
            {
                "link": In(CreditLinkSignature(data_pins)),
                **({} if pads else {"pins": Out(PinLinkSignature(data_pins))}),
                "up": Out(1),
                "start": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        pads = self.pads
        if pads is None:
            pads = simulation_pads(m, self.pins, data_pins=self.data_pins, sends=True)
        m.submodules.back_cell = back_cell = io.Buffer("i", pads.back)
        m.submodules.back = back = BackWireReceiver()
        m.d.comb += back.wire.eq(back_cell.i)
        m.d.comb += self.link.credit.eq(back.credit)
        m.d.comb += self.up.eq(back.up)
        m.d.comb += self.start.eq(back.start)

        m.submodules.clock_cell = clock = io.FFBuffer("o", pads.clock)
        m.submodules.valid_cell = valid = io.FFBuffer("o", pads.valid)
        m.submodules.data_cell = data = io.FFBuffer("o", pads.data)
        cycle = Signal(range(self.flit_cycles))
        last = cycle == self.flit_cycles - 1
        m.d.sync += cycle.eq(Mux(last, 0, cycle + 1))
        m.d.comb += clock.o.eq(~last & (cycle + 1 >= (self.flit_cycles + 1) // 2))

        waits = Signal()
        flit = Signal(self.data_pins)
        with m.If(self.link.flit.valid):
            m.d.sync += waits.eq(~last)
            m.d.sync += flit.eq(self.link.flit.payload)
        with m.Elif(last):
            m.d.sync += waits.eq(0)
        # What the cells hold, since theirs cannot be read.
        shown_valid, shown_data = Signal(), Signal(self.data_pins)
        m.d.sync += shown_valid.eq(valid.o)
        m.d.sync += shown_data.eq(data.o)
        m.d.comb += valid.o.eq(Mux(last, self.link.flit.valid | waits, shown_valid))
        chosen = Mux(waits, flit, self.link.flit.payload)
        m.d.comb += data.o.eq(Mux(last, chosen, shown_data))
        return m
