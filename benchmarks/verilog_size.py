"""Time and size of the Verilog of trees of 4, 16 and 64 chips, each chip with the same work.

Chips that are the same hardware share a module, so both grow with the levels of the tree and with
the instances of the system, not with the chips times their content.
"""

import time

import shardwright as sw
from hw.verilog.design import Design, design

SHAPES = {
    "8 x 8 tiles, 64 x 64, 128 of k on each chip": (8, 64, 64, 128),
    "8 x 8 tiles, 64 x 64, 8 of k on each chip": (8, 64, 64, 8),
    "4 x 4 tiles, 16 x 16, 16 of k on each chip": (4, 16, 16, 16),
}
CHIPS = (4, 16, 64)
ROUNDS = 3


def program(chips: int, tile: int, m: int, n: int, k_slice: int):
    """A tree over chips that each contract over ``k_slice``."""
    target = sw.targets.get("token-mesh", tile=tile)
    spec = sw.MatmulSpec(m, n, k_slice * chips)
    return sw.shard(sw.compile(spec, target), sw.ShardPlan.row_parallel(chips), target)


def size_bytes(verilog: Design) -> int:
    """Bytes of all modules and the system."""
    return sum(len(module.text) for module in (*verilog.modules, verilog.top))


def measured(chips: int, *shape: int) -> tuple[float, int, int]:
    """Seconds, the best of some rounds; bytes; chip modules."""
    sharded = program(chips, *shape)
    seconds = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        verilog = design(sharded)
        seconds.append(time.perf_counter() - begin)
    kinds = sum(bool(module.chips) for module in verilog.modules)
    return min(seconds), size_bytes(verilog), kinds


def main() -> None:
    """Print the figures, and those of 16 chips over those of 4."""
    for name, shape in SHAPES.items():
        print(name)
        figures = {chips: measured(chips, *shape) for chips in CHIPS}
        for chips, (seconds, size, kinds) in figures.items():
            print(f"  {chips:2} chips: {seconds:6.2f} s, {size:9,} bytes, {kinds} chip modules")
        (few_seconds, few_bytes, _), (many_seconds, many_bytes, _) = figures[4], figures[16]
        print(
            f"  16 over 4: {many_seconds / few_seconds:.2f} times the time, "
            f"{many_bytes / few_bytes:.2f} times the bytes"
        )


if __name__ == "__main__":
    main()
