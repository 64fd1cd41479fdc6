"""Shapes: tensors that are no part of their value, and pages that are no tiles, are refused."""

from dataclasses import replace

import pytest

from compiler.errors import ValidationError
from compiler.ir.buffer import Page
from compiler.ir.dtype import INT8, INT16, INT32
from compiler.ir.init import Const, External, FloatValues, Pattern, Values, Zero
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Merge, Stage
from compiler.ir.tensor import Part, TensorRole, ValueRange
from compiler.validate import validate
from compiler.validate.shapes import check_shapes
from tests.compiler.programs import TOKEN, changed, compiled, sharded, spread
from tests.compiler.validate.mutants import (
    Mutant,
    assert_every_rule_has_a_mutant,
    assert_refused,
    parametrize,
)

ONE = compiled()
TWO = sharded(2)
FOUR = sharded(4)
ALL = spread(mesh=Mesh(tp=3), k=48, result="all")
BOTH = spread(mesh=Mesh(tp=2), shard=())


def unlike(what: str, name: str, text: str, program: Program = ONE, **changes: object) -> Mutant:
    return Mutant(what, changed(program, name, **changes), "ValueMismatch", name, text)


def outside(what: str, name: str, text: str, program: Program = ONE, **changes: object) -> Mutant:
    return Mutant(what, changed(program, name, **changes), "PartOutside", name, text)


def filled(what: str, rule: str, text: str, **changes: object) -> Mutant:
    return Mutant(what, changed(ONE, "a", **changes), rule, "a", text)


def paged(what: str, buffer: str, page: Page, program: Program = FOUR) -> Mutant:
    text = f"buffer {buffer!r} holds pages of {page}, but"
    return Mutant(what, changed(program, buffer, page=page), "PageShape", buffer, text)


MUTANTS = (
    outside("rows behind the last", "c", "it ends at row 24 and column 16, and 'c' at", rows=24),
    outside("columns behind the last", "b", "ends at row 64 and column 17, and 'b' at 64", cols=17),
    outside(
        "a slice that begins too late",
        "c3.a",
        "is said to be a[0, 56]; it ends at row 16 and column 72, and 'a' at 16 and 64",
        FOUR,
        part=Part("a", 0, 56),
    ),
    outside(
        "a slice of another row",
        "c1.b",
        "'c1.b' of 16 x 16 elements is said to be b[16, 1]; it ends at row 32 and column 17",
        FOUR,
        part=Part("b", 16, 1),
    ),
    unlike("an output of operands' type", "c", "'c' is output of int8, but a part", dtype=INT8),
    unlike("an output as an input", "c", "which is output of int32", role=TensorRole.INPUT),
    unlike("an operand of sums' type", "a", "'a' is input of int32, but a part of", dtype=INT32),
    unlike("an operand as an output", "a", "'a', which is input of", role=TensorRole.OUTPUT),
    unlike(
        "an operand as a part of the output",
        "a",
        "'a' is input of int8, but a part of 'c', which is output of int32",
        part=Part("c"),
    ),
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
        "'c0.b' is supplied by the host, and 'c2.b', another part of 'b', states its",
    ),
    Mutant(
        "two chips that hold the same part and state different values",
        changed(changed(BOTH, "c0.a", init=Zero()), "c1.a", init=Const(1)),
        "FillDiffers",
        "c1.a",
        "tensors 'c0.a' and 'c1.a' hold the same part of 'a', a[0, 0], but state different",
    ),
    paged("a page of fewer beats", "c1.partial", Page(4, 8, INT32)),
    paged("a page of fewer lanes", "c1.partial", Page(8, 4, INT32)),
    paged("a page of narrower sums", "c0.landing_0", Page(8, 8, INT16)),
    paged("a page of wider operands", "c0.a_pages", Page(8, 8, INT16)),
    paged("a copy of other pages", "c0.kept", Page(8, 8, INT16), ALL),
)


@parametrize(MUTANTS)
def test_what_does_not_fit_its_value_is_refused(mutant):
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


def test_pages_of_two_types_are_not_put_together():
    merge = Stage("merge", Merge((0, 1)), ("c0.a_pages", "c0.partial"), ("mixed",))
    mixed = replace(TWO.buffer_by_name["c0.a_pages"], name="mixed")
    program = replace(TWO, stages=(*TWO.stages, merge), buffers=(*TWO.buffers, mixed))
    with pytest.raises(ValidationError) as refusal:
        check_shapes(program)
    assert (refusal.value.rule, refusal.value.subject) == ("PageShape", "c0.partial")
    assert str(refusal.value).endswith(
        "holds pages of 8 beats x 8 int32, but 'merge' takes pages of 8 beats x 8 int8, columns"
    )
