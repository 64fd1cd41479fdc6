"""The wire from the receiver of a link back to its sender: one pin without a clock.

It is low while the receiver is ready, and high for a short time for each credit and for a longer
one for a start. Both ends have clocks of about the same frequency; a pulse is told by its length,
which may be off by a cycle on either side. A wire that stays high, or is not there, is a receiver
that is not ready.
"""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

from hw.interfaces import positive

CREDIT_CYCLES = 3
"""Length of a pulse for a credit, and of the pause behind any pulse."""
CREDIT_PERIOD_CYCLES = 2 * CREDIT_CYCLES
"""Cycles from one credit to the next: pages that take no less are not held up by them."""
START_CYCLES = 9
"""Length of a pulse for a start."""
LONGEST_CREDIT_CYCLES = (CREDIT_CYCLES + START_CYCLES) // 2 - 1
"""Pulses up to this length are credits."""
SETTLED_CYCLES = 24
"""A level that stands for so long is no pulse."""
UNREADY_CYCLES = 2 * SETTLED_CYCLES
"""Cycles for which the wire is high after a receiver was not ready, be it for one cycle."""


class BackWireSender(wiring.Component):
    """Turns credits and starts into pulses, one after the other; a start goes first.

    A pulse begins in the cycle after its strobe if the wire is free.

    Parameters
    ----------
    credits : :class:`int`
        Most credits that can wait.

    Members
    -------
    ready : ``In(1)``
        Whether the receiver is ready. While it is not, and for so long after that the other end
        cannot take it for a pulse, the wire is high and nothing waits.
    credit, start : ``In(1)``
        Asserted for one cycle for each credit, and for a start.
    wire : ``Out(1, init=1)``
        The wire.

    Raises
    ------
    :exc:`TypeError`
        If ``credits`` is not a positive integer.
    """

    def __init__(self, *, credits: int):
        self.credits = positive(credits, "Credits")
        super().__init__({"ready": In(1), "credit": In(1), "start": In(1), "wire": Out(1, init=1)})

    def elaborate(self, platform) -> Module:
        m = Module()
        waiting = Signal(range(self.credits + 1))
        start_waits = Signal()
        rest = Signal(range(START_CYCLES))
        unready_cycles = Signal(range(UNREADY_CYCLES + 1), init=UNREADY_CYCLES)
        free = ~self.wire & (rest == 0)
        starts = free & (self.start | start_waits)
        credits = free & ~starts & (self.credit | (waiting != 0))

        m.d.sync += waiting.eq(waiting + self.credit - credits)
        m.d.sync += start_waits.eq((self.start | start_waits) & ~starts)
        with m.If(starts | credits):
            m.d.sync += self.wire.eq(1)
            m.d.sync += rest.eq(Mux(starts, START_CYCLES - 1, CREDIT_CYCLES - 1))
        with m.Elif(rest != 0):
            m.d.sync += rest.eq(rest - 1)
        with m.Elif(self.wire):
            m.d.sync += self.wire.eq(0)
            m.d.sync += rest.eq(CREDIT_CYCLES - 1)
        with m.If(~self.ready):
            m.d.sync += unready_cycles.eq(UNREADY_CYCLES)
        with m.Elif(unready_cycles != 0):
            m.d.sync += unready_cycles.eq(unready_cycles - 1)
        with m.If(~self.ready | (unready_cycles != 0)):
            m.d.sync += self.wire.eq(1)
            m.d.sync += rest.eq(0)
            m.d.sync += waiting.eq(0)
            m.d.sync += start_waits.eq(0)
        return m


class BackWireReceiver(wiring.Component):
    """Turns pulses into credits and starts, and says whether the other end is ready.

    A strobe comes when its pulse ends.

    Members
    -------
    wire : ``In(1, init=1)``
        The wire, not synchronous to anything here.
    up : ``Out(1)``
        Whether the other end is ready.
    credit, start : ``Out(1)``
        Asserted for one cycle for each credit, and for a start. Never while not ``up``.
    """

    def __init__(self):
        super().__init__({"wire": In(1, init=1), "up": Out(1), "credit": Out(1), "start": Out(1)})

    def elaborate(self, platform) -> Module:
        m = Module()
        level = Signal(init=1)
        before = Signal(init=1)
        same_cycles = Signal(range(SETTLED_CYCLES + 1))
        settled = same_cycles == SETTLED_CYCLES
        m.submodules.synchronizer = FFSynchronizer(self.wire, level, init=1)
        m.d.sync += before.eq(level)
        with m.If(level != before):
            m.d.sync += same_cycles.eq(1)
        with m.Elif(~settled):
            m.d.sync += same_cycles.eq(same_cycles + 1)
        with m.If(settled):
            m.d.sync += self.up.eq(~before)
        with m.If(self.up & before & ~level & ~settled):
            is_credit = same_cycles <= LONGEST_CREDIT_CYCLES
            m.d.comb += self.credit.eq(is_credit)
            m.d.comb += self.start.eq(~is_credit)
        return m
