"""Meshes and layouts: axes exchanged and renamed, and values said to be spread otherwise."""

from collections.abc import Callable
from dataclasses import replace

from compiler.ir.graph import with_layouts
from compiler.ir.layout import At, Layout, Partial, Placement, Replicate, Shard
from compiler.ir.mesh import Mesh, MeshAxis
from compiler.ir.program import Program
from compiler.ir.stage import Load
from tests.compiler.programs import changed
from tests.mutation.mutation import breaks
from tests.mutation.parts import (
    axis_of,
    exchanged_chips,
    is_ring,
    loads,
    operands_on,
    placed,
    product_of,
    sums,
)
from tests.mutation.slices import relaid


def meshed(program: Program, *axes: MeshAxis) -> Program:
    return replace(program, mesh=Mesh(axes))


def everywhere(program: Program, changes: Callable[[Layout], Layout]) -> Program:
    """``program`` with every layout of a value and of a buffer changed alike."""
    graph = program.graph
    layouts = {value.name: changes(value.layout) for value in graph.values}
    buffers = tuple(
        replace(b, holds=tuple(dict.fromkeys(map(changes, b.holds)))) for b in program.buffers
    )
    return replace(program, graph=with_layouts(graph, layouts), buffers=buffers)


def exchanging(one: Placement, other: Placement) -> Callable[[Layout], Layout]:
    """A change of layouts that puts each of two placements in place of the other."""
    swapped = {one: other, other: one}
    return lambda layout: tuple(swapped.get(placement, placement) for placement in layout)


@breaks("partition: ")
def the_sizes_of_two_axes_are_exchanged(program: Program) -> Program | None:
    """Three chips by two are said to be two by three; all else stays as it was."""
    if len(program.mesh.axes) < 2:
        return None
    first, second = program.mesh.axes
    if first.size == second.size:
        return None
    return meshed(program, replace(first, size=second.size), replace(second, size=first.size))


@breaks("order: but along")
def the_names_of_two_axes_are_exchanged(program: Program) -> Program | None:
    """Layouts go by the place of an axis, and collectives by its name."""
    if len(program.mesh.axes) < 2 or not program.collectives:
        return None
    first, second = program.mesh.axes
    if first.size != second.size:
        return None
    return meshed(program, second, first)


@breaks("well formed: UnknownName")
def an_axis_is_renamed_in_the_mesh_alone(program: Program) -> Program | None:
    if not program.collectives:
        return None
    axes = program.mesh.axes
    named = program.collectives[0].axis
    return meshed(program, *(replace(a, name="other") if a.name == named else a for a in axes))


@breaks("well formed: LayoutLength")
def all_chips_stand_along_one_axis(program: Program) -> Program | None:
    axes = program.mesh.axes
    collectives = tuple(replace(c, axis=axes[0].name) for c in program.collectives)
    program = replace(program, collectives=collectives)
    size = program.chip_count
    return meshed(program, MeshAxis(axes[0].name, size)) if len(axes) > 1 else None


@breaks("well formed: LayoutLength")
def there_is_an_axis_of_which_no_layout_speaks(program: Program) -> Program | None:
    return meshed(program, *program.mesh.axes, MeshAxis("spare", 1))


@breaks("partition: ")
def there_is_an_axis_of_two_along_which_all_is_whole(program: Program) -> Program | None:
    """Every layout says so, but the chips along it do not exist."""
    program = meshed(program, *program.mesh.axes, MeshAxis("spare", 2))
    return everywhere(program, lambda layout: (*layout, Replicate()))


@breaks("well formed: LayoutLength")
def a_value_does_not_say_how_it_is_spread(program: Program) -> Program | None:
    graph = with_layouts(program.graph, {product_of(program).left: ()})
    return replace(program, graph=graph)


@breaks("well formed: LayoutLength")
def a_buffer_says_of_an_axis_too_many_what_it_holds(program: Program) -> Program | None:
    buffer = program.buffers[-1]
    return changed(program, buffer.name, holds=((*buffer.holds[0], Replicate()),))


@breaks("well formed: HoldsNothing")
def a_buffer_does_not_say_what_it_holds(program: Program) -> Program | None:
    return changed(program, program.buffers[-1].name, holds=())


@breaks("layout: LayoutMismatch")
def a_buffer_is_said_to_hold_something_else_by_turns(program: Program) -> Program | None:
    buffer = sums(program)[0]
    other = tuple(Shard("m") for _ in program.mesh.axes)
    return changed(program, buffer.name, holds=(*buffer.holds, other))


