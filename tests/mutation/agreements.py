"""Mistakes made alike in all places that must agree: parts, walks, counts, layouts and memory."""

from collections.abc import Callable
from dataclasses import replace

from compiler.ir.program import Program
from compiler.ir.stage import Load, MatmulTiles, Store
from compiler.ir.tensor import Tensor
from compiler.passes.tile import tile
from tests.compiler.programs import changed
from tests.mutation.certified import completed
from tests.mutation.meshes import everywhere
from tests.mutation.mutation import breaks
from tests.mutation.parts import (
    axis_of,
    is_ring,
    leaf_edges,
    product_of,
    reader,
)

Bounds = tuple[int, int]
"""The first element of a slice, and how many it has."""


def rebaked(program: Program) -> Program:
    """``program`` with the walks, counts, memory and times that the shapes of its tensors make."""
    stages = tuple(
        replace(stage, kind=replace(stage.kind, walk=None))
        if isinstance(stage.kind, Load | Store)
        else replace(stage, kind=MatmulTiles())
        if isinstance(stage.kind, MatmulTiles)
        else stage
        for stage in program.stages
    )
    return completed(tile(replace(program, stages=stages)))


def recut(program: Program, dim: str, of: Callable[[int, Bounds], Bounds]) -> Program | None:
    """``program`` cut otherwise along an axis of the problem, in all that follows from it.

    ``of`` takes where a chip stands along the axis of the mesh, and what it has. Only programs
    whose operands come from outside are cut anew.
    """
    axis = axis_of(program, dim)
    if axis is None or any(hasattr(tensor.init, "values") for tensor in program.tensors):
        return None

    def cut(tensor: Tensor) -> Tensor:
        dims = program.graph.value_by_name[tensor.value].dims
        index = program.mesh.coordinates(tensor.chip)[axis]
        if dims[0] == dim:
            row, rows = of(index, (tensor.part.row, tensor.rows))
            return replace(tensor, rows=rows, part=replace(tensor.part, row=row))
        if dims[1] == dim:
            col, cols = of(index, (tensor.part.col, tensor.cols))
            return replace(tensor, cols=cols, part=replace(tensor.part, col=col))
        return tensor

    return rebaked(replace(program, tensors=tuple(map(cut, program.tensors))))


def is_even(program: Program, dim: str) -> bool:
    """Whether what a free axis of the problem is cut into has as many tiles everywhere."""
    position = {"m": 0, "n": 1}[dim]
    parts = program.tensors_of[product_of(program).output]
    return len({(t.row_tiles, t.col_tiles)[position] for t in parts}) == 1


@breaks("partition: are in no slice", "reduced once: lacks")
def a_tile_of_the_contraction_is_in_no_slice(program: Program) -> Program | None:
    """The first slice is a tile shorter, in both operands, walks, counts and memory."""
    left = next(t for t in program.tensors if t.value == product_of(program).left)
    if left.col_tiles < 2 or product_of(program).map:
        return None
    size = program.tile
    return recut(program, "k", lambda i, b: (b[0], b[1] - size) if i == 0 else b)


@breaks("partition: which another slice of", "reduced once: adds contraction indices")
def a_tile_of_the_contraction_is_in_two_slices(program: Program) -> Program | None:
    """The first slice is a tile longer, and the second one begins where it did."""
    if product_of(program).map:
        return None
    size = program.tile
    return recut(program, "k", lambda i, b: (b[0], b[1] + size) if i == 0 else b)


@breaks("partition: which another slice of", "reduced once: adds contraction indices")
def the_last_slice_begins_a_tile_early(program: Program) -> Program | None:
    axis = axis_of(program, "k")
    if axis is None or product_of(program).map:
        return None
    last, size = program.mesh.axes[axis].size - 1, program.tile
    return recut(program, "k", lambda i, b: (b[0] - size, b[1] + size) if i == last else b)


@breaks("partition: within a tile", "reduced once: ")
def the_slices_meet_within_a_tile(program: Program) -> Program | None:
    """Every element is in one slice, but the tiles of both sides are short."""
    return recut(
        program,
        "k",
        lambda i, b: (b[0], b[1] - 1) if i == 0 else (b[0] - 1, b[1] + 1) if i == 1 else b,
    )


@breaks("partition: ")
def the_chips_have_the_slices_in_the_opposite_order(program: Program) -> Program | None:
    """Every element is in one slice, and each sum is right: the layouts tell of other slices."""
    axis = axis_of(program, "k")
    if axis is None:
        return None
    bounds = {
        program.mesh.coordinates(t.chip)[axis]: (t.part.col, t.cols)
        for t in program.tensors
        if t.value == product_of(program).left
    }
    last = program.mesh.axes[axis].size - 1
    return recut(program, "k", lambda i, _: bounds[last - i])


