"""Speed of simulation: 16 chips against a bare multiply-accumulate array, in one run.

Prints multiply-accumulates per second of both, their ratio, and how elaboration grows with chips.
Wall-clock times are noisy; the ratio is what to look at.
"""

import random
import statistics
import time

import numpy as np
from amaranth.hdl import Elaboratable, Module, Signal, signed
from amaranth.sim import Simulator

import shardwright as sw
from sim.amaranth_engine import AmaranthEngine

TILE = 8
SHAPE = {"m": 32, "n": 32, "k": 512}
BARE_CYCLES = 2000
ROUNDS = 3


class BareArray(Elaboratable):
    """``TILE * TILE`` accumulators that add the product of their lanes in every cycle."""

    def __init__(self):
        self.a = [Signal(signed(8), name=f"a_{lane}") for lane in range(TILE)]
        self.b = [Signal(signed(8), name=f"b_{lane}") for lane in range(TILE)]

    def elaborate(self, platform) -> Module:
        m = Module()
        for row, a in enumerate(self.a):
            for col, b in enumerate(self.b):
                total = Signal(signed(32), name=f"total_{row}_{col}")
                m.d.sync += total.eq(total + a * b)
        return m


def bare_rate() -> float:
    """Multiply-accumulates per second of the bare array with new operands in every cycle."""
    array, rng = BareArray(), random.Random(0)
    operands = [[rng.randrange(-128, 128) for _ in range(2 * TILE)] for _ in range(BARE_CYCLES)]

    async def testbench(ctx):
        for values in operands:
            for signal, value in zip(array.a + array.b, values, strict=True):
                ctx.set(signal, value)
            await ctx.tick()

    simulator = Simulator(array)
    simulator.add_clock(1e-6)
    simulator.add_testbench(testbench)
    begin = time.perf_counter()
    simulator.run()
    return BARE_CYCLES * TILE * TILE / (time.perf_counter() - begin)


def program(chips: int, **shape: int):
    """A sharded program over 8 x 8 tiles."""
    target = sw.targets.get("token-mesh", tile=TILE)
    return sw.compile(sw.MatmulSpec(**shape), target, sw.ShardPlan.row_parallel(chips))


def system_rate(chips: int) -> tuple[float, float]:
    """Multiply-accumulates and cycles per second of a whole run, elaboration left out."""
    sharded = program(chips, **SHAPE)
    rng = np.random.default_rng(0)
    a = rng.integers(-128, 128, (SHAPE["m"], SHAPE["k"]))
    b = rng.integers(-128, 128, (SHAPE["k"], SHAPE["n"]))
    begin = time.perf_counter()
    AmaranthEngine(sharded)
    elaboration = time.perf_counter() - begin
    begin = time.perf_counter()
    result = sw.simulate(sharded, a, b)
    seconds = time.perf_counter() - begin - elaboration
    assert result.exact
    return SHAPE["m"] * SHAPE["n"] * SHAPE["k"] / seconds, result.cycles / seconds


def elaboration_seconds(chips: int) -> float:
    """Seconds from a program to a simulator that is ready to run."""
    sharded = program(chips, m=32, n=32, k=TILE * chips)
    begin = time.perf_counter()
    AmaranthEngine(sharded)
    return time.perf_counter() - begin


def main() -> None:
    """Print the figures."""
    rounds = [(bare_rate(), *system_rate(16)) for _ in range(ROUNDS)]
    bare, macs, cycles = (statistics.median(column) for column in zip(*rounds, strict=True))
    ratio = statistics.median(system / array for array, system, _ in rounds)
    print(f"bare 8 x 8 array:     {bare:10,.0f} multiply-accumulates per second")
    print(f"16 chips, 32x32x512:  {macs:10,.0f} multiply-accumulates per second, loading included")
    print(f"                      {cycles:10,.0f} cycles per second")
    print(f"16 chips / bare:      {ratio:10.2f}")
    seconds = {chips: elaboration_seconds(chips) for chips in (16, 32, 64)}
    for chips, taken in seconds.items():
        print(f"elaboration, {chips} chips: {taken:6.2f} s, {taken / chips:.3f} s per chip")


if __name__ == "__main__":
    main()
