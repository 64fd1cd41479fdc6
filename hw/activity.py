"""Counters that tell what a chip did in a run: the same in simulation and on a board."""

from collections.abc import Iterable

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

COUNT_BITS = 32


class ActivityCounters(wiring.Component):
    """Counts the cycles of a run, and the cycles of it in which each of some events happened.

    All counters return to zero when a run starts and keep their values after it.

    Parameters
    ----------
    events : iterable of :class:`str`
        Names of the events.

    Members
    -------
    start : ``In(1)``
        Asserted for one cycle when a run begins; that cycle is number 0.
    done : ``In(1)``
        Whether the run has ended.
    running : ``Out(1)``
        Whether a run is under way.
    cycles : ``Out(32)``
        Number of the last cycle of the run, or of the cycle before this one.
    <event> : ``In(1)``
        Whether the event happens.
    <event>_count : ``Out(32)``
        Cycles in which it happened.
    <event>_last : ``Out(32)``
        Number of the last cycle in which it happened.

    Raises
    ------
    :exc:`ValueError`
        If two events share a name.
    """

    def __init__(self, events: Iterable[str]):
        self.events = tuple(events)
        if len(set(self.events)) != len(self.events):
            raise ValueError(f"Events must have distinct names, not {self.events!r}")
        members = {"start": In(1), "done": In(1), "running": Out(1), "cycles": Out(COUNT_BITS)}
        for event in self.events:
            members[event] = In(1)
            members[f"{event}_count"] = Out(COUNT_BITS)
            members[f"{event}_last"] = Out(COUNT_BITS)
        super().__init__(members)

    def count(self, event: str) -> Signal:
        """The counter of an event."""
        return getattr(self, f"{event}_count")

    def last(self, event: str) -> Signal:
        """The number of the last cycle of an event."""
        return getattr(self, f"{event}_last")

    def elaborate(self, platform) -> Module:
        m = Module()
        now = Signal(COUNT_BITS)
        m.d.comb += now.eq(self.cycles + 1)
        with m.If(self.start):
            m.d.sync += self.running.eq(1)
            m.d.sync += self.cycles.eq(0)
        with m.Elif(self.running & self.done):
            m.d.sync += self.running.eq(0)
        with m.Elif(self.running):
            m.d.sync += self.cycles.eq(now)
        for event in self.events:
            with m.If(self.start):
                m.d.sync += self.count(event).eq(0)
                m.d.sync += self.last(event).eq(0)
            with m.Elif(self.running & ~self.done & getattr(self, event)):
                m.d.sync += self.count(event).eq(self.count(event) + 1)
                m.d.sync += self.last(event).eq(now)
        return m
