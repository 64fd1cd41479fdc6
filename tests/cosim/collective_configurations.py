"""Collectives by themselves on which every engine must agree."""

from dataclasses import dataclass

import numpy as np

from compiler import targets
from compiler.ir.dtype import INT16, INT32, DType
from compiler.ir.mesh import Mesh, mesh_of
from compiler.ir.program import Program
from tests.collective_programs import collective, given, made


@dataclass(frozen=True)
class CollectiveConfiguration:
    """A collective of so many rows and columns, and the machine that it runs on."""

    kind: str
    algorithm: str
    chips: int
    rows: int
    cols: int
    tile: int = 2
    handoff: str = "token"
    width: int = 64
    latency: int = 10
    combine: str = "sum"
    home: int = 0
    dtype: DType = INT32
    groups: int = 1

    def __str__(self) -> str:
        parts = [
            f"{self.kind} by {self.algorithm} of {self.rows}x{self.cols}",
            f"{self.chips} of {self.tile}",
            self.handoff,
            f"{self.width} bits",
            f"{self.latency} cycles",
            *((f"{self.groups} groups",) if self.groups > 1 else ()),
            *(("max",) if self.combine == "max" else ()),
            *((str(self.dtype),) if self.dtype != INT32 else ()),
        ]
        return ", ".join(parts)

    def program(self) -> Program:
        """The program."""
        mesh = mesh_of(self.chips)
        if self.groups > 1:
            mesh = Mesh(group=self.groups, tp=self.chips)
        target = targets.get(
            f"{self.handoff}-mesh",
            tile=self.tile,
            link_width_bits=self.width,
            link_latency_cycles=self.latency,
            link_ports=16,
            compute_engines=16,
        )
        return collective(
            self.kind,
            self.algorithm,
            mesh,
            target=target,
            rows=self.rows,
            cols=self.cols,
            combine=self.combine,
            home=self.home,
            dtype=self.dtype,
        )

    def operands(self, program: Program) -> tuple[np.ndarray]:
        """Random elements, the same for every engine."""
        return (given(program, seed=self.rows + self.cols),)

    def answer(self, program: Program, x: np.ndarray) -> np.ndarray:
        """What numpy says of them."""
        return made(program, x)


COLLECTIVES = (
    CollectiveConfiguration("all_reduce", "ring", 3, 2, 8),
    CollectiveConfiguration("all_reduce", "ring-both-ways", 4, 4, 10, handoff="semaphore"),
    CollectiveConfiguration("all_reduce", "star", 3, 4, 4, combine="max", width=24, latency=3),
    CollectiveConfiguration("all_reduce", "ring", 2, 4, 6, groups=2),
    CollectiveConfiguration("all_reduce", "tree", 5, 2, 2),
    CollectiveConfiguration("reduce", "tree", 4, 8, 7, tile=4, home=2, width=16, latency=2),
    CollectiveConfiguration("reduce", "chain", 3, 2, 6, home=1, combine="max", dtype=INT16),
    CollectiveConfiguration("reduce_scatter", "ring", 3, 4, 8, handoff="semaphore", latency=1),
    CollectiveConfiguration("all_gather", "ring-both-ways", 5, 3, 11),
    CollectiveConfiguration("gather", "star", 4, 4, 9, home=3, width=200),
    CollectiveConfiguration("broadcast", "tree", 4, 5, 6, home=1, handoff="semaphore"),
    CollectiveConfiguration("scatter", "chain", 4, 2, 8, latency=20),
    CollectiveConfiguration("all_to_all", "ring-both-ways", 3, 12, 8, dtype=INT16),
)
