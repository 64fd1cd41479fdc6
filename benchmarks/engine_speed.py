"""Speed of the two engines: 16 chips of 8 x 8 tiles, the same product on both, in one run.

Prints simulated cycles per second of Amaranth's simulator and of the compiled engine, their ratio,
and how long the compiled engine takes until it can run: with nothing built, and with everything
built, in a process of its own each time. Wall-clock times are noisy; the ratio is what to look at.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import shardwright as sw
from compiler.ir.program import Program
from sim.amaranth_engine import AmaranthEngine, EngineRun
from sim.binding import bind
from sim.compiled.engine import CompiledEngine
from sim.images import words

SHAPE = {"m": 64, "n": 64, "k": 2048}
CHIPS = 16
TILE = 8
ROUNDS = 5


def program() -> Program:
    """The product over all chips, reduced in a tree."""
    target = sw.targets.get("token-mesh", tile=TILE)
    return sw.compile(sw.MatmulSpec(**SHAPE), target, sw.ShardPlan.row_parallel(CHIPS))


def contents(sharded: Program) -> dict[str, list[int]]:
    """Words of every operand's slice."""
    rng = np.random.default_rng(0)
    a = rng.integers(-128, 128, (SHAPE["m"], SHAPE["k"]))
    b = rng.integers(-128, 128, (SHAPE["k"], SHAPE["n"]))
    return {
        name: words(array, sharded.tensor_by_name[name])
        for name, array in bind(sharded, a, b).items()
    }


def timed_run(engine: AmaranthEngine | CompiledEngine, images: dict) -> tuple[float, EngineRun]:
    """Seconds of one run, loading included, and all that came out of it."""
    assert engine.program.schedule is not None
    begin = time.perf_counter()
    run = engine.run(images, max_cycles=2 * engine.program.schedule.cycles)
    return time.perf_counter() - begin, run


def first_cycle_seconds(cache: Path) -> float:
    """Seconds until the compiled engine could run, in a new process that has its program."""
    done = subprocess.run(
        [sys.executable, __file__, "first-cycle", str(cache)],
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def print_first_cycle_seconds(cache: Path) -> None:
    """What the new process does."""
    sharded = program()
    begin = time.perf_counter()
    timed_run(CompiledEngine(sharded, cache=cache), {})
    print(time.perf_counter() - begin)


def main() -> None:
    """Print the figures."""
    sharded = program()
    images = contents(sharded)
    with tempfile.TemporaryDirectory() as folder:
        cold = first_cycle_seconds(Path(folder))
        warm = statistics.median(first_cycle_seconds(Path(folder)) for _ in range(ROUNDS))
        engine = CompiledEngine(sharded, cache=folder)
        runs = [timed_run(engine, images) for _ in range(ROUNDS)]
    amaranth_seconds, expected = timed_run(AmaranthEngine(sharded), images)
    assert all(run == expected for _, run in runs), "the engines disagree"
    compiled_seconds = statistics.median(seconds for seconds, _ in runs)
    cycles = runs[0][1].cycles
    shape = "m={m} n={n} k={k}".format(**SHAPE)
    print(f"{CHIPS} chips of {TILE} x {TILE}, {shape}: {cycles:,} cycles, loading included")
    print(f"amaranth engine:  {cycles / amaranth_seconds:12,.0f} cycles per second")
    print(f"compiled engine:  {cycles / compiled_seconds:12,.0f} cycles per second")
    print(f"ratio:            {amaranth_seconds / compiled_seconds:12,.0f}")
    print(f"first run, cold:  {cold:12.2f} s, with every model built")
    print(f"first run, warm:  {warm:12.2f} s")


if __name__ == "__main__":
    if sys.argv[1:2] == ["first-cycle"]:
        print_first_cycle_seconds(Path(sys.argv[2]))
    else:
        main()
