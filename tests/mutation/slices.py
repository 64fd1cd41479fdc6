"""Parts of the values: dropped, repeated, swapped, cut wrongly, filled wrongly."""

from dataclasses import replace

from compiler.ir.graph import with_layouts
from compiler.ir.init import Const, Init, Pattern, Values
from compiler.ir.layout import At, Replicate, Shard
from compiler.ir.program import Program
from compiler.ir.stage import Load
from compiler.ir.tensor import Part, Tensor, ValueRange
from tests.compiler.programs import changed, without
from tests.mutation.mutation import breaks
from tests.mutation.parts import (
    axis_of,
    beside,
    loads,
    moved,
    operands_on,
    placed,
    product_of,
    slices,
)

EITHER = (("m", 0), ("n", 1))
"""The free axes of a product, and which of its operands runs along each."""


def last_chip(program: Program) -> int:
    return program.chip_count - 1


def takes(program: Program, name: str, part: Part, init: Init) -> Program:
    """``program`` with a tensor that stands elsewhere in its value, and states what is there."""
    return changed(program, name, part=part, init=init)


def exchanged(program: Program, one: Tensor, other: Tensor) -> Program:
    """``program`` with two tensors that each stand where the other did."""
    program = takes(program, one.name, other.part, other.init)
    return takes(program, other.name, one.part, one.init)


def first_slices(program: Program) -> tuple[list[Tensor], list[Tensor]] | None:
    """Operands of the last chip, and of the one beside it that has the first of the contraction.

    ``None`` if nothing is cut, or into slices that are not of one size.
    """
    axis = axis_of(program, "k")
    if axis is None:
        return None
    mine = operands_on(program, last_chip(program))
    first = operands_on(program, beside(program, last_chip(program), axis, 0))
    alike = all((a.rows, a.cols) == (b.rows, b.cols) for a, b in zip(mine, first, strict=True))
    return ([*mine], [*first]) if alike else None


def relaid(program: Program, value: str, axis: int, placement: Replicate | Shard | At) -> Program:
    """``program`` whose graph spreads a value otherwise along an axis, and nothing else."""
    layout = program.graph.value_by_name[value].layout
    return replace(
        program, graph=with_layouts(program.graph, {value: placed(layout, axis, placement)})
    )


@breaks("well formed: UnknownName")
def a_slice_is_dropped(program: Program) -> Program | None:
    names = slices(program, last_chip(program))
    return without(program, names[0]) if names else None


@breaks("partition: elements", "reduced once: ")
def the_first_slice_is_held_twice(program: Program) -> Program | None:
    """The last chip holds the first slice too, of both operands."""
    pair = first_slices(program)
    for mine, first in zip(*pair, strict=True) if pair else ():
        program = takes(program, mine.name, first.part, first.init)
    return program if pair else None


@breaks("partition: of", "reduced once: contraction with block")
def slices_of_one_operand_are_swapped(program: Program) -> Program | None:
    pair = first_slices(program)
    return exchanged(program, pair[0][0], pair[1][0]) if pair else None


@breaks("partition: of")
def slices_of_both_operands_are_swapped_without_a_word(program: Program) -> Program | None:
    """Every sum is still right, but what the layouts say of the chips is not."""
    pair = first_slices(program)
    for mine, first in zip(*pair, strict=True) if pair else ():
        program = exchanged(program, mine, first)
    return program if pair else None


@breaks("partition: of", "reduced once: ", "layout: PartOutside")
def a_slice_is_cut_along_a_result_axis(program: Program) -> Program | None:
    """The left slice is said to be further down, and not further to the right."""
    names = slices(program, last_chip(program))
    if not names:
        return None
    part = program.tensor_by_name[names[0]].part
    return moved(program, names[0], part.row + part.col, 0)


@breaks("layout: LayoutMismatch", "partition: of a")
def an_operand_is_said_to_be_cut_along_a_result_axis(program: Program) -> Program | None:
    axis = axis_of(program, "k")
    if axis is None or axis_of(program, "m") is not None:
        return None
    return relaid(program, product_of(program).left, axis, Shard("m"))


