"""Partition: cut a product along the axes of a mesh, and put its partial sums together."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from compiler.errors import (
    AlreadyShardedError,
    LinkPortsExceededError,
    NoCrossChipHandoffError,
    NothingToShardError,
)
from compiler.ir import limits
from compiler.ir.collective import WITHOUT_HOME, Collective
from compiler.ir.edge import Edge
from compiler.ir.graph import with_layouts
from compiler.ir.init import slice_init
from compiler.ir.layout import At, Layout, Placement, Replicate, Shard
from compiler.ir.program import Program
from compiler.ir.stage import Load, MatmulTiles, Store
from compiler.ir.tensor import Part, Tensor
from compiler.passes.algorithms import ALGORITHMS, SpanningTree
from compiler.passes.chip_parts import ChipParts, Member
from compiler.passes.page_rounds import way_members
from compiler.passes.slices import Slices, cut_of, scattered_of
from compiler.passes.switched_parts import SwitchedParts
from compiler.passes.undecided import undecided
from compiler.shard_plan import BY_PAGE, ShardPlan
from compiler.targets import Target

KINDS_OF_RESULTS = {"home": "reduce", "all": "all_reduce", "scattered": "reduce_scatter"}
"""The collective that leaves a sum where it is to be."""


def partition(program: Program, plan: ShardPlan, target: Target) -> Program:
    """Spread a one-chip program over the chips of ``plan``.

    Nothing of it is decided yet but what somebody chose: each chip gets a copy of its stages for
    the slices that it has, and the passes bake in the shapes that these really have. Loop order,
    engines, depths and hand-offs that somebody chose go along.

    Where contractions are cut, a chip's product is a partial sum. Every partial that crosses to
    another chip is received there into a buffer of that chip's own, and the fold reads those local
    copies. If all chips are to have the sum, copies of it go back the way that its parts have come.

    Raises
    ------
    NothingToShardError, AlreadyShardedError, AxisNotDivisibleError, SliceNotTileAlignedError, \
    TooFewTilesError, UnsliceableFillError, NoCrossChipHandoffError, LinkPortsExceededError
        If the program cannot be spread as asked.
    """
    check_product(program)
    cut = cut_of(program, plan)
    if plan.axis_of("k"):
        if target.crossing_handoff is None:
            raise NoCrossChipHandoffError(target=target.name, provided=target.handoffs)
        _check_ports(plan, target)
    layouts = _layouts(program, plan)
    template = undecided(replace(program, mesh=plan.mesh))
    edges = tuple(_provided(edge, target) for edge in template.edges)
    template = replace(template, edges=edges)
    names = _tensor_names(program, plan)
    chips: Sequence[ChipParts | SwitchedParts]
    if plan.axis_of("k") and plan.reduce in BY_PAGE:
        chips = [
            SwitchedParts(template, chip, names=names[chip], layouts=layouts, member=member)
            for chip, member in enumerate(way_members(program, plan, cut, target))
        ]
    else:
        chips = [
            ChipParts(template, chip, names=names[chip], layouts=layouts, member=member)
            for chip, member in enumerate(_members(plan))
        ]
    tensors = (
        _part(program, tensor, plan, cut, chip.chip, chip.names[tensor.name])
        for tensor in program.tensors
        for chip in chips
        if chip.stores or tensor.value != program.claim.output
    )
    return replace(
        template,
        name=_name(program, plan),
        graph=with_layouts(template.graph, layouts),
        tensors=tuple(tensors),
        stages=tuple(stage for chip in chips for stage in chip.stages()),
        buffers=tuple(buffer for chip in chips for buffer in chip.buffers()),
        edges=tuple(edge for chip in chips for edge in chip.edges()),
        collectives=tuple(_collectives(program, plan, chips)),
    )


def check_product(program: Program) -> None:
    """Check that a program is one product of two loaded operands on one chip, stored once.

    Raises
    ------
    AlreadyShardedError
        If it spans several chips.
    NothingToShardError
        If it is anything else.
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


def _layouts(program: Program, plan: ShardPlan) -> dict[str, Layout]:
    """The layout of each value: what is cut along an axis, and where its sum ends up."""

    def placement(dims: tuple[str, str], axis: str) -> Placement:
        dim = plan.dim_of(axis)
        if dim in dims:
            return Shard(str(dim))
        is_summed = dims == ("m", "n") and dim == "k"
        if is_summed and plan.scattered is not None:
            return Shard(plan.scattered)
        return At(0) if is_summed and plan.result == "home" else Replicate()

    return {
        value.name: tuple(placement(value.dims, axis) for axis in plan.mesh.names)
        for value in program.graph.values
    }


def _members(plan: ShardPlan) -> list[Member | None]:
    """Each chip's place in the group that sums with it."""
    axis = plan.axis_of("k")
    members: list[Member | None] = [None] * plan.chips
    if axis is None:
        return members
    hops = _hops(plan)
    contributions = hops.contributions()
    for group in plan.mesh.groups(axis):
        for index, chip in enumerate(group):
            members[chip] = Member(
                group, index, plan.mesh.index(axis), hops, contributions, plan.result == "all"
            )
    return members


def _hops(plan: ShardPlan) -> SpanningTree:
    return ALGORITHMS[plan.reduce](plan.mesh.size(str(plan.axis_of("k"))))


