"""The program: one for all chips."""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from compiler.ir.buffer import Buffer
from compiler.ir.canonical import in_canonical_order
from compiler.ir.certificate import Certificate
from compiler.ir.chip_view import ChipView, views_of
from compiler.ir.collective import Collective
from compiler.ir.dtype import DType
from compiler.ir.edge import Edge, Link
from compiler.ir.graph import Claim, Graph, claim_of
from compiler.ir.mesh import Mesh
from compiler.ir.stage import Stage
from compiler.ir.target import Target
from compiler.ir.tensor import Tensor

Record = TypeVar("Record")


@dataclass(frozen=True)
class Numerics:
    """Element types of operands and sums."""

    operand: DType
    total: DType


@dataclass(frozen=True)
class Allocation:
    """Bytes ``address`` to ``address + size_bytes - 1`` of a chip's memory, for one owner.

    ``owner`` is a tensor or a buffer.
    """

    owner: str
    chip: int
    address: int
    size_bytes: int


@dataclass(frozen=True)
class StageTiming:
    """Predicted cycles, counted from ``start``: first beat out of the stage, last beat out."""

    stage: str
    first_beat: int
    last_beat: int


@dataclass(frozen=True)
class Schedule:
    """Predicted timing. ``bound`` names what limits the steady state: compute or a link."""

    cycles: int
    ideal_cycles: int
    bound: str
    timings: tuple[StageTiming, ...]


@dataclass(frozen=True)
class Program:
    """A placed program over the chips of a mesh, or one on its way there.

    None of its lists has an order: records refer to each other by name. Order means something only
    where a record says so: the axes of a mesh and the placements along them, the ``ins`` and
    ``outs`` of a stage and the turns of a merge, the loops of a walk, the values of a tensor, the
    obligations of a certificate and their evidence. Whoever goes through a program goes through its
    :attr:`canonical` form.
    """

    name: str
    target: Target
    tile: int
    mesh: Mesh
    graph: Graph
    numerics: Numerics
    tensors: tuple[Tensor, ...]
    stages: tuple[Stage, ...]
    buffers: tuple[Buffer, ...]
    edges: tuple[Edge, ...]
    links: tuple[Link, ...] = ()
    collectives: tuple[Collective, ...] = ()
    memory: tuple[Allocation, ...] = ()
    schedule: Schedule | None = None
    certificate: Certificate | None = None

    @property
    def chip_count(self) -> int:
        """Chips of the mesh."""
        return self.mesh.chip_count

    @cached_property
    def claim(self) -> Claim:
        """What the program says that it computes, as the one product that its graph has."""
        return claim_of(self.graph)

    @cached_property
    def canonical(self) -> "Program":
        """The same program, with the lists that have no order in the compiler's order."""
        return in_canonical_order(self)

    @cached_property
    def chips(self) -> tuple[ChipView, ...]:
        """What each chip has of the program."""
        return views_of(self)

    @cached_property
    def stage_by_name(self) -> dict[str, Stage]:
        """Stages by name."""
        return {stage.name: stage for stage in self.stages}

    @cached_property
    def buffer_by_name(self) -> dict[str, Buffer]:
        """Buffers by name."""
        return {buffer.name: buffer for buffer in self.buffers}

    @cached_property
    def tensor_by_name(self) -> dict[str, Tensor]:
        """Tensors by name."""
        return {tensor.name: tensor for tensor in self.tensors}

    @cached_property
    def tensors_of(self) -> dict[str, tuple[Tensor, ...]]:
        """By value, the tensors that are parts of it."""
        return _grouped(self.tensors, "value")

    @cached_property
    def link_by_name(self) -> dict[str, Link]:
        """Links by name."""
        return {link.name: link for link in self.links}

    @cached_property
    def edges_by_destination(self) -> dict[str, tuple[Edge, ...]]:
        """Edges by the stage that they end in."""
        return _grouped(self.edges, "destination")

    @cached_property
    def edges_by_source(self) -> dict[str, tuple[Edge, ...]]:
        """Edges by the stage that they leave."""
        return _grouped(self.edges, "source")

    @cached_property
    def edge_by_buffer(self) -> dict[str, Edge]:
        """The edge that takes from each buffer."""
        return {edge.buffer: edge for edge in self.edges}

    def crosses(self, edge: Edge) -> bool:
        """Whether an edge runs between two chips. Both its stages must be placed."""
        source = self.stage_by_name[edge.source].chip
        destination = self.stage_by_name[edge.destination].chip
        assert source is not None
        assert destination is not None
        return source != destination

    def landing(self, edge: Edge) -> Buffer:
        """The buffer in which an edge between chips lands."""
        (landing,) = self.stage_by_name[edge.destination].outs
        return self.buffer_by_name[landing]

    def real_shape(self, tensor: Tensor) -> tuple[int, int]:
        """Rows and columns of a tensor that are elements of its value, without padding."""
        value = self.graph.value_by_name[tensor.value]
        return tensor.real_shape(value.rows, value.cols)


def _grouped(records: tuple[Record, ...], field: str) -> dict[str, tuple[Record, ...]]:
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(getattr(record, field), []).append(record)
    return {key: tuple(group) for key, group in groups.items()}
