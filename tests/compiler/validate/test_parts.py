"""Parts: what chips hold of a value otherwise than its layout says is refused."""

from dataclasses import replace

import pytest

from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.tensor import Part, Tensor
from compiler.validate.parts import wrong_parts
from tests.compiler.programs import changed, compiled, sharded, spread
from tests.compiler.validate.mutants import (
    Mutant,
    assert_every_rule_has_a_mutant,
    assert_refused,
    parametrize,
)

ONE, FOUR = compiled(), sharded(4)
GRID = spread(mesh=Mesh(row=2, col=2), shard=(("m", "row"), ("n", "col")))
"""A's rows along ``row``, B's columns along ``col``; each chip has a quarter of C."""
UNEVEN = spread(m=24, n=8, k=40, mesh=Mesh(tp=3), uneven=True)
"""Five tiles of k: chips have two, two and one."""


def moved(program: Program, *, row: int = 0, col: int = 0, only: str) -> Program:
    """A tensor that is said to begin some elements further on."""
    tensor = program.tensor_by_name[only]
    part = Part(tensor.value, tensor.part.row + row, tensor.part.col + col)
    return changed(program, only, part=part)


def extended(program: Program, *names: str, rows: int = 0, cols: int = 0) -> Program:
    for name in names:
        tensor = program.tensor_by_name[name]
        program = changed(program, name, rows=tensor.rows + rows, cols=tensor.cols + cols)
    return program


def along_k(program: Program, a: str, b: str, *, begin: int = 0, count: int = 0) -> Program:
    """Slices of both operands that begin, and end, elsewhere along the contraction."""
    program = moved(extended(program, a, cols=count), col=begin, only=a)
    return moved(extended(program, b, rows=count), row=begin, only=b)


def wrong(what: str, program: Program, value: str, text: str) -> Mutant:
    return Mutant(what, program, "Parts", value, text)


MUTANTS = (
    wrong(
        "two chips have the same slice",
        along_k(FOUR, "c2.a", "c2.b", begin=-16),
        "a",
        "c2.a holds elements from 16 on, which another slice of a holds too",
    ),
    wrong(
        "the last slice of both operands is a tile off",
        along_k(UNEVEN, "c2.a", "c2.b", begin=-8),
        "a",
        "c2.a holds elements from 24 on",
    ),
    wrong(
        "a quarter of the output, and the rows that it is made of, begin too early",
        moved(moved(GRID, row=-8, only="c2.a"), row=-8, only="c2.c"),
        "a",
        "c3.a holds elements 16 to 31 of a along m, but c2.a, which is at 1 of 2 along row too",
    ),
)


@parametrize(MUTANTS)
def test_parts_that_are_not_those_of_the_layout_are_refused(mutant):
    assert_refused(mutant)


def test_every_rule_of_parts_has_a_mutant():
    assert_every_rule_has_a_mutant("parts", MUTANTS)


def on_chip(tensor: Tensor, chip: int, name: str) -> Tensor:
    return replace(tensor, chip=chip, name=name)


def beside(program: Program, *tensors: Tensor) -> Program:
    return replace(program, tensors=(*program.tensors, *tensors))


def lacking(program: Program, *names: str) -> Program:
    return replace(program, tensors=tuple(t for t in program.tensors if t.name not in names))


C = FOUR.tensor_by_name["c"]


@pytest.mark.parametrize(
    ("program", "value", "text"),
    [
        (lacking(FOUR, "c"), "c", "no tensor holds c or a slice of it"),
        (lacking(FOUR, "c3.b"), "b", "chip 3 holds no part of b, which it must"),
        (lacking(GRID, "c3.c"), "c", "chip 3 holds no part of c, which it must"),
        (beside(FOUR, on_chip(C, 2, "again")), "c", "again is on chip 2, which is to hold no part"),
        (beside(FOUR, on_chip(C, 0, "again")), "c", "chip 0 holds 2 tensors of c: c, again"),
        (beside(FOUR, on_chip(C, 9, "again")), "c", "again is on chip 9 of 4"),
        (beside(FOUR, on_chip(C, -1, "again")), "c", "again is on chip -1 of 4"),
        (changed(FOUR, "c", chip=1), "c", "chip 0 holds no part of c, which it must"),
        (extended(FOUR, "c1.a", rows=-8), "a", "c1.a has 8 rows of 16"),
        (extended(FOUR, "c1.b", cols=8), "b", "c1.b has 24 columns of 16"),
        (moved(FOUR, row=8, only="c1.a"), "a", "c1.a has 16 rows of 16, from 8 on"),
        (
            extended(UNEVEN, "c1.a", cols=-8),
            "a",
            "elements 24 to 31 of a's contraction are in no slice",
        ),
        (extended(UNEVEN, "c2.a", cols=-3), "a", "the slices of a end at 37 of 40"),
        (extended(UNEVEN, "c2.b", rows=1), "b", "the slices of b end at 41 of 40"),
        (
            along_k(along_k(UNEVEN, "c0.a", "c0.b", count=-4), "c1.a", "c1.b", begin=-4, count=4),
            "a",
            "c1.a begins at element 12 of a, within a tile of 8",
        ),
        (
            extended(moved(UNEVEN, col=-8, only="c1.a"), "c0.a", cols=-8),
            "a",
            "elements 24 to 31 of a's contraction are in no slice",
        ),
        (
            along_k(along_k(FOUR, "c1.a", "c1.b", begin=16), "c2.a", "c2.b", begin=-16),
            "a",
            "the slices of a are not in the order of their chips along tp",
        ),
        (
            extended(moved(extended(UNEVEN, "c0.b", rows=-8), row=-8, only="c1.b"), "c1.b", rows=8),
            "b",
            "slice 1 of k is elements 16 to 31 in a, but elements 8 to 31 in b",
        ),
        (
            extended(GRID, "c0.c", "c1.c", rows=-8),
            "c",
            "elements 8 to 15 of c's rows are in no slice",
        ),
        (
            extended(GRID, "c1.b", "c3.b", cols=-8),
            "b",
            "the slices of b end at 24 of 32",
        ),
        (extended(GRID, "c3.c", cols=-8), "c", "c3.c holds elements 16 to 23 of c along n, but c1"),
    ],
)
def test_whatever_is_wrong_with_parts_is_said_of_their_value(program, value, text):
    assert any(name == value and why.startswith(text) for name, why in wrong_parts(program))


@pytest.mark.parametrize(
    "program",
    [
        ONE,
        compiled(5, 11, 3),
        FOUR,
        GRID,
        UNEVEN,
        spread(mesh=Mesh(x=2, y=3), k=48, shard=(("k", "y"),)),
    ],
    ids=lambda p: p.name,
)
def test_parts_of_compiled_programs_are_those_of_their_layouts(program):
    assert list(wrong_parts(program)) == []
