"""Shapes: what does not fit the product that the program claims to compute is refused."""

from dataclasses import replace

import pytest

from compiler.ir.buffer import Page
from compiler.ir.dtype import INT8, INT16, INT32
from compiler.ir.init import Const, External, FloatValues, Pattern, Values, Zero
from compiler.ir.program import Program
from compiler.ir.tensor import TensorRole, ValueRange
from compiler.validate import validate
from tests.compiler.programs import TOKEN, changed, compiled, sharded
from tests.compiler.validate.mutants import (
    Mutant,
    assert_every_rule_has_a_mutant,
    assert_refused,
    parametrize,
)

ONE = compiled()
FOUR = sharded(4)


def claimed(what: str, name: str, text: str, program: Program = ONE, **changes: object) -> Mutant:
    return Mutant(what, changed(program, name, **changes), "ClaimMismatch", name, text)


def claims(**changes: object) -> Program:
    return replace(ONE, claim=replace(ONE.claim, **changes))


def filled(what: str, rule: str, text: str, **changes: object) -> Mutant:
    return Mutant(what, changed(ONE, "a", **changes), rule, "a", text)


def paged(what: str, buffer: str, page: Page) -> Mutant:
    text = f"buffer {buffer!r} holds pages of {page}, but"
    return Mutant(what, changed(FOUR, buffer, page=page), "PageShape", buffer, text)


def works(rule: str, text: str, **changes: object) -> Mutant:
    assert FOUR.work is not None
    what = " and ".join(changes)
    program = replace(FOUR, work=replace(FOUR.work, **changes))
    return Mutant(what, program, rule, FOUR.name, text)


MUTANTS = (
    claimed("fewer rows", "a", "'a' is input of 8 x 64 int8", rows=8),
    claimed("fewer columns", "b", "claims to be input of 64 x 16 int8", cols=8),
    claimed("an output of other rows", "c", "claims to be output of 16 x 16 int32", rows=24),
    claimed("an output of operands' type", "c", "'c' is output of 16 x 16 int8", dtype=INT8),
    claimed("an output as an input", "c", "'c' is input of 16", role=TensorRole.INPUT),
    claimed("an operand of sums' type", "a", "'a' is input of 16 x 64 int32", dtype=INT32),
    claimed("padding that is not claimed", "a", "with (0, 8) of padding", pad=(0, 8)),
    claimed("a narrow slice", "c1.a", "4 of it do not make up 'a'", FOUR, cols=8),
    claimed("a short slice", "c1.b", "4 of it do not make up 'b'", FOUR, rows=8),
    claimed("a slice of fewer columns", "c1.b", "4 of it do not make up 'b'", FOUR, cols=8),
    claimed("a padded slice", "c1.b", "with (8, 0) of padding", FOUR, pad=(8, 0)),
    Mutant("more is claimed along m", claims(m=24), "ClaimMismatch", "a", "of 24 x 64 int8"),
    Mutant("less is claimed along k", claims(k=56), "ClaimMismatch", "a", "of 16 x 56 int8"),
    Mutant("less is claimed along n", claims(n=8), "ClaimMismatch", "b", "of 64 x 8 int8"),
    filled(
        "a range that the type does not hold",
        "ValueRange",
        "is said to hold values in [-129, 127], which int8 does not hold",
        value_range=ValueRange(-129, 127),
    ),
    filled("a constant", "FillRange", "values in [128, 128], but", init=Const(128)),
    filled("a pattern, low", "FillRange", "values in [-129, -126], but", init=Pattern(4, 129)),
    filled("a pattern, high", "FillRange", "values in [0, 129], but", init=Pattern(130, 0)),
    filled("a pattern of no values", "FillRange", "values in [0, -1], but", init=Pattern(0, 0)),
    filled("values", "FillRange", "[0, 128]", init=Values((*[0] * 1023, 128))),
    filled(
        "a constant beyond what was promised",
        "FillRange",
        "values in [2, 2], but said to hold values in [-1, 1]",
        value_range=ValueRange(-1, 1),
        init=Const(2),
    ),
    filled(
        "too few values", "FillLength", "lists 1023 values for 16 x 64", init=Values((0,) * 1023)
    ),
    filled("too many floats", "FillLength", "lists 1025 values", init=FloatValues((0.0,) * 1025)),
    Mutant(
        "a slice that states its values beside others that the host supplies",
        changed(FOUR, "c2.b", init=Zero()),
        "FillMixed",
        "c2.b",
        "'c0.b' is supplied by the host, and 'c2.b', another slice of one operand, states its",
    ),
    paged("a page of fewer beats", "c1.partial", Page(4, 8, INT32)),
    paged("a page of fewer lanes", "c1.partial", Page(8, 4, INT32)),
    paged("a page of narrower sums", "c0.landing_0", Page(8, 8, INT16)),
    paged("a page of wider operands", "c0.a_pages", Page(8, 8, INT16)),
    Mutant(
        "no room",
        changed(FOUR, "c0.landing_0", depth_pages=0),
        "BufferDepth",
        "c0.landing_0",
        "must hold at least 1 page, not 0",
    ),
    Mutant(
        "less than no room",
        changed(FOUR, "c0.landing_0", depth_pages=-1),
        "BufferDepth",
        "c0.landing_0",
        "must hold at least 1 page, not -1",
    ),
    works("WorkOrder", "the loop order must be mn or nm, not 'mk'", order="mk"),
    works("WorkPlan", "counts (3, 2, 2) tiles along m, n and a chip's k", m_tiles=3),
    works("WorkPlan", "the tensors have (2, 2, 2)", n_tiles=1),
    works("WorkPlan", "counts (2, 2, 8)", k_blocks=8),
)


@parametrize(MUTANTS)
def test_what_does_not_fit_the_claim_is_refused(mutant):
    assert_refused(mutant)


def test_every_rule_of_shapes_has_a_mutant():
    assert_every_rule_has_a_mutant("shapes", MUTANTS)


@pytest.mark.parametrize(
    "init",
    [
        Zero(),
        External(),
        Const(-128),
        Pattern(256, 128),
        Pattern(1000, 0),
        Values((*range(-128, 128),) * 4),
    ],
    ids=lambda init: type(init).__name__,
)
def test_fills_within_the_range_are_accepted(init):
    small = compiled(m=2, n=8, k=8) if init == Pattern(1000, 0) else ONE
    validate(changed(small, "a", init=init), TOKEN)