@breaks("partition: elements", "layout: PartOutside")
def a_slice_stands_behind_the_last(program: Program) -> Program | None:
    names = slices(program, last_chip(program))
    if not names:
        return None
    left, right = (program.tensor_by_name[name] for name in names)
    program = moved(program, left.name, left.part.row, left.part.col + left.cols)
    return moved(program, right.name, right.part.row + right.rows, right.part.col)


@breaks("partition: ")
def a_slice_lacks_its_last_elements(program: Program) -> Program | None:
    names = slices(program, last_chip(program))
    if not names:
        return None
    return changed(program, names[0], cols=program.tensor_by_name[names[0]].cols - 1)


@breaks("partition: no part of b", "reduced once: ")
def a_slice_is_said_to_be_of_the_other_operand(program: Program) -> Program | None:
    names = slices(program, last_chip(program))
    if not names:
        return None
    part = program.tensor_by_name[names[0]].part
    return changed(program, names[1], part=part)


@breaks("capacity: RemoteTensor")
def a_chip_loads_the_slice_of_its_neighbour(program: Program) -> Program | None:
    if program.chip_count == 1:
        return None
    first, second = loads(program)[0], loads(program)[2]
    assert isinstance(first.kind, Load)
    assert isinstance(second.kind, Load)
    return changed(program, second.name, kind=replace(second.kind, tensor=first.kind.tensor))


@breaks("capacity: RemoteTensor", "partition: ")
def a_slice_lies_in_the_memory_of_another_chip(program: Program) -> Program | None:
    names = slices(program, last_chip(program))
    return changed(program, names[0], chip=0) if names else None


@breaks("layout: FillLength")
def the_padding_holds_values(program: Program) -> Program | None:
    """Both operands go on with ones where the contraction has ended."""
    names = slices(program, last_chip(program))
    ends = [program.real_shape(program.tensor_by_name[name]) for name in names]
    tensors = [program.tensor_by_name[name] for name in names]
    if all(end == (t.rows, t.cols) for end, t in zip(ends, tensors, strict=True)):
        return None
    for tensor in tensors:
        ones = Values((1,) * (tensor.rows * tensor.cols))
        program = changed(program, tensor.name, init=ones)
    return program


@breaks("range: which is outside of", "layout: FillRange")
def an_operand_holds_more_than_it_promises(program: Program) -> Program | None:
    load = loads(program)[-1]
    assert isinstance(load.kind, Load)
    return changed(program, load.kind.tensor, init=Const(128))


@breaks("layout: FillDiffers")
def two_chips_state_different_values_of_one_part(program: Program) -> Program | None:
    """What each makes of it is right for the values that it has itself."""
    for tensor in reversed(program.tensors):
        others = [t for t in program.tensors if t.part == tensor.part and t != tensor]
        match tensor.init:
            case Values((first, *rest)) if others:
                return changed(program, tensor.name, init=Values((first + 1, *rest)))
            case Pattern(modulus, shift) if others:
                return changed(program, tensor.name, init=Pattern(modulus, shift - 1))
    return None


@breaks("range: of one operand")
def a_slice_promises_less_than_the_others(program: Program) -> Program | None:
    names = slices(program, last_chip(program))
    return changed(program, names[0], value_range=ValueRange(-1, 1)) if names else None


@breaks("partition: elements", "layout: ")
def two_chips_hold_the_same_rows_of_the_result(program: Program) -> Program | None:
    """What is cut along a free axis: the last chip's part is that of the first, result and all."""
    cut = next(((dim, side) for dim, side in EITHER if axis_of(program, dim) is not None), None)
    if cut is None:
        return None
    dim, side = cut
    axis = axis_of(program, dim)
    assert axis is not None
    chips = last_chip(program), beside(program, last_chip(program), axis, 0)
    mine, first = (operands_on(program, chip)[side] for chip in chips)
    return takes(program, mine.name, first.part, first.init)
