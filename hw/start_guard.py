"""What keeps a run from being started while one is under way."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class StartGuard(wiring.Component):
    """Passes a start on to the chips of a system, unless it comes during a run.

    A chip that is done is not enough: those that it sends to may still run, and it would send them
    pages of a run that they have not begun. From ``start`` and ``done`` to ``starts`` it is
    combinational.

    Members
    -------
    start : ``In(1)``
        Asserted for one cycle to begin a run. Ignored from the next cycle on until ``done``; in the
        first cycle of ``done`` it begins the next run.
    done : ``In(1)``
        Whether every chip is done.
    starts : ``Out(1)``
        Asserted for one cycle when a run begins.
    """

    def __init__(self):
        super().__init__({"start": In(1), "done": In(1), "starts": Out(1)})

    def elaborate(self, platform) -> Module:
        m = Module()
        running = Signal()
        m.d.comb += self.starts.eq(self.start & (~running | self.done))
        with m.If(self.starts):
            m.d.sync += running.eq(1)
        with m.Elif(self.done):
            m.d.sync += running.eq(0)
        return m
