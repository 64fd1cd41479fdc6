"""Element types that the machine does not compute with, and those that are none."""

from dataclasses import replace

from compiler.ir.dtype import BF16, FP32, INT16, INT64, DType, integer
from compiler.ir.init import ConstFloat, FloatValues, RandomBf16
from compiler.ir.program import Program
from tests.compiler.programs import changed
from tests.mutation.certified import completed
from tests.mutation.mutation import breaks
from tests.mutation.parts import loads, store, sums
from tests.retyped import retyped


def filled(program: Program, init: ConstFloat | FloatValues | RandomBf16) -> Program:
    return changed(program, loads(program)[0].kind.tensor, init=init)


@breaks("capacity: OperandType")
def all_operands_have_16_bits(program: Program) -> Program | None:
    return completed(retyped(program, operand=INT16))


@breaks("capacity: OperandType")
def all_operands_have_4_bits(program: Program) -> Program | None:
    return completed(retyped(program, operand=integer(4)))


@breaks("capacity: OperandType")
def all_operands_have_64_bits(program: Program) -> Program | None:
    return completed(retyped(program, operand=INT64))


@breaks("capacity: OperandType")
def all_operands_are_floats(program: Program) -> Program | None:
    return completed(retyped(program, operand=BF16))


@breaks("capacity: SumType")
def all_sums_are_floats(program: Program) -> Program | None:
    return completed(retyped(program, total=FP32))


@breaks("capacity: SumType")
def all_sums_have_33_bits(program: Program) -> Program | None:
    return completed(retyped(program, total=integer(33)))


@breaks("capacity: SumType")
def all_sums_have_64_bits(program: Program) -> Program | None:
    return completed(retyped(program, total=INT64))


@breaks("capacity: SumType", "range: which need")
def all_sums_have_one_bit(program: Program) -> Program | None:
    return completed(retyped(program, total=integer(1)))


@breaks("well formed: TypeUnknown")
def all_operands_are_unsigned(program: Program) -> Program | None:
    return completed(retyped(program, operand=DType("uint8", 8)))


@breaks("well formed: TypeUnknown")
def all_operands_are_of_a_kind_that_does_not_exist(program: Program) -> Program | None:
    return completed(retyped(program, operand=DType("int8", 8, "unsigned")))


@breaks("well formed: TypeUnknown")
def all_operands_have_more_bits_than_their_name_says(program: Program) -> Program | None:
    return completed(retyped(program, operand=DType("int8", 16)))


@breaks("well formed: TypeUnknown")
def one_sum_has_more_bits_than_its_name_says(program: Program) -> Program | None:
    buffer = sums(program)[-1]
    dtype = replace(buffer.page.dtype, bits=buffer.page.dtype.bits + 1)
    return changed(program, buffer.name, page=replace(buffer.page, dtype=dtype))


@breaks("well formed: TypeUnknown")
def the_output_has_a_kind_that_does_not_exist(program: Program) -> Program | None:
    dtype = replace(program.numerics.total, kind="complex")
    return changed(program, store(program).kind.tensor, dtype=dtype)


@breaks("capacity: FillType")
def an_operand_is_filled_with_a_float(program: Program) -> Program | None:
    return filled(program, ConstFloat(1.0))


@breaks("capacity: FillType")
def an_operand_is_filled_with_floats(program: Program) -> Program | None:
    tensor = program.tensor_by_name[loads(program)[0].kind.tensor]
    rows, cols = program.real_shape(tensor)
    return filled(program, FloatValues((0.0,) * (rows * cols)))


@breaks("capacity: FillType")
def an_operand_is_filled_with_random_floats(program: Program) -> Program | None:
    return filled(program, RandomBf16(1))
