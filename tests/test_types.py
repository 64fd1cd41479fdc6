"""What is certified is computed exactly, whatever the types that a program states."""

import random
from dataclasses import replace

import numpy as np
import pytest

from compiler.check import certified, check
from compiler.ir.dtype import BF16, FP8, FP32, INT8, INT16, INT32, INT64, DType, integer
from compiler.ir.tensor import ValueRange
from compiler.workload import MatmulSpec
from sim.binding import bind
from sim.errors import ElementTypeError, InexactValueError
from sim.interpreter import interpret
from sim.simulate import simulate
from tests.mutation.certified import completed
from tests.programs import finished
from tests.retyped import retyped

STRANGE = (
    DType("int8", 16),
    DType("int16", 8),
    DType("uint8", 8),
    DType("uint8", 8, "uint"),
    DType("int8", 8, "float"),
    DType("fp32", 32),
    DType("int128", 128),
)
KNOWN = (integer(1), integer(4), integer(7), INT8, integer(9), INT16, INT32, INT64)
FLOATS = (FP8, BF16, FP32)
WIDTHS = (integer(1), integer(18), integer(19), integer(20), INT32, integer(33), INT64)
OPERANDS = (*KNOWN, *FLOATS, *STRANGE)
TOTALS = (*WIDTHS, *FLOATS, *STRANGE)
CASES = [(operand, INT32) for operand in OPERANDS] + [(INT8, total) for total in TOTALS]


def typed(tile: int, chips: int, operand: DType, total: DType):
    """A program whose records agree on its types, down to its memory and its times."""
    program = finished(MatmulSpec(2 * tile, 3, 6 * tile), chips=chips, tile=tile)
    return completed(retyped(program, operand=operand, total=total))


@pytest.mark.covers("values")
@pytest.mark.parametrize(("operand", "total"), CASES, ids=lambda dtype: repr(dtype)[6:-1])
@pytest.mark.parametrize("chips", [1, 2])
@pytest.mark.parametrize("tile", [1, 2])
def test_a_program_is_refused_by_the_name_of_its_type_or_exact(tile, chips, operand, total):
    program = typed(tile, chips, operand, total)
    certificate = check(program)
    said = {o.name: o.violations[0].partition(":")[0] for o in certificate.violated}
    if STRANGE.count(operand) or STRANGE.count(total):
        assert said["well formed"] == "TypeUnknown"
    elif operand != INT8:
        assert said["capacity"] == "OperandType"
    elif total.kind != "int" or not 2 <= total.bits <= 32:
        assert said["capacity"] == "SumType"
    elif 2 ** (total.bits - 1) <= 6 * tile * 128 * 128:
        assert "range" in said
    else:
        assert certificate.holds
        least = np.full((2 * tile, 6 * tile), -128), np.full((6 * tile, 3), -128)
        result = simulate(certified(program), *least)
        assert result.c.tolist() == (least[0] @ least[1]).tolist()
        assert (result.exact, result.cycles) == (True, program.schedule.cycles)


@pytest.mark.parametrize("tile", [1, 2, 4])
def test_operands_of_16_bits_have_nothing_else_against_them(tile):
    """All else holds: without the rule, the machine would multiply the low 8 bits alone."""
    program = typed(tile, 2, INT16, INT32)
    (violated,) = check(program).violated
    assert (violated.name, violated.violations) == (
        "capacity",
        (f"OperandType: {program.name!r} multiplies int16, but tile units multiply int8",),
    )


@pytest.mark.parametrize("seed", range(5))
def test_values_beyond_int8_are_named_where_a_program_would_let_them_in(seed):
    """Unchecked, it promises operands of 16 bits. What reads them still changes none of them."""
    rng = random.Random(seed)
    program = typed(1, 2, INT16, INT32)
    span = ValueRange(INT16.low, INT16.high)
    tensors = (replace(t, value_range=span) if t.dtype == INT16 else t for t in program.tensors)
    program = replace(program, tensors=tuple(tensors))
    a, b = np.zeros((2, 6), np.int16), np.zeros((6, 3), np.int16)
    row, col, value = rng.randrange(2), rng.randrange(6), rng.choice([128, -129, 300, 32767])
    a[row, col] = value
    for reads in (bind, interpret):
        with pytest.raises(InexactValueError) as error:
            reads(program, a, b)
        assert str(error.value) == (
            f"operand a holds {value} at ({row}, {col}), which int8 does not hold: "
            f"its values are -128 to 127"
        )


@pytest.mark.parametrize("total", [integer(33), INT64, FP32, DType("int128", 128)], ids=str)
def test_the_interpreter_takes_no_sums_that_it_could_not_wrap(total):
    program = typed(1, 2, INT8, total)
    with pytest.raises(ElementTypeError) as error:
        interpret(program, np.ones((2, 6), int), np.ones((6, 3), int))
    assert str(error.value) == (
        f"buffer 'c0.partial' holds {total}, which the machine does not compute with; "
        f"it multiplies int8 and sums in int2 to int32"
    )
