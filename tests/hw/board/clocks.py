"""Two boards with clocks of their own."""

from collections.abc import Callable, Iterable

from amaranth.hdl import ClockDomain, DomainRenamer, Module
from amaranth.sim import Simulator

PERIOD = 1e-6
"""Period of the first board's clock, in seconds of simulated time."""
RATIOS = [1.0, 1 + 1e-4, 1 - 1e-4, 1.01, 0.99]
"""Periods of the second board's clock, in those of the first."""
PHASES = [0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875]
"""Where the second board's clock begins, in its periods."""
TICKS_LIMIT = 20_000


def on_two_clocks(
    first,
    second,
    *testbenches: tuple[str, Callable],
    joins: Callable,
    ratio: float,
    phase: float,
    monitors: Iterable[tuple[str, Callable]] = (),
    ticks: int = TICKS_LIMIT,
) -> None:
    """Run testbenches until all have ended; each ticks with domain ``first`` or ``second``.

    ``joins(m)`` joins the two, each of which is in the domain of its name.
    """
    top = Module()
    top.domains.first = ClockDomain()
    top.domains.second = ClockDomain()
    top.submodules.first = DomainRenamer("first")(first)
    top.submodules.second = DomainRenamer("second")(second)
    joins(top)
    simulator = Simulator(top)
    simulator.add_clock(PERIOD, domain="first", phase=PERIOD / 2)
    simulator.add_clock(PERIOD * ratio, domain="second", phase=PERIOD * ratio * (0.5 + phase))
    ended = []

    def running(domain: str, testbench: Callable, *, ends: bool) -> Callable:
        async def run(ctx):
            await testbench(ctx, lambda: ctx.tick(domain))
            if ends:
                ended.append(testbench)

        return run

    async def watchdog(ctx):
        for _ in range(ticks):
            if len(ended) == len(testbenches):
                return
            await ctx.tick("first")
        raise TimeoutError(f"the testbenches did not end within {ticks} ticks")

    for domain, testbench in testbenches:
        simulator.add_testbench(running(domain, testbench, ends=True))
    for domain, monitor in monitors:
        simulator.add_testbench(running(domain, monitor, ends=False), background=True)
    simulator.add_testbench(watchdog)
    simulator.run()