@breaks("layout: LayoutMismatch")
def a_buffer_is_said_to_hold_what_is_at_one_chip(program: Program) -> Program | None:
    """Only a value as a whole can be at one chip and not at another."""
    buffer = sums(program)[-1]
    at_home = tuple(At(0) for _ in program.mesh.axes)
    return changed(program, buffer.name, holds=(at_home,))


@breaks("layout: LayoutMismatch")
def all_sums_are_said_to_be_slices_of_the_rows(program: Program) -> Program | None:
    """From the product to the store, where the contraction is cut."""
    axis = axis_of(program, "k")
    if axis is None or axis_of(program, "m") is not None:
        return None
    for buffer in sums(program):
        holds = tuple(placed(layout, axis, Shard("m")) for layout in buffer.holds)
        program = changed(program, buffer.name, holds=holds)
    return program


@breaks("partition: ", "layout: FoldOfWhole")
def all_chips_are_said_to_have_the_whole_operands(program: Program) -> Program | None:
    """No layout says that anything is cut along the contraction, in any value or buffer."""
    axis = axis_of(program, "k")
    if axis is None:
        return None
    return everywhere(program, lambda layout: whole_along(layout, axis))


def whole_along(layout: Layout, axis: int) -> Layout:
    return layout if isinstance(layout[axis], At) else placed(layout, axis, Replicate())


@breaks("partition: ", "layout: ")
def an_operand_is_said_to_be_whole_in_graph_and_buffers(program: Program) -> Program | None:
    axis = axis_of(program, "k")
    if axis is None:
        return None
    left = product_of(program).left
    program = relaid(program, left, axis, Replicate())
    for load in loads(program):
        if program.tensor_by_name[load.kind.tensor].value == left:
            (layout,) = program.buffer_by_name[load.outs[0]].holds
            program = changed(program, load.outs[0], holds=(placed(layout, axis, Replicate()),))
    return program


@breaks("partition: ")
def rows_and_columns_are_said_to_be_cut_along_each_others_axis(program: Program) -> Program | None:
    """Where both are cut, in every value and in every buffer: no two layouts disagree."""
    if axis_of(program, "m") is None or axis_of(program, "n") is None:
        return None
    return everywhere(program, lambda layout: layout[::-1])


@breaks("partition: ", "layout: LayoutMismatch")
def all_layouts_speak_of_the_other_axis(program: Program) -> Program | None:
    if len(program.mesh.axes) < 2 or axis_of(program, "k") is None:
        return None
    return everywhere(program, lambda layout: layout[::-1])


@breaks("partition: ")
def an_unused_axis_is_said_to_cut_the_rows(program: Program) -> Program | None:
    """In every layout of the left operand and of sums; the tensors are still whole."""
    free = [axis for axis, size in enumerate(program.mesh.axes) if size.size > 1]
    free = [axis for axis in free if all(v.layout[axis] == Replicate() for v in values(program))]
    if not free:
        return None
    cut = (product_of(program).left, product_of(program).output)
    for value in cut:
        program = relaid(program, value, free[0], Shard("m"))
    loaded = {load.outs[0]: load.kind.tensor for load in loads(program)}
    for buffer in program.buffers:
        tensor = loaded.get(buffer.name)
        if tensor is None or program.tensor_by_name[tensor].value in cut:
            holds = tuple(placed(layout, free[0], Shard("m")) for layout in buffer.holds)
            program = changed(program, buffer.name, holds=holds)
    return program


def values(program: Program):
    return program.graph.values


@breaks("partition: holds no part of", "partition: is to hold no part of")
def the_output_is_said_to_be_at_another_chip(program: Program) -> Program | None:
    return output_at(program, lambda placement: At(1) if placement == At(0) else placement)


@breaks("partition: holds no part of", "order: is said to end on chip")
def the_output_and_its_reductions_are_said_to_be_at_another_chip(
    program: Program,
) -> Program | None:
    """The layout and all collectives name the second chip of each group."""
    moved = output_at(program, lambda placement: At(1) if placement == At(0) else placement)
    if moved is None or is_ring(program):
        return None
    collectives = tuple(replace(c, home=c.chips[1]) for c in moved.collectives)
    return replace(moved, collectives=collectives)


