"""Types: those that do not exist, and those that the machine does not compute with, are refused."""

from dataclasses import replace

import pytest

from compiler.check import check
from compiler.ir.dtype import BF16, FP8, FP32, INT8, INT16, INT32, INT64, DType, integer
from compiler.ir.init import ConstFloat, FloatValues, Init, RandomBf16
from compiler.ir.program import Program
from tests.compiler.programs import changed, compiled, sharded
from tests.compiler.validate.mutants import (
    Mutant,
    assert_every_rule_has_a_mutant,
    assert_refused,
    parametrize,
)
from tests.retyped import retyped

ONE = compiled()
FOUR = sharded(4)
PAGE = FOUR.buffer_by_name["c1.partial"].page

LIES = (
    DType("int8", 16),
    DType("int16", 8),
    DType("int08", 8),
    DType("int", 8),
    DType("uint8", 8),
    DType("uint8", 8, "uint"),
    DType("int8", 8, "uint"),
    DType("int8", 8, "float"),
    DType("int8", 8, ""),
    DType("int65", 65),
    DType("int1000", 1000),
    DType("bf16", 16),
    DType("bf16", 32, "float"),
    DType("fp16", 16, "float"),
    DType("float32", 32, "float"),
    DType("fp32", 32, "complex"),
    DType("", 8),
)
NOT_MULTIPLIED = (integer(1), integer(4), integer(7), integer(9), INT16, INT32, INT64)
FLOATS = (FP8, BF16, FP32)
NOT_SUMMED = (integer(1), integer(33), INT64, *FLOATS)


def unknown(dtype: DType) -> Mutant:
    text = (
        f"'c1.b' has elements of type {dtype.name!r}, {dtype.bits} bits, kind {dtype.kind!r}; "
        f"there is no such type: int1 to int64 have kind 'int' and as many bits as their names say"
    )
    program = changed(FOUR, "c1.b", dtype=dtype)
    return Mutant(f"{dtype!r}", program, "TypeUnknown", "c1.b", text)


def multiplied(dtype: DType) -> Mutant:
    text = f"{FOUR.name!r} multiplies {dtype}, but tile units multiply int8"
    program = retyped(FOUR, operand=dtype)
    return Mutant(f"all operands of {dtype}", program, "OperandType", FOUR.name, text)


def summed(dtype: DType) -> Mutant:
    text = f"{FOUR.name!r} sums in {dtype}, but the machine sums in signed integers of 2 to 32 bits"
    program = retyped(FOUR, total=dtype)
    return Mutant(f"all sums of {dtype}", program, "SumType", FOUR.name, text)


def filled(init: Init) -> Mutant:
    text = f"tensor 'a' of int8 is filled with floats ({type(init).__name__}); give it integers"
    return Mutant(f"{type(init)}", changed(ONE, "a", init=init), "FillType", "a", text)


MUTANTS = (
    *map(unknown, LIES),
    *map(multiplied, (*NOT_MULTIPLIED, *FLOATS)),
    *map(summed, NOT_SUMMED),
    filled(ConstFloat(1.0)),
    filled(FloatValues((0.0,) * 16 * 64)),
    filled(RandomBf16(1)),
)


@parametrize(MUTANTS)
def test_a_type_that_is_none_or_not_the_machines_is_refused(mutant):
    assert_refused(mutant)


def test_every_rule_of_types_has_a_mutant():
    assert_every_rule_has_a_mutant("types", MUTANTS)


@pytest.mark.parametrize("place", ["operand", "total"])
@pytest.mark.parametrize("dtype", LIES, ids=repr)
def test_a_type_that_is_none_is_refused_wherever_it_stands(dtype, place):
    programs: dict[str, Program] = {
        "all": retyped(FOUR, **{place: dtype}),
        "numerics": replace(ONE, numerics=replace(ONE.numerics, **{place: dtype})),
        "tensor": changed(FOUR, "c1.a" if place == "operand" else "c", dtype=dtype),
        "page": changed(FOUR, "c1.partial", page=replace(PAGE, dtype=dtype)),
    }
    for where, program in programs.items():
        (well_formed, *_) = check(program).violated
        assert well_formed.name == "well formed", where
        assert "TypeUnknown: " in well_formed.violations[0], where


def test_every_type_that_the_machine_sums_in_is_accepted():
    for bits in range(2, 33):
        certificate = check(retyped(FOUR, total=integer(bits)))
        # What the sums need, and how long their pages take, is another question.
        assert {o.name for o in certificate.violated} <= {"range", "layout", "schedule"}
        for text in (text for o in certificate.violated for text in o.violations):
            assert not text.startswith("SumType")


def test_the_types_of_compiled_programs_are_the_machines():
    assert (FOUR.numerics.operand, FOUR.numerics.total) == (INT8, INT32)
    assert check(FOUR).holds
