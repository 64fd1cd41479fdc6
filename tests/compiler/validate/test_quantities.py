"""Quantities: what has no size is refused before anything is computed from it."""

from dataclasses import replace

from compiler.ir.buffer import Depth
from compiler.ir.dtype import DType
from compiler.ir.program import Program
from compiler.ir.tensor import Part
from tests.compiler.programs import changed, compiled, sharded
from tests.compiler.validate.mutants import (
    Mutant,
    assert_every_rule_has_a_mutant,
    assert_refused,
    parametrize,
)

ONE = compiled()
FOUR = sharded(4)
NOTHING = DType("int0", 0)


def shaped(text: str, **changes: int) -> Mutant:
    return Mutant(f"{changes}", changed(FOUR, "c1.a", **changes), "TensorShape", "c1.a", text)


def linked(text: str, **changes: int) -> Mutant:
    return Mutant(f"{changes}", changed(FOUR, "c1->c0", **changes), "LinkShape", "c1->c0", text)


def typed(what: str, program: Program, subject: str) -> Mutant:
    text = f"{subject!r} has elements of type int0, which must have at least 1 bit, not 0"
    return Mutant(what, program, "TypeWidth", subject, text)


def numerics(**changes: DType) -> Program:
    return replace(ONE, numerics=replace(ONE.numerics, **changes))


PAGE = FOUR.buffer_by_name["c1.partial"].page

MUTANTS = (
    Mutant(
        "tiles of another size than the program's",
        changed(ONE, "b", tile=4),
        "TensorTile",
        "b",
        "tensor 'b' has tiles of 4, the program of 8",
    ),
    Mutant(
        "tiles of nothing",
        replace(ONE, tile=0, tensors=tuple(replace(t, tile=0) for t in ONE.tensors)),
        "TensorTile",
        "a",
        "has tiles of 0",
    ),
    Mutant(
        "a part that begins before the first row",
        changed(FOUR, "c1.a", part=Part("a", -8, 0)),
        "TensorPart",
        "c1.a",
        "is said to be a[-8, 0]; a part begins at row 0 and column 0, or behind",
    ),
    Mutant(
        "a part that begins before the first column",
        changed(FOUR, "c1.a", part=Part("a", 0, -1)),
        "TensorPart",
        "c1.a",
        "is said to be a[0, -1]",
    ),
    Mutant(
        "no room",
        changed(FOUR, "c0.landing_0", depth=Depth(0)),
        "BufferDepth",
        "c0.landing_0",
        "must hold at least 1 page, not 0",
    ),
    Mutant(
        "less than no room",
        changed(FOUR, "c0.landing_0", depth=Depth(-1)),
        "BufferDepth",
        "c0.landing_0",
        "must hold at least 1 page, not -1",
    ),
    shaped("tensor 'c1.a' must have at least 1 element, not 0 x 16", rows=0),
    shaped("must have at least 1 element, not 16 x -8", cols=-8),
    typed("operands of no bits", numerics(operand=NOTHING), ONE.name),
    typed("sums of no bits", numerics(total=NOTHING), ONE.name),
    typed("a tensor of no bits", changed(FOUR, "c1.b", dtype=NOTHING), "c1.b"),
    typed(
        "pages of no bits",
        changed(FOUR, "c1.partial", page=replace(PAGE, dtype=NOTHING)),
        "c1.partial",
    ),
    linked("at least 1 bit, 1 cycle and 1 cycle a flit, not 0 bits, 8 cycles and", width_bits=0),
    linked("not 256 bits, 0 cycles and 1 cycles a flit", latency_cycles=0),
    linked("not 256 bits, 8 cycles and 0 cycles a flit", flit_cycles=0),
)


@parametrize(MUTANTS)
def test_what_has_no_size_is_refused(mutant):
    assert_refused(mutant)


def test_every_rule_of_quantities_has_a_mutant():
    assert_every_rule_has_a_mutant("quantities", MUTANTS)
