"""What every hardware test needs: a clock, a watchdog, and both ends of a stream."""

import random
from collections.abc import Callable, Iterable

from amaranth.hdl import Fragment
from amaranth.sim import Simulator

WATCHDOG_CYCLES = 20_000


def simulate(dut, *testbenches: Callable, cycles: int = WATCHDOG_CYCLES) -> None:
    """Run testbenches against ``dut`` until all of them end, or fail after ``cycles``."""
    simulator = Simulator(Fragment.get(dut, None))
    simulator.add_clock(1e-6)
    ended = []

    def ending(testbench: Callable) -> Callable:
        async def run(ctx):
            await testbench(ctx)
            ended.append(testbench)

        return run

    async def watchdog(ctx):
        for _ in range(cycles):
            if len(ended) == len(testbenches):
                return
            await ctx.tick()
        raise TimeoutError(f"the testbenches did not end within {cycles} cycles")

    for testbench in testbenches:
        simulator.add_testbench(ending(testbench))
    simulator.add_testbench(watchdog)
    simulator.run()


async def idle(ctx, cycles: int) -> None:
    """Let cycles pass."""
    for _ in range(cycles):
        await ctx.tick()


def producer(stream, items: Iterable, *, density: float, seed: object) -> Callable:
    """A testbench that offers ``items`` on a stream, each after a random pause."""
    rng = random.Random(f"producer/{seed}")

    async def run(ctx):
        for item in items:
            while rng.random() >= density:
                await ctx.tick()
            ctx.set(stream.payload, item)
            ctx.set(stream.valid, 1)
            taken = False
            while not taken:
                _, _, taken = await ctx.tick().sample(stream.ready)
            ctx.set(stream.valid, 0)

    return run


def consumer(stream, received: list, count: int, *, density: float, seed: object) -> Callable:
    """A testbench that takes ``count`` items off a stream, ready at random, into ``received``."""
    rng = random.Random(f"consumer/{seed}")

    async def run(ctx):
        while len(received) < count:
            ctx.set(stream.ready, rng.random() < density)
            _, _, valid, ready, payload = await ctx.tick().sample(
                stream.valid, stream.ready, stream.payload
            )
            if valid and ready:
                received.append(payload)
        ctx.set(stream.ready, 0)

    return run
