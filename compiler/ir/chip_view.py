"""What one chip has of a program."""

from __future__ import annotations

from dataclasses import dataclass, field
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
    count = program.chip_count
    parts = [_Parts() for _ in range(count)]
    nowhere = _Parts()

    def on(chip: int | None) -> _Parts:
        return parts[chip] if chip is not None and 0 <= chip < count else nowhere

    for tensor in program.tensors:
        on(tensor.chip).tensors.append(tensor)
    for stage in program.stages:
        on(stage.chip).stages.append(stage)
    for buffer in program.buffers:
        on(buffer.site and buffer.site.chip).buffers.append(buffer)
    for edge in program.edges:
        source = program.stage_by_name[edge.source].chip
        destination = program.stage_by_name[edge.destination].chip
        if source == destination:
            on(source).local.append(edge)
        else:
            on(source).outgoing.append(edge)
            on(destination).incoming.append(edge)
    return tuple(part.view(chip) for chip, part in enumerate(parts))


@dataclass
class _Parts:
    """The lists of a view while they are filled."""

    tensors: list[Tensor] = field(default_factory=list[Tensor])
    stages: list[Stage] = field(default_factory=list[Stage])
    buffers: list[Buffer] = field(default_factory=list[Buffer])
    local: list[Edge] = field(default_factory=list[Edge])
    outgoing: list[Edge] = field(default_factory=list[Edge])
    incoming: list[Edge] = field(default_factory=list[Edge])

    def view(self, chip: int) -> ChipView:
        """The finished view."""
        return ChipView(
            chip,
            tuple(self.tensors),
            tuple(self.stages),
            tuple(self.buffers),
            tuple(self.local),
            tuple(self.outgoing),
            tuple(self.incoming),
        )