def free_dim(program: Program) -> str | None:
    """A free axis of the product that is cut, if one is, and not only of the sum."""
    summed = axis_of(program, "k")
    return next((dim for dim in "mn" if axis_of(program, dim) not in (None, summed)), None)


@breaks("partition: which another slice of")
def two_groups_make_the_same_part_of_the_result(program: Program) -> Program | None:
    """Both load it, compute it rightly and store it; another part is made by nobody."""
    dim = free_dim(program)
    axis = axis_of(program, dim) if dim else None
    if dim is None or axis is None or not is_even(program, dim):
        return None
    first = {
        (t.part.row, t.rows) if dim == "m" else (t.part.col, t.cols)
        for t in program.tensors_of[product_of(program).output]
        if program.mesh.coordinates(t.chip)[axis] == 0
    }
    (bounds,) = first
    return recut(program, dim, lambda i, b: bounds)


@breaks("partition: are in no slice")
def a_row_or_column_of_tiles_is_made_by_nobody(program: Program) -> Program | None:
    """The last group begins a tile further on; all of its chips agree."""
    dim = free_dim(program)
    axis = axis_of(program, dim) if dim else None
    if dim is None or axis is None or is_ring(program):
        return None
    last, size = program.mesh.axes[axis].size - 1, program.tile
    if any(min(t.rows, t.cols) <= size for t in program.tensors_of[product_of(program).output]):
        return None
    return recut(program, dim, lambda i, b: (b[0] + size, b[1] - size) if i == last else b)


@breaks("partition: which another slice of")
def a_row_or_column_of_tiles_is_made_twice(program: Program) -> Program | None:
    dim = free_dim(program)
    axis = axis_of(program, dim) if dim else None
    if dim is None or axis is None or is_ring(program):
        return None
    last, size = program.mesh.axes[axis].size - 1, program.tile
    return recut(program, dim, lambda i, b: (b[0] - size, b[1] + size) if i == last else b)


@breaks("partition: elements")
def the_result_is_cut_elsewhere_than_the_operand(program: Program) -> Program | None:
    """Tensors of the output alone end, and begin, a tile later than those that they are made of."""
    dim = free_dim(program)
    axis = axis_of(program, dim) if dim else None
    if dim is None or axis is None:
        return None
    for tensor in program.tensors_of[product_of(program).output]:
        first = program.mesh.coordinates(tensor.chip)[axis] == 0
        later, longer = (0, program.tile) if first else (program.tile, -program.tile)
        row, col = tensor.part.row, tensor.part.col
        if dim == "m":
            changes = {"rows": tensor.rows + longer, "part": replace(tensor.part, row=row + later)}
        else:
            changes = {"cols": tensor.cols + longer, "part": replace(tensor.part, col=col + later)}
        if min(changes.get("rows", 1), changes.get("cols", 1)) < 1:
            return None
        program = changed(program, tensor.name, **changes)
    return program


@breaks("layout: ")
def a_sum_skips_the_fold_on_its_way(program: Program) -> Program | None:
    """The home stores what one chip sends, and adds its own to nothing: counts are all right.

    What the fold makes takes the place of what lands, and goes into the fold: in a circle.
    """
    edges = leaf_edges(program)
    if not edges:
        return None
    fold = reader(program, edges[0])
    landed = program.landing(edges[0]).name
    (total,) = fold.outs
    onward = program.edge_by_buffer[total]
    if program.crosses(onward):
        return None
    taker = program.stage_by_name[onward.destination]
    landing_edge = program.edge_by_buffer[landed]
    ins = tuple(total if name == landed else name for name in fold.ins)
    program = changed(program, fold.name, ins=ins)
    program = changed(program, taker.name, ins=(landed,))
    program = changed(program, landing_edge.name, destination=taker.name)
    return changed(program, onward.name, destination=fold.name)


@breaks("partition: ", "layout: ")
def the_contraction_is_said_to_be_cut_along_the_other_axis(program: Program) -> Program | None:
    """Every layout exchanges the two axes of the mesh, and the collectives follow."""
    axis = axis_of(program, "k")
    if axis is None or len(program.mesh.axes) != 2:
        return None
    other = program.mesh.names[1 - axis]
    program = everywhere(program, lambda layout: layout[::-1])
    return replace(program, collectives=tuple(replace(c, axis=other) for c in program.collectives))
