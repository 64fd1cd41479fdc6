"""What one chip has of a program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from compiler.ir.buffer import Buffer
from compiler.ir.edge import Edge
from compiler.ir.stage import MatmulTiles, Stage, Store
from compiler.ir.tensor import Tensor

if TYPE_CHECKING:
    from compiler.ir.program import Program


@dataclass(frozen=True)
class ChipView:
    """The records of one chip, in the order of the program.

    ``outgoing`` and ``incoming`` are the edges that leave the chip and that arrive, ``local`` those
    between stages of its own.
    """

    chip: int
    tensors: tuple[Tensor, ...]
    stages: tuple[Stage, ...]
    buffers: tuple[Buffer, ...]
    local: tuple[Edge, ...]
    outgoing: tuple[Edge, ...]
    incoming: tuple[Edge, ...]

    @property
    def products(self) -> tuple[Stage, ...]:
        """Stages that multiply."""
        return tuple(stage for stage in self.stages if isinstance(stage.kind, MatmulTiles))

    @property
    def stores(self) -> tuple[Stage, ...]:
        """Stages that store."""
        return tuple(stage for stage in self.stages if isinstance(stage.kind, Store))


def views_of(program: Program) -> tuple[ChipView, ...]:
    """The view of each chip. What has no site, or is on no chip of the mesh, is in none."""
    chips = range(program.chip_count)
    tensors: list[list[Tensor]] = [[] for _ in chips]
    stages: list[list[Stage]] = [[] for _ in chips]
    buffers: list[list[Buffer]] = [[] for _ in chips]
    local: list[list[Edge]] = [[] for _ in chips]
    outgoing: list[list[Edge]] = [[] for _ in chips]
    incoming: list[list[Edge]] = [[] for _ in chips]
    for tensor in program.tensors:
        if tensor.chip in chips:
            tensors[tensor.chip].append(tensor)
    for stage in program.stages:
        if stage.chip in chips:
            stages[stage.chip].append(stage)
    for buffer in program.buffers:
        if buffer.site is not None and buffer.site.chip in chips:
            buffers[buffer.site.chip].append(buffer)
    for edge in program.edges:
        source = program.stage_by_name[edge.source].chip
        destination = program.stage_by_name[edge.destination].chip
        if source == destination:
            if source in chips:
                local[source].append(edge)
            continue
        if source in chips:
            outgoing[source].append(edge)
        if destination in chips:
            incoming[destination].append(edge)
    return tuple(
        ChipView(
            chip,
            tuple(tensors[chip]),
            tuple(stages[chip]),
            tuple(buffers[chip]),
            tuple(local[chip]),
            tuple(outgoing[chip]),
            tuple(incoming[chip]),
        )
        for chip in chips
    )
