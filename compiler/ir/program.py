"""The program: one for all chips."""

from dataclasses import dataclass
from functools import cached_property

from compiler.ir.body import Body
from compiler.ir.buffer import Buffer
from compiler.ir.canonical import in_canonical_order
from compiler.ir.certificate import Certificate
from compiler.ir.dtype import DType
from compiler.ir.edge import Edge, Link
from compiler.ir.stage import Stage
from compiler.ir.target import Target
from compiler.ir.tensor import Tensor


@dataclass(frozen=True)
class Claim:
    """What the program says that it computes: ``output = left . right`` of the whole shapes.

    ``k`` counts the elements that the user's operands have; ``k_pad`` zeros stand behind them.
    ``map`` is an expression over one operand that is applied to each element of the whole sum.
    """

    left: str
    right: str
    output: str
    m: int
    n: int
    k: int
    k_pad: int = 0
    map: Body | None = None


@dataclass(frozen=True)
class Numerics:
    """Element types of operands and sums."""

    operand: DType
    total: DType


@dataclass(frozen=True)
class WorkPlan:
    """The block plan of one chip: result tiles along m and n, blocks along its slice of k.

    ``order`` says which of ``m`` and ``n`` is the outer loop: ``mn`` or ``nm``.
    """

    m_tiles: int
    n_tiles: int
    k_blocks: int
    order: str = "mn"

    @property
    def result_pages(self) -> int:
        """Result pages that each chip produces."""
        return self.m_tiles * self.n_tiles


@dataclass(frozen=True)
class Collective:
    """A group operation: which stages of which chips make it up, and how it combines.

    ``chips`` and ``stages`` have no order. What is added to what is said by the folds.
    """

    name: str
    kind: str
    algorithm: str
    chips: tuple[int, ...]
    home: int
    stages: tuple[str, ...]


@dataclass(frozen=True)
class Requires:
    """What a target must provide for the program to run on it."""

    handoffs: tuple[str, ...] = ()
    link_ports: int = 0


@dataclass(frozen=True)
class Trip:
    """How often a run moves the pages of a tensor: ``pages`` of them, each ``times`` over."""

    tensor: str
    pages: int
    times: int


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
    """A placed program over ``chip_count`` chips, or one on its way there.

    None of its lists has an order: records refer to each other by name. Order means something only
    where a record says so: the ``ins`` and ``outs`` of a stage, the loops of a walk, the links of a
    route, the values of a tensor, the obligations of a certificate and their evidence. Whoever goes
    through a program goes through its :attr:`canonical` form.
    """

    name: str
    target: Target
    tile: int
    chip_count: int
    claim: Claim
    numerics: Numerics
    tensors: tuple[Tensor, ...]
    stages: tuple[Stage, ...]
    buffers: tuple[Buffer, ...]
    edges: tuple[Edge, ...]
    semaphores: tuple[str, ...] = ()
    links: tuple[Link, ...] | None = None
    collectives: tuple[Collective, ...] = ()
    work: WorkPlan | None = None
    trips: tuple[Trip, ...] = ()
    requires: Requires = Requires()
    memory: tuple[Allocation, ...] = ()
    schedule: Schedule | None = None
    certificate: Certificate | None = None

    @cached_property
    def canonical(self) -> "Program":
        """The same program, with the lists that have no order in the compiler's order."""
        return in_canonical_order(self)

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
    def link_by_name(self) -> dict[str, Link]:
        """Links by name."""
        return {link.name: link for link in self.links or ()}

    @cached_property
    def edges_by_destination(self) -> dict[str, tuple[Edge, ...]]:
        """Edges by the stage that they end in."""
        return _grouped(self.edges, "destination")

    @cached_property
    def edges_by_source(self) -> dict[str, tuple[Edge, ...]]:
        """Edges by the stage that they leave."""
        return _grouped(self.edges, "source")

    def crosses(self, edge: Edge) -> bool:
        """Whether an edge runs between two chips. Both its stages must be placed."""
        source = self.stage_by_name[edge.source].site
        destination = self.stage_by_name[edge.destination].site
        assert source is not None
        assert destination is not None
        return source.chip != destination.chip


def _grouped(edges: tuple[Edge, ...], field: str) -> dict[str, tuple[Edge, ...]]:
    groups: dict[str, tuple[Edge, ...]] = {}
    for edge in edges:
        key = getattr(edge, field)
        groups[key] = (*groups.get(key, ()), edge)
    return groups
