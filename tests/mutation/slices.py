"""Slices of the operands: dropped, repeated, swapped, cut wrongly, filled wrongly."""

from dataclasses import replace

from compiler.ir.distribution import Partial, Sharded

from compiler.ir.init import Const, Values
from compiler.ir.program import Program
from compiler.ir.stage import Load
from compiler.ir.tensor import ValueRange
from tests.compiler.programs import changed, without
from tests.mutation.mutation import breaks
from tests.mutation.parts import loads, slices


def piece_changed(program: Program, name: str, **changes: object) -> Program:
    piece = program.tensor_by_name[name].slice_of
    assert piece is not None
    return changed(program, name, slice_of=replace(piece, **changes))


@breaks("well formed: UnknownName")
def a_slice_is_dropped(program: Program) -> Program | None:
    names = slices(program, program.chip_count - 1)
    return without(program, names[0]) if names else None


@breaks(
    "partition: which another slice of",
    "reduced once: ",
    "distribution: ContributionRepeated",
)
def the_first_slice_is_held_twice(program: Program) -> Program | None:
    """The last chip holds the first slice too, and its buffers say so on the way to the home."""
    chip, count = program.chip_count - 1, program.chip_count
    for name in slices(program, chip):
        program = piece_changed(program, name, index=0)
    for buffer in program.buffers if chip else ():
        held = buffer.distribution
        if held == Sharded("k", chip, count):
            held = Sharded("k", 0, count)
        elif isinstance(held, Partial) and chip in held.contributions:
            held = Partial(tuple(sorted({0, *held.contributions} - {chip})), count)
        program = changed(program, buffer.name, distribution=held)
    return program if chip else None


@breaks("distribution: SliceMismatch", "reduced once: contraction with block")
def slices_of_one_operand_are_swapped(program: Program) -> Program | None:
    if program.chip_count == 1:
        return None
    for chip, name in ((0, slices(program, 0)[0]), (1, slices(program, 1)[0])):
        pages = next(load.outs[0] for load in loads(program) if load.kind.tensor == name)
        held = Sharded("k", 1 - chip, program.chip_count)
        program = changed(program, pages, distribution=held)
        program = piece_changed(program, name, index=1 - chip)
    return program


@breaks("distribution: DistributionMismatch")
def slices_of_both_operands_are_swapped_without_a_word(program: Program) -> Program | None:
    if program.chip_count == 1:
        return None
    moved = {name: 1 - chip for chip in (0, 1) for name in slices(program, chip)}
    for name, index in moved.items():
        program = piece_changed(program, name, index=index)
    return program


@breaks("partition: not along the contraction", "distribution: SliceAxis")
def a_slice_is_cut_along_a_result_axis(program: Program) -> Program | None:
    names = slices(program, program.chip_count - 1)
    return piece_changed(program, names[0], axis="rows") if names else None


@breaks("partition: of 9, but")
def a_slice_counts_nine_where_there_are_fewer(program: Program) -> Program | None:
    names = slices(program, 0)
    return piece_changed(program, names[0], count=9) if names else None


@breaks("partition: are in no slice", "distribution: SliceIndex")
def a_slice_stands_behind_the_last(program: Program) -> Program | None:
    names = slices(program, program.chip_count - 1)
    for name in names:
        program = piece_changed(program, name, index=program.chip_count)
    return program if names else None


@breaks("partition: end at", "distribution: ClaimMismatch")
def a_slice_lacks_its_last_elements(program: Program) -> Program | None:
    names = slices(program, program.chip_count - 1)
    if not names:
        return None
    return changed(program, names[0], cols=program.tensor_by_name[names[0]].cols - 1)


@breaks("partition: slices", "reduced once: is no operand of the claim")
def a_slice_forgets_what_it_is_a_slice_of(program: Program) -> Program | None:
    names = slices(program, program.chip_count - 1)
    return changed(program, names[1], slice_of=None) if names else None


@breaks("capacity: RemoteTensor", "distribution: DistributionMismatch")
def a_chip_loads_the_slice_of_its_neighbour(program: Program) -> Program | None:
    if program.chip_count == 1:
        return None
    first, second = loads(program)[0], loads(program)[2]
    assert isinstance(first.kind, Load)
    assert isinstance(second.kind, Load)
    return changed(program, second.name, kind=replace(second.kind, tensor=first.kind.tensor))


@breaks("capacity: RemoteTensor")
def a_slice_lies_in_the_memory_of_another_chip(program: Program) -> Program | None:
    names = slices(program, program.chip_count - 1)
    return changed(program, names[0], chip=0) if names else None


@breaks("range: behind element")
def the_padding_holds_values(program: Program) -> Program | None:
    """Both operands go on with ones where the contraction has ended."""
    names = slices(program, program.chip_count - 1)
    if not program.claim.k_pad or not names:
        return None
    for name in names:
        tensor = program.tensor_by_name[name]
        program = changed(program, name, init=Values((1,) * (tensor.rows * tensor.cols)))
    return program


@breaks("range: which is outside of", "distribution: FillRange")
def an_operand_holds_more_than_it_promises(program: Program) -> Program | None:
    load = loads(program)[-1]
    assert isinstance(load.kind, Load)
    return changed(program, load.kind.tensor, init=Const(128))


@breaks("range: of one operand")
def a_slice_promises_less_than_the_others(program: Program) -> Program | None:
    names = slices(program, program.chip_count - 1)
    return changed(program, names[0], value_range=ValueRange(-1, 1)) if names else None
