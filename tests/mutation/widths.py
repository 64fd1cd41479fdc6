"""Value ranges and the widths of types."""

from dataclasses import replace

from compiler.ir.dtype import INT16, integer
from compiler.ir.program import Program
from compiler.ir.tensor import Tensor, ValueRange
from tests.compiler.programs import changed
from tests.mutation.mutation import breaks
from tests.mutation.parts import last_product, operands_on, sums


def needed_bits(program: Program) -> int:
    """Bits of a two's complement sum of all products of operands in [-128, 127]."""
    return (program.claim.k * 128 * 128).bit_length() + 1


def outputs(program: Program) -> tuple[Tensor, ...]:
    """Parts of what the program makes."""
    return program.tensors_of[program.claim.output]


def page_of(program: Program, buffer: str, bits: int) -> Program:
    page = program.buffer_by_name[buffer].page
    return changed(program, buffer, page=replace(page, dtype=integer(bits)))


@breaks("range: which need")
def all_sums_are_one_bit_too_narrow(program: Program) -> Program | None:
    """Accumulators, partial sums, link words and results alike, with a range that they hold."""
    dtype = integer(needed_bits(program) - 1)
    for output in outputs(program):
        span = output.value_range
        span = ValueRange(max(span.low, dtype.low), min(span.high, dtype.high))
        program = changed(program, output.name, dtype=dtype, value_range=span)
    for buffer in sums(program):
        program = page_of(program, buffer.name, dtype.bits)
    return replace(program, numerics=replace(program.numerics, total=dtype))


@breaks("range: which need", "layout: PageShape")
def one_accumulator_is_one_bit_too_narrow(program: Program) -> Program | None:
    left, _ = operands_on(program, program.chip_count - 1)
    _, products = program.real_shape(left)
    bits = (products * 128 * 128).bit_length()
    return page_of(program, last_product(program).outs[0], bits)


@breaks("layout: PageShape")
def one_buffer_is_one_bit_narrower_than_the_sums(program: Program) -> Program | None:
    buffer = sums(program)[-1]
    return page_of(program, buffer.name, buffer.page.dtype.bits - 1)


@breaks("layout: PageShape")
def a_page_has_fewer_beats(program: Program) -> Program | None:
    buffer = sums(program)[-1]
    page = replace(buffer.page, beats=buffer.page.beats - 1)
    return changed(program, buffer.name, page=page)


@breaks("range: but the sums reach")
def the_output_promises_less_than_the_sums_reach(program: Program) -> Program | None:
    output = outputs(program)[-1]
    span = replace(output.value_range, high=output.value_range.high - 1)
    return changed(program, output.name, value_range=span)


@breaks("range: does not hold", "layout: ValueRange")
def an_operand_promises_more_than_its_type_holds(program: Program) -> Program | None:
    for tensor in program.tensors:
        if tensor not in outputs(program):
            program = changed(program, tensor.name, value_range=ValueRange(-129, 127))
    return program


@breaks("layout: ValueMismatch")
def an_operand_is_wider_than_the_arrays(program: Program) -> Program | None:
    left, _ = operands_on(program, 0)
    return changed(program, left.name, dtype=INT16)


@breaks("layout: ValueMismatch")
def the_arrays_are_wider_than_the_operands(program: Program) -> Program | None:
    return replace(program, numerics=replace(program.numerics, operand=INT16))


@breaks("well formed: TypeWidth")
def sums_have_no_bits(program: Program) -> Program | None:
    return replace(program, numerics=replace(program.numerics, total=integer(0)))


@breaks("well formed: TensorTile")
def tiles_have_no_size(program: Program) -> Program | None:
    return replace(program, tile=0)


@breaks("well formed: TensorShape")
def an_operand_has_no_rows(program: Program) -> Program | None:
    return changed(program, program.tensors[0].name, rows=0)