def _check_ports(plan: ShardPlan, target: Target) -> None:
    """Check that every chip has a port for each end of a link that the algorithm needs."""
    axis = str(plan.axis_of("k"))
    if plan.reduce in BY_PAGE:
        return  # the pass that makes links counts their ends
    ways = 2 if plan.result == "all" else 1
    needs = {name: _ports(hops(plan.mesh.size(axis))) for name, hops in ALGORITHMS.items()}
    needed = ways * max(needs[plan.reduce])
    if needed <= target.link_ports:
        return
    fewest, other = min((ways * max(ports), name) for name, ports in needs.items())
    way_out = "choose fewer chips, or a target with more link ports"
    if fewest <= target.link_ports:
        way_out = f"a {other} needs {fewest} (--reduce {other})"
    elif max(needs[plan.reduce]) <= target.link_ports:
        way_out = f"with the result at home it needs {max(needs[plan.reduce])} (--result home)"
    crowded = needs[plan.reduce].index(max(needs[plan.reduce]))
    raise LinkPortsExceededError(
        chip=next(iter(plan.mesh.groups(axis)))[crowded],
        needed=needed,
        ports=target.link_ports,
        algorithm=plan.reduce,
        way_out=way_out,
    )


def _ports(hops: SpanningTree) -> list[int]:
    """By index, the ends of links that one way takes."""
    return [
        len(children) + (parent is not None)
        for children, parent in zip(hops.children, hops.parent, strict=True)
    ]


def _provided(edge: Edge, target: Target) -> Edge:
    """The edge, without a hand-off that the target does not provide."""
    keeps = edge.handoff is None or type(edge.handoff).__name__ in target.handoffs
    return edge if keeps else replace(edge, handoff=None)


def _tensor_names(program: Program, plan: ShardPlan) -> list[dict[str, str]]:
    """By chip, the names of its tensors. The output keeps its own if one chip alone has it."""
    axis = plan.axis_of("k")
    sums_over_all = axis is not None and plan.mesh.size(axis) == plan.chips
    whole = {program.claim.output} if sums_over_all and plan.result == "home" else set[str]()
    return [
        {
            tensor.name: tensor.name
            if plan.chips == 1 or tensor.value in whole
            else f"c{chip}.{tensor.name}"
            for tensor in program.tensors
        }
        for chip in range(plan.chips)
    ]


def _part(
    program: Program, tensor: Tensor, plan: ShardPlan, cut: Slices, chip: int, name: str
) -> Tensor:
    """What a chip has of a tensor of the one-chip program. It keeps the whole's value range."""
    value = program.graph.value_by_name[tensor.value]
    along = dict(zip(plan.mesh.names, plan.mesh.coordinates(chip), strict=True))

    summed = scattered_of(program, plan) if tensor.value == program.claim.output else {}

    def span(dim: str, extent: int) -> range:
        if dim in summed:
            return summed[dim][along[str(plan.axis_of("k"))]]
        axis = plan.axis_of(dim)
        return range(extent) if axis is None else cut[dim][along[axis]]

    rows, cols = span(value.dims[0], tensor.rows), span(value.dims[1], tensor.cols)
    return replace(
        tensor,
        name=name,
        rows=len(rows),
        cols=len(cols),
        part=Part(tensor.value, rows.start, cols.start),
        chip=chip,
        init=slice_init(
            tensor.init,
            tensor=tensor.name,
            shape=(value.rows, value.cols),
            rows=_within(rows, value.rows),
            cols=_within(cols, value.cols),
        ),
    )


def _within(span: range, extent: int) -> range:
    """The part of a span that is not behind the end of the value."""
    return range(min(span.start, extent), min(span.stop, extent))


def _collectives(
    program: Program, plan: ShardPlan, chips: Sequence[ChipParts | SwitchedParts]
) -> Iterator[Collective]:
    """For each group that sums, its reduction, and the broadcast of what came of it."""
    axis = plan.axis_of("k")
    if axis is None:
        return
    groups = list(plan.mesh.groups(axis))
    for number, group in enumerate(groups):
        for kind, stages in _taking_part(plan, [chips[chip] for chip in group]).items():
            name = f"{plan.reduce}_{kind}"
            yield Collective(
                name=name if len(groups) == 1 else f"{name}_{number}",
                kind=kind,
                algorithm=plan.reduce,
                value=program.claim.output,
                axis=axis,
                chips=group,
                home=None if kind in WITHOUT_HOME else group[0],
                stages=stages,
            )


def _taking_part(
    plan: ShardPlan, members: Sequence[ChipParts | SwitchedParts]
) -> dict[str, tuple[str, ...]]:
    """By kind of collective, the stages of a group that are in it."""
    found: dict[str, list[str]] = {}
    for chip in members:
        if isinstance(chip, SwitchedParts):
            found.setdefault(KINDS_OF_RESULTS[plan.result], []).extend(chip.taking_part())
            continue
        found.setdefault("reduce", []).extend(chip.reducing())
        if plan.result == "all":
            found.setdefault("broadcast", []).extend(chip.broadcasting())
    return {kind: tuple(stages) for kind, stages in found.items()}


def _name(program: Program, plan: ShardPlan) -> str:
    """The program's name with what tells it from others of the product."""
    if plan.chips == 1:
        return program.name
    sums = plan.axis_of("k") is not None
    ending = f"_{plan.result}" if plan.result != "home" and sums else ""
    if plan == ShardPlan(plan.chips, plan.reduce, result=plan.result, uneven=plan.uneven):
        return f"{program.name}_{plan.reduce}{plan.chips}{ending}"
    mesh = "_".join(f"{axis.name}{axis.size}" for axis in plan.mesh.axes)
    cut = "".join(f"_{dim}_{axis}" for dim, axis in plan.shard)
    reduce = f"_{plan.reduce}" if sums else ""
    name = f"{program.name}_{mesh}{cut}{reduce}{ending}"
    if len(name) > limits.NAME_LENGTH:
        # Axes may have names that are too long together; the mesh itself says them.
        return f"{program.name}_mesh{plan.chips}{reduce}{ending}"
    return name
