"""Speed of the compiler: seconds to compile, shard and certify, from 16 to 256 chips.

Prints the seconds of each step, their sum, and the sum for each stage of the program: the last
column must not grow. Wall-clock times are noisy; each figure is the least of several rounds.
"""

import time
from collections.abc import Callable
from typing import TypeVar

import shardwright as sw
from compiler.check import check

TILE = 8
BLOCKS = 4
"""Blocks of the contraction on each chip, where it is not said otherwise."""
CASES = ((16, 2048), (64, 64 * TILE * BLOCKS), (256, 256 * TILE * BLOCKS))
"""Chips and contraction; the product is 64 x 64."""
ROUNDS = 3

Result = TypeVar("Result")


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    """Seconds that some work takes, and what it gives."""
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def seconds(chips: int, k: int) -> tuple[int, float, float, float]:
    """Stages; seconds to compile, to shard, and of these to certify once."""
    target = sw.targets.get("token-mesh", tile=TILE)
    spec, plan = sw.MatmulSpec(m=64, n=64, k=k), sw.ShardPlan.row_parallel(chips)
    compiling, whole = timed(lambda: sw.compile(spec, target))
    sharding, program = timed(lambda: sw.shard(whole, plan, target))
    certifying, certificate = timed(lambda: check(program))
    assert certificate == program.certificate
    return len(program.stages), compiling, sharding, certifying


def main() -> None:
    """Print the figures."""
    print("chips  product          stages  compile    shard  (of it certify)    total  per stage")
    for chips, k in CASES:
        rounds = [seconds(chips, k) for _ in range(ROUNDS)]
        stages = rounds[0][0]
        compiling, sharding, certifying = (
            min(column) for column in list(zip(*rounds, strict=True))[1:]
        )
        total = compiling + sharding
        print(
            f"{chips:5}  {f'64x64x{k}':15}  {stages:6}  {compiling:5.2f} s  {sharding:5.2f} s"
            f"  {certifying:13.2f} s  {total:5.2f} s  {1000 * total / stages:6.2f} ms"
        )


if __name__ == "__main__":
    main()
