"""Shard: split the contraction axis over chips, and reduce the partial sums that result."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from compiler.errors import (
    AlreadyShardedError,
    AxisNotDivisibleError,
    LinkPortsExceededError,
    NoCrossChipHandoffError,
    NothingToShardError,
    ShardPlanError,
    SliceNotTileAlignedError,
)
from compiler.ir.body import left_fold
from compiler.ir.buffer import Buffer, BufferKind
from compiler.ir.distribution import Distribution, Partial, Replicated, Sharded
from compiler.ir.edge import Edge, Handoff
from compiler.ir.init import slice_init
from compiler.ir.program import Collective, Program
from compiler.ir.stage import Fold, Load, Map, MatmulTiles, Recv, Site, Stage, Store
from compiler.ir.tensor import SliceOf, Tensor
from compiler.passes.buffer import choose_depths
from compiler.passes.lower import lower
from compiler.passes.place import place
from compiler.passes.reduction import Reduction, star, tree
from compiler.passes.tile import tile
from compiler.targets import Target
from compiler.workload import MatmulSpec

ALGORITHMS = {"star": star, "tree": tree}


@dataclass(frozen=True)
class ShardPlan:
    """How a program is split over chips.

    Parameters
    ----------
    chips : int
        Chips to spread over. 1 leaves the program as it is.
    reduce : str
        ``star``: all partial sums are folded at the home chip. ``tree``: binary, folded on the
        way.

    Raises
    ------
    ShardPlanError
        If ``chips`` is not a positive integer, or the algorithm is unknown.
    """

    chips: int
    reduce: str = "tree"

    def __post_init__(self) -> None:
        if not _is_positive_integer(self.chips):
            raise ShardPlanError(field="chips", rule="a positive integer", value=self.chips)
        if self.reduce not in ALGORITHMS:
            rule = f"one of {', '.join(sorted(ALGORITHMS))}"
            raise ShardPlanError(field="reduce", rule=rule, value=self.reduce)

    @classmethod
    def row_parallel(cls, chips: int, *, reduce: str = "tree") -> "ShardPlan":
        """Split the contraction axis: each chip computes a full-shape partial sum."""
        return cls(chips, reduce)


def _is_positive_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def replicate(program: Program, plan: ShardPlan, target: Target) -> Program:
    """Split a placed one-chip program over ``plan.chips`` chips and add the reduction.

    The slice is lowered anew with the dimensions that it really has, because the block counts are
    part of the stages; the tiling decision, the engines, and the depths and hand-offs that somebody
    chose come from ``program``. All chips share that one shape, and differ in data.

    Each chip's product is a partial sum. Every partial that crosses to another chip is received
    there into a buffer of that chip's own, and the fold reads those local copies.

    Raises
    ------
    NothingToShardError, AlreadyShardedError, AxisNotDivisibleError, SliceNotTileAlignedError, \
    UnsliceableFillError, NoCrossChipHandoffError, LinkPortsExceededError
        If the program cannot be split as asked.
    """
    if plan.chips == 1:
        return program
    left, right, output = operands_of(program)
    _check_axis(left, plan.chips)
    if target.crossing_handoff is None:
        raise NoCrossChipHandoffError(target=target.name, provided=target.handoffs)
    reduction = ALGORITHMS[plan.reduce](plan.chips)
    _check_ports(reduction, plan, target)

    template = _slice_template(program, left, right, plan.chips, target)
    collective = Collective(
        name=f"{plan.reduce}_reduce",
        kind="reduce",
        algorithm=plan.reduce,
        chips=tuple(range(plan.chips)),
        home=0,
        stages=tuple(
            f"c{chip}.{name}"
            for chip in range(plan.chips)
            for name in _reducing_stages(reduction, chip)
        ),
    )
    template = replace(template, chip_count=plan.chips)
    chips = [_Chip(template, chip, reduction) for chip in range(plan.chips)]
    return replace(
        template,
        name=f"{program.name}_{plan.reduce}{plan.chips}",
        claim=program.claim,
        tensors=(
            *(_slice(left, "cols", chip, plan.chips) for chip in range(plan.chips)),
            *(_slice(right, "rows", chip, plan.chips) for chip in range(plan.chips)),
            output,
        ),
        stages=tuple(stage for chip in chips for stage in chip.stages()),
        buffers=tuple(buffer for chip in chips for buffer in chip.buffers()),
        edges=tuple(edge for chip in chips for edge in chip.edges()),
        collectives=(collective,),
        trips=(),
    )


def operands_of(program: Program) -> tuple[Tensor, Tensor, Tensor]:
    """The two loaded operands of the product and the stored output.

    Raises
    ------
    AlreadyShardedError
        If the program spans several chips.
    NothingToShardError
        If it is anything else than one product of two loaded operands, stored once.
    """
    if program.chip_count > 1:
        raise AlreadyShardedError(program=program.name, chips=program.chip_count)
    products = [stage for stage in program.stages if isinstance(stage.kind, MatmulTiles)]
    if len(products) != 1:
        raise NothingToShardError(program=program.name, why=f"it has {len(products)} products")
    producer_of = {buffer: stage for stage in program.stages for buffer in stage.outs}
    operands: list[Tensor] = []
    for buffer in products[0].ins:
        producer = producer_of.get(buffer)
        if producer is None or not isinstance(producer.kind, Load):
            why = f"operand {buffer!r} of {products[0].name!r} is not loaded from a tensor"
            raise NothingToShardError(program=program.name, why=why)
        operands.append(program.tensor_by_name[producer.kind.tensor])
    stores = [stage.kind for stage in program.stages if isinstance(stage.kind, Store)]
    if len(operands) != 2 or len(stores) != 1:
        why = f"its product has {len(operands)} operands and it has {len(stores)} stores"
        raise NothingToShardError(program=program.name, why=why)
    left, right = operands
    if left.cols != right.rows:
        why = f"its operands do not agree on the contraction axis ({left.cols} and {right.rows})"
        raise NothingToShardError(program=program.name, why=why)
    return left, right, program.tensor_by_name[stores[0].tensor]


def _check_axis(left: Tensor, chips: int) -> None:
    if left.cols % chips:
        raise AxisNotDivisibleError(axis="k", extent=left.cols, chips=chips)
    if left.cols // chips % left.tile:
        raise SliceNotTileAlignedError(axis="k", extent=left.cols, chips=chips, tile=left.tile)


def _check_ports(reduction: Reduction, plan: ShardPlan, target: Target) -> None:
    for chip in range(plan.chips):
        needed = len(reduction.children[chip]) + (reduction.parent[chip] is not None)
        if needed > target.link_ports:
            tree_needs = max(len(children) for children in tree(plan.chips).children)
            if plan.reduce == "star" and tree_needs <= target.link_ports:
                way_out = f"a tree needs {tree_needs} (--reduce tree)"
            else:
                way_out = "choose fewer chips, or a target with more link ports"
            raise LinkPortsExceededError(
                chip=chip,
                needed=needed,
                ports=target.link_ports,
                algorithm=plan.reduce,
                way_out=way_out,
            )


def _slice_template(
    program: Program, left: Tensor, right: Tensor, chips: int, target: Target
) -> Program:
    """One chip's program: lowered for the slice, with the decisions of the whole program."""
    claim = program.claim
    extent = left.cols // chips
    spec = MatmulSpec(
        m=claim.m,
        n=claim.n,
        k=min(extent, claim.k),
        k_pad=max(0, extent - claim.k),
        a_range=left.value_range,
        b_range=right.value_range,
        sum_bits=program.numerics.total.bits,
        map=claim.map,
    )
    template = lower(spec, replace(target, tile=program.tile))
    if program.work is not None:
        k_blocks = -(-extent // program.tile)
        template = replace(template, work=replace(program.work, k_blocks=k_blocks))
    placed = program.stage_by_name
    stages = tuple(
        replace(stage, site=placed[stage.name].site, engine=placed[stage.name].engine)
        if stage.name in placed
        else stage
        for stage in template.stages
    )
    hand_set = _hand_set_depths(program, target)
    buffers = tuple(
        replace(buffer, depth_pages=hand_set.get(buffer.name)) for buffer in template.buffers
    )
    provided = {
        edge.buffer: edge.handoff
        for edge in program.edges
        if type(edge.handoff).__name__ in target.handoffs
    }
    edges = tuple(replace(edge, handoff=provided.get(edge.buffer)) for edge in template.edges)
    template = replace(template, stages=stages, buffers=buffers, edges=edges)
    return place(tile(template), target)


def _hand_set_depths(program: Program, target: Target) -> dict[str, int]:
    """Depths that differ from what the buffer pass would choose: somebody meant them."""
    blank = tuple(replace(buffer, depth_pages=None) for buffer in program.buffers)
    placed = place(tile(replace(program, buffers=blank)), target)
    chosen = choose_depths(placed, target).buffer_by_name
    return {
        buffer.name: buffer.depth_pages
        for buffer in program.buffers
        if buffer.depth_pages not in (None, chosen[buffer.name].depth_pages)
    }


def _slice(tensor: Tensor, axis: str, chip: int, chips: int) -> Tensor:
    """Chip ``chip``'s slice of an operand. It keeps the whole's value range."""
    rows, cols = range(tensor.rows), range(tensor.cols)
    if axis == "rows":
        rows = rows[chip * len(rows) // chips : (chip + 1) * len(rows) // chips]
    else:
        cols = cols[chip * len(cols) // chips : (chip + 1) * len(cols) // chips]
    return replace(
        tensor,
        name=f"c{chip}.{tensor.name}",
        rows=len(rows),
        cols=len(cols),
        pad=(0, 0),
        chip=chip,
        init=slice_init(
            tensor.init, tensor=tensor.name, shape=tensor.value_shape, rows=rows, cols=cols
        ),
        slice_of=SliceOf(whole=tensor.name, axis=axis, index=chip, count=chips),
    )


def _reducing_stages(reduction: Reduction, chip: int) -> Iterator[str]:
    """Local names of the stages that a chip has for the reduction."""
    for index in range(len(reduction.children[chip])):
        yield f"recv_{index}"
    if reduction.children[chip]:
        yield "fold"


class _Chip:
    """What one chip of the sharded program holds: the template, renamed, and its reduction."""

    def __init__(self, template: Program, chip: int, reduction: Reduction):
        self.template = template
        self.chip = chip
        self.chips = template.chip_count
        self.children = reduction.children[chip]
        self.parent = reduction.parent[chip]
        self.reduction = reduction
        self.product = next(s for s in template.stages if isinstance(s.kind, MatmulTiles))
        (self.partial,) = self.product.outs
        self.tail = [s for s in template.stages if isinstance(s.kind, Map | Store)]
        """What happens to the whole sum, at the home chip only."""
        self.tail_buffers = {name for stage in self.tail for name in stage.outs}
        self.total = "reduced" if self.parent is None else "subtotal"

    def name(self, local: str) -> str:
        return f"c{self.chip}.{local}"

    def site(self, stage: Stage) -> Site:
        assert stage.site is not None
        return replace(stage.site, chip=self.chip)

    def stages(self) -> Iterator[Stage]:
        for stage in self.template.stages:
            if stage not in self.tail:
                yield self._copied(stage)
        compute_site = self.site(self.product)
        for index in range(len(self.children)):
            landing = (self.name(f"landing_{index}"),)
            yield Stage(self.name(f"recv_{index}"), Recv(), outs=landing, site=compute_site)
        if self.children:
            yield Stage(
                self.name("fold"),
                Fold(left_fold(len(self.children) + 1)),
                ins=tuple(map(self.name, self._addends())),
                outs=(self.name(self.total),),
                site=compute_site,
            )
        if self.parent is None:
            total = self.name(self.total)
            for stage in map(self._copied, self.tail):
                ins = tuple(
                    total if name == self.name(self.partial) else name for name in stage.ins
                )
                yield replace(stage, ins=ins)

    def buffers(self) -> Iterator[Buffer]:
        for buffer in self.template.buffers:
            if buffer.name in self.tail_buffers:
                continue
            leaves = buffer.name == self.partial and not self.children
            yield replace(
                buffer,
                name=self.name(buffer.name),
                kind=BufferKind.INTERM if leaves else BufferKind.FIFO,
                distribution=self._distribution(buffer.name),
                site=None,
            )
        partial = self.template.buffer_by_name[self.partial]
        for index, child in enumerate(self.children):
            yield self._total(partial, f"landing_{index}", self._held_by(child))
        if self.children and self.parent is None:
            yield self._total(partial, self.total, Replicated())
            for name in sorted(self.tail_buffers):
                yield self._total(partial, name, Replicated())
        elif self.children:
            outgoing = self._total(partial, self.total, self._held_by(self.chip))
            yield replace(outgoing, kind=BufferKind.INTERM)

    def edges(self) -> Iterator[Edge]:
        for edge in self.template.edges:
            if edge.buffer in self.tail_buffers:
                continue
            if edge.buffer != self.partial or self.children:
                reader = "fold" if edge.buffer == self.partial else edge.destination
                yield self._edge(edge.source, edge.buffer, self.name(reader), edge.handoff)
        leaving = (self.product.name, self.partial)
        if self.children:
            leaving = ("fold", self.total)
            for index in range(len(self.children)):
                yield self._edge(f"recv_{index}", f"landing_{index}", self.name("fold"))
        if self.parent is None:
            yield self._edge(*leaving, self.name(self.tail[0].name))
            for before, after in pairwise(self.tail):
                yield self._edge(before.name, before.outs[0], self.name(after.name))
        else:
            index = self.reduction.children[self.parent].index(self.chip)
            yield self._edge(*leaving, f"c{self.parent}.recv_{index}")

    def _copied(self, stage: Stage) -> Stage:
        kind = stage.kind
        if isinstance(kind, Load):
            kind = replace(kind, tensor=self.name(kind.tensor))
        return replace(
            stage,
            name=self.name(stage.name),
            kind=kind,
            ins=tuple(map(self.name, stage.ins)),
            outs=tuple(map(self.name, stage.outs)),
            site=self.site(stage),
        )

    def _addends(self) -> tuple[str, ...]:
        return (self.partial, *(f"landing_{index}" for index in range(len(self.children))))

    def _edge(
        self, source: str, buffer: str, destination: str, handoff: Handoff | None = None
    ) -> Edge:
        source = self.name(source)
        return Edge(f"{source}->{destination}", source, self.name(buffer), destination, handoff)

    def _distribution(self, buffer: str) -> Distribution:
        if buffer == self.partial:
            return Partial((self.chip,), self.chips)
        return Sharded("k", self.chip, self.chips)

    def _held_by(self, chip: int) -> Partial:
        return Partial(self.reduction.held(chip), self.chips)

    def _total(self, like: Buffer, local: str, distribution: Distribution) -> Buffer:
        return replace(
            like,
            name=self.name(local),
            kind=BufferKind.FIFO,
            distribution=distribution,
            site=None,
            depth_pages=None,
        )