@breaks("partition: holds no part of")
def the_output_is_said_to_be_at_every_chip(program: Program) -> Program | None:
    return output_at(program, lambda p: Replicate() if isinstance(p, At) else p)


@breaks("partition: is to hold no part of")
def the_output_is_said_to_be_at_the_first_chip_alone(program: Program) -> Program | None:
    """Where all chips have it."""
    return output_at(program, lambda p: At(0) if isinstance(p, Replicate) else p, several=True)


def output_at(
    program: Program, change: Callable[[Placement], Placement], *, several: bool = False
) -> Program | None:
    output = program.graph.value_by_name[product_of(program).output]
    layout = tuple(map(change, output.layout))
    if layout == output.layout or (several and len(program.tensors_of[output.name]) < 2):
        return None
    return replace(program, graph=with_layouts(program.graph, {output.name: layout}))


@breaks("well formed: ValueLayout")
def the_output_is_said_to_be_at_a_chip_that_does_not_exist(program: Program) -> Program | None:
    output = product_of(program).output
    return relaid(program, output, 0, At(program.mesh.axes[0].size))


@breaks("well formed: ValueLayout")
def an_operand_is_said_to_be_a_partial_sum(program: Program) -> Program | None:
    left = program.graph.value_by_name[product_of(program).left]
    layout = placed(left.layout, 0, Partial())
    return replace(program, graph=with_layouts(program.graph, {left.name: layout}))


@breaks("well formed: ValueLayout")
def an_operand_is_cut_along_an_axis_that_it_does_not_have(program: Program) -> Program | None:
    return relaid(program, product_of(program).left, 0, Shard("n"))


@breaks("well formed: ValueLayout")
def an_operand_is_cut_along_no_known_axis(program: Program) -> Program | None:
    return relaid(program, product_of(program).left, 0, Shard("q"))


@breaks("well formed: ValueLayout")
def an_operand_is_cut_twice_along_one_axis(program: Program) -> Program | None:
    if len(program.mesh.axes) < 2:
        return None
    left = product_of(program).left
    return relaid(relaid(program, left, 0, Shard("k")), left, 1, Shard("k"))


@breaks("partition: ")
def two_chips_are_exchanged(program: Program) -> Program | None:
    """With all that they have, wherever a chip is named: their parts are now out of order."""
    last = program.chip_count - 1
    if last == 0 or same_parts(program, 0, last):
        return None
    return exchanged_chips(program, 0, last)


def same_parts(program: Program, one: int, other: int) -> bool:
    parts = [[t.part for t in operands_on(program, chip)] for chip in (one, other)]
    return parts[0] == parts[1]


@breaks("partition: ")
def two_neighbours_are_exchanged(program: Program) -> Program | None:
    """The last two chips, neither of which is the first: the home stays."""
    last = program.chip_count - 1
    if last < 2 or same_parts(program, last - 1, last):
        return None
    return exchanged_chips(program, last - 1, last)


@breaks("order: is said to join chips")
def the_chips_of_two_reductions_are_exchanged(program: Program) -> Program | None:
    pair = [c for c in program.collectives if c.kind == "reduce"][:2]
    if len(pair) < 2:
        return None
    one, other = pair
    program = changed(program, one.name, chips=other.chips)
    return changed(program, other.name, chips=one.chips)


@breaks("order: but along")
def the_reductions_of_all_groups_are_stated_as_one(program: Program) -> Program | None:
    pair = [c for c in program.collectives if c.kind == "reduce"]
    if len(pair) < 2:
        return None
    joint = replace(
        pair[0],
        chips=tuple(chip for c in pair for chip in c.chips),
        stages=tuple(stage for c in pair for stage in c.stages),
    )
    others = tuple(c for c in program.collectives if c.kind != "reduce")
    return replace(program, collectives=(joint, *others))


@breaks("capacity: RemoteTensor")
def two_chips_load_each_others_operands(program: Program) -> Program | None:
    """Their walks are alike, so every page count is right."""
    first, last = loads(program)[0], loads(program)[-2]
    parts = [program.tensor_by_name[stage.kind.tensor] for stage in (first, last)]
    if program.chip_count == 1 or len({(part.rows, part.cols) for part in parts}) > 1:
        return None
    for stage, other in ((first, last), (last, first)):
        assert isinstance(other.kind, Load)
        kind = replace(stage.kind, tensor=other.kind.tensor)
        program = changed(program, stage.name, kind=kind)
    return program
