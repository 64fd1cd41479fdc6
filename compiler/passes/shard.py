"""Shard: split the contraction axis over chips, and reduce the partial sums that result."""

from dataclasses import dataclass, replace

from compiler.errors import (
    AlreadyShardedError,
    AxisNotDivisibleError,
    LinkPortsExceededError,
    NoCrossChipHandoffError,
    NothingToShardError,
    ShardPlanError,
    SliceNotTileAlignedError,
)
from compiler.ir.init import slice_init
from compiler.ir.program import Collective, Program
from compiler.ir.stage import Load, MatmulTiles, Store
from compiler.ir.tensor import SliceOf, Tensor
from compiler.passes.buffer import choose_depths
from compiler.passes.lower import lower
from compiler.passes.place import place
from compiler.passes.reduction import Reduction, star, tree
from compiler.passes.replica import Replica, reducing_stages
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
            for name in reducing_stages(reduction, chip)
        ),
    )
    template = replace(template, chip_count=plan.chips)
    chips = [Replica(template, chip, reduction) for chip in range(plan.chips)]
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
