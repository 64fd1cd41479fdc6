"""The configurations on which every engine must agree, and the engines."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from compiler.ir.body import Add, Body, Literal, Max, Operand
from compiler.ir.program import Program
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from sim.cosim.cosimulate import cosimulate
from sim.result import RunResult
from sim.simulate import simulate
from tests.programs import finished, random_operands

RECTIFIED = Max(Add(Operand(0), Literal(-1000)), Literal(0))


@dataclass(frozen=True)
class Configuration:
    """A product and the machine that it runs on. The contraction axis is padded where it must."""

    m: int
    n: int
    k: int
    chips: int
    tile: int
    reduce: str = "tree"
    handoff: str = "token"
    width: int = 256
    latency: int = 8
    flit_cycles: int = 1
    sum_bits: int = 32
    map: Body | None = None
    link_ports: int = 8
    result: str = "home"

    def __str__(self) -> str:
        parts = [
            f"{self.m}x{self.n}x{self.k}",
            f"{self.chips} of {self.tile}",
            *((self.reduce, self.handoff) if self.chips > 1 else ()),
            *((f"{self.width} bits", f"{self.latency} cycles") if self.chips > 1 else ()),
            *((f"{self.flit_cycles} cycles a flit",) if self.flit_cycles > 1 else ()),
            *((f"to {self.result}",) if self.result == "all" else ()),
            *((self.result,) if self.result == "scattered" else ()),
            *((f"sums of {self.sum_bits}",) if self.sum_bits != 32 else ()),
            *(("map",) if self.map else ()),
        ]
        return ", ".join(parts)

    def program(self) -> Program:
        """The program."""
        spec = MatmulSpec(self.m, self.n, self.k, sum_bits=self.sum_bits, map=self.map)
        return finished(
            spec.padded_k(self.chips * self.tile) if self.chips > 1 else spec,
            plan=ShardPlan(self.chips, self.reduce, result=self.result),
            target=f"{self.handoff}-mesh",
            tile=self.tile,
            link_width_bits=self.width,
            link_latency_cycles=self.latency,
            link_flit_cycles=self.flit_cycles,
            link_ports=self.link_ports,
            compute_engines=3,
        )

    def operands(self, program: Program) -> tuple[np.ndarray, np.ndarray]:
        """Random operands, the same for every engine."""
        return random_operands(program, seed=self.m + self.n + self.k)

    def answer(self, program: Program, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """What numpy says of them."""
        total = a.astype(np.int64) @ b
        return np.maximum(total - 1000, 0) if self.map == RECTIFIED else total


CONFIGURATIONS = (
    # One chip: each size of tile, edge tiles, a contraction that ends in mid-tile.
    Configuration(4, 4, 6, 1, 2),
    Configuration(8, 4, 12, 1, 4),
    Configuration(8, 16, 24, 1, 8),
    Configuration(16, 16, 16, 1, 16),
    Configuration(5, 3, 7, 1, 4),
    Configuration(1, 1, 1, 1, 2),
    Configuration(9, 2, 11, 1, 8, map=RECTIFIED),
    # Two chips: each kind of hand-off, narrow and wide links.
    Configuration(4, 4, 8, 2, 2),
    Configuration(8, 8, 16, 2, 4, "star", "semaphore", width=40, latency=1),
    Configuration(4, 8, 24, 2, 4, "star", "barrier", width=128),
    Configuration(8, 8, 32, 2, 8, width=16, latency=3),
    Configuration(16, 16, 32, 2, 16, width=1024),
    Configuration(1, 1, 2, 2, 4, "tree", "semaphore"),
    # Four.
    Configuration(8, 8, 32, 4, 4, sum_bits=21),
    Configuration(8, 4, 32, 4, 4, "star", latency=20),
    Configuration(4, 6, 16, 4, 2, "tree", "semaphore", width=8, latency=5),
    Configuration(4, 8, 16, 4, 4, "star", "semaphore", width=512),
    Configuration(4, 4, 16, 4, 2, width=8, latency=14, flit_cycles=2),
    Configuration(6, 4, 24, 4, 2, "tree", "barrier", width=24, latency=2),
    Configuration(4, 4, 16, 4, 4, "star", "barrier"),
    Configuration(8, 8, 32, 4, 8),
    Configuration(9, 7, 29, 4, 4, map=RECTIFIED),
    # Eight.
    Configuration(6, 6, 32, 8, 2),
    Configuration(4, 4, 16, 8, 2, "star", width=12, latency=3),
    Configuration(4, 4, 32, 8, 4, "tree", "semaphore", width=100, flit_cycles=3),
    Configuration(2, 4, 16, 8, 2, "star", "semaphore", width=20, latency=2),
    # Sixteen.
    Configuration(4, 4, 64, 16, 2, width=64, latency=4),
    Configuration(4, 4, 64, 16, 4),
    Configuration(4, 2, 32, 16, 2, "tree", "semaphore", width=16, latency=1),
    Configuration(2, 4, 32, 16, 2, "tree", "barrier"),
    Configuration(2, 2, 30, 16, 2, "star", link_ports=15),
    # Rings: each kind of hand-off and of result.
    Configuration(4, 4, 8, 2, 2, "ring", width=64, latency=3, result="all"),
    Configuration(8, 16, 32, 2, 8, "ring", flit_cycles=2, result="scattered"),
    Configuration(2, 8, 16, 4, 2, "ring", "semaphore", width=16, latency=12, result="scattered"),
    Configuration(4, 6, 16, 4, 2, "ring", "barrier", width=24, latency=2),
    Configuration(9, 7, 29, 4, 4, "ring", width=64, latency=1, map=RECTIFIED, result="all"),
    Configuration(4, 4, 14, 4, 2, "ring", "semaphore", width=100, latency=5, map=RECTIFIED),
    Configuration(2, 16, 32, 8, 2, "ring", width=256, latency=1, result="scattered"),
    Configuration(4, 6, 64, 16, 2, "ring", "semaphore", width=64, latency=4, result="all"),
)

Engine = Callable[..., RunResult]
"""Takes a program and its inputs."""

ENGINES: dict[str, Engine] = {
    "amaranth": simulate,
    "compiled": lambda program, *inputs: simulate(program, *inputs, engine="compiled"),
    "icarus": lambda program, *inputs: cosimulate(program, *inputs, simulator="icarus"),
    "verilator": lambda program, *inputs: cosimulate(program, *inputs, simulator="verilator"),
}
