"""Speed of the compiler: what it takes to compile, shard and certify, from 16 to 256 chips.

Prints processor seconds of each step and of both together, seconds on the clock, and processor
time for each stage of the program, which must not grow. Each figure is the least of several rounds.
"""

import time
from collections.abc import Callable
from typing import TypeVar

import shardwright as sw
from compiler.check import check

TILE = 8
CASES = (
    (16, 2048, "tree"),
    (64, 2048, "tree"),
    (256, 8192, "tree"),
    (256, 8192, "star"),
)
"""Chips, contraction and reduction; the product is 64 x 64."""
ROUNDS = 3
TITLES = (
    "chips",
    "",
    "product",
    "stages",
    "compile",
    "shard",
    "certify",
    "total",
    "clock",
    "stage",
)

Result = TypeVar("Result")


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    """Processor seconds that some work takes, and what it gives."""
    begin = time.process_time()
    result = work()
    return time.process_time() - begin, result


def measured(chips: int, k: int, reduce: str) -> tuple[float, ...]:
    """Stages; seconds to compile, to shard, to certify once more; seconds of the first two."""
    target = sw.targets.get("token-mesh", tile=TILE, link_ports=256)
    spec, plan = sw.MatmulSpec(m=64, n=64, k=k), sw.ShardPlan.row_parallel(chips, reduce=reduce)
    begin = time.perf_counter()
    compiling, whole = timed(lambda: sw.compile(spec, target))
    sharding, program = timed(lambda: sw.shard(whole, plan, target))
    clock = time.perf_counter() - begin
    certifying, certificate = timed(lambda: check(program))
    assert certificate == program.certificate
    return len(program.stages), compiling, sharding, certifying, compiling + sharding, clock


def main() -> None:
    """Print the figures. To certify is a part of both steps; it is timed once by itself."""
    print("{:>5} {:4}  {:12}  {:>6}  {:>7}  {:>7}  {:>7}  {:>7}  {:>7}  {:>7}".format(*TITLES))
    for chips, k, reduce in CASES:
        rounds = [measured(chips, k, reduce) for _ in range(ROUNDS)]
        stages, *seconds = map(min, zip(*rounds, strict=True))
        shown = "  ".join(f"{figure:5.2f} s" for figure in seconds)
        per_stage = 1000 * seconds[3] / stages
        print(f"{chips:5} {reduce:4}  64x64x{k:<6}  {stages:6}  {shown}  {per_stage:4.1f} ms")


if __name__ == "__main__":
    main()
