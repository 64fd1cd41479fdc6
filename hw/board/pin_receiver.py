"""The receiving end of a link between two boards."""

from amaranth.hdl import ClockDomain, Module, ResetSignal, Signal
from amaranth.lib import io, wiring
from amaranth.lib.cdc import FFSynchronizer, ResetSynchronizer
from amaranth.lib.fifo import AsyncFIFO
from amaranth.lib.wiring import In, Out

from hw.board.back_wire import BackWireSender
from hw.board.link_pads import LinkPads, simulation_pads
from hw.board.pin_link import PinLinkSignature
from hw.interfaces import CreditLinkSignature, positive

FIFO_DEPTH = 8
"""Flits between the domains. One is taken in every cycle, and comes in two at least, so this covers
the time until the writing side knows of it."""
SILENT_CYCLES = 64
"""Cycles without an edge of the sender's clock after which it counts as stopped."""
PINS_DOMAIN, CLOCK_CELL = "pins", "clock_cell"
"""Names of the domain of the sender's clock, and of the cell of its pin."""


class PinReceiver(wiring.Component):
    """Takes flits from pins in the domain of their own clock, into the chip's.

    The registers that take them are in the cells of the pins. A flit that was on the pins when
    their clock rose is at the chip after one period of that clock and two or three cycles.

    Parameters
    ----------
    data_pins : :class:`int`
        Bits of a flit.
    credits : :class:`int`
        Pages that fit into the landing buffer.
    pads : :class:`LinkPads` or None
        I/O ports of a platform. If left out, the wires are members of the component.

    Members
    -------
    pins : ``In(PinLinkSignature(data_pins))``
        The pins, unless they are ``pads``.
    link : ``Out(CreditLinkSignature(data_pins))``
        The chip's end.
    held : ``In(1)``
        Whether the chip is held in reset: the sender is told that nothing is ready here.
    up : ``Out(1)``
        Whether the sender's clock runs and the chip is not held.
    start : ``In(1)``
        Asserted for one cycle to send a start to the sender's board.

    Raises
    ------
    :exc:`TypeError`
        If a parameter is not a positive integer.
    """

    def __init__(self, data_pins: int, *, credits: int, pads: LinkPads | None = None):
        self.data_pins = positive(data_pins, "Data pins")
        self.credits = positive(credits, "Credits")
        self.pads = pads
        super().__init__(
            {
                **({} if pads else {"pins": In(PinLinkSignature(data_pins))}),
                "link": Out(CreditLinkSignature(data_pins)),
                "held": In(1),
                "up": Out(1),
                "start": In(1),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        pads = self.pads
        if pads is None:
            pads = simulation_pads(m, self.pins, data_pins=self.data_pins, sends=False)
        m.submodules[CLOCK_CELL] = clock = io.Buffer("i", pads.clock)
        m.submodules.valid_cell = valid = io.FFBuffer("i", pads.valid, i_domain=PINS_DOMAIN)
        m.submodules.data_cell = data = io.FFBuffer("i", pads.data, i_domain=PINS_DOMAIN)
        m.submodules.back_cell = back_cell = io.Buffer("o", pads.back)
        m.domains.pins = pins = ClockDomain(PINS_DOMAIN, local=True)
        m.d.comb += pins.clk.eq(clock.i)
        m.submodules.pins_reset = ResetSynchronizer(
            ResetSignal("sync", allow_reset_less=True), domain=PINS_DOMAIN
        )
        m.submodules.fifo = fifo = AsyncFIFO(
            width=self.data_pins, depth=FIFO_DEPTH, w_domain=PINS_DOMAIN, r_domain="sync"
        )
        m.d.comb += fifo.w_en.eq(valid.i)
        m.d.comb += fifo.w_data.eq(data.i)
        m.d.comb += fifo.r_en.eq(1)
        m.d.comb += self.link.flit.valid.eq(fifo.r_rdy & self.up)
        m.d.comb += self.link.flit.payload.eq(fifo.r_data)

        m.d.comb += self.up.eq(self._clock_runs(m) & ~self.held)
        m.submodules.back = back = BackWireSender(credits=self.credits)
        m.d.comb += back.ready.eq(self.up)
        m.d.comb += back.credit.eq(self.link.credit)
        m.d.comb += back.start.eq(self.start)
        m.d.comb += back_cell.o.eq(back.wire)
        return m

    def _clock_runs(self, m: Module) -> Signal:
        """Whether the sender's clock had an edge not long ago."""
        flips = Signal()
        flips_here = Signal()
        flips_before = Signal()
        silent = Signal(range(SILENT_CYCLES + 1), init=SILENT_CYCLES)
        runs = Signal()
        m.d.pins += flips.eq(~flips)
        m.submodules.synchronizer = FFSynchronizer(flips, flips_here)
        m.d.sync += flips_before.eq(flips_here)
        m.d.sync += runs.eq(silent != SILENT_CYCLES)
        with m.If(flips_here != flips_before):
            m.d.sync += silent.eq(0)
        with m.Elif(silent != SILENT_CYCLES):
            m.d.sync += silent.eq(silent + 1)
        return runs
