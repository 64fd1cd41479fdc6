"""Partition: the slices cover the contraction exactly once, and whatever keeps them from it."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.check.partition import partition
from compiler.ir.program import Program
from tests.compiler.programs import changed, compiled, sharded, without

FOUR = sharded(4)
EXTENT, SLICE = 64, 16


def with_indices(a: list[int], b: list[int]) -> Program:
    """A program whose chips say that they hold these slices of A and of B."""
    program = FOUR
    for operand, indices in (("a", a), ("b", b)):
        for chip, index in enumerate(indices):
            name = f"c{chip}.{operand}"
            piece = program.tensor_by_name[name].slice_of
            program = changed(program, name, slice_of=replace(piece, index=index))
    return program


def covered_once(indices: list[int]) -> bool:
    held = [element for i in indices for element in range(i * SLICE, (i + 1) * SLICE)]
    return sorted(held) == list(range(EXTENT))


def said_of(program: Program) -> tuple[str, ...]:
    obligation = partition(program)
    assert obligation.holds == (not obligation.violations)
    return obligation.violations


@pytest.mark.parametrize("chips", [1, 2, 3, 4, 8])
def test_what_the_compiler_slices_is_covered(chips):
    program = sharded(chips) if chips > 1 else compiled()
    obligation = partition(program)
    assert obligation.holds
    extent = program.claim.k + program.claim.k_pad
    assert obligation.evidence == (("contraction extent", extent), ("slices", chips))


@pytest.mark.parametrize("seed", range(20))
def test_slices_cover_exactly_if_each_element_is_in_one(seed):
    rng = random.Random(seed)
    a, b = ([rng.randrange(-1, 5) for _ in range(4)] for _ in "ab")
    expected = covered_once(a) and covered_once(b)
    assert partition(with_indices(a, b)).holds == expected


@given(a=st.permutations(range(4)), b=st.permutations(range(4)))
def test_slices_may_lie_on_any_chip(a, b):
    """That both operands of a product hold the same one is another obligation."""
    assert partition(with_indices(a, b)).holds


@pytest.mark.parametrize(
    ("indices", "text"),
    [
        ([0, 1, 3, 3], "c3.a holds elements from 48 on, which another slice of a holds too"),
        ([0, 1, 3, 3], "elements 32 to 47 of a's contraction are in no slice"),
        ([1, 2, 3, 4], "elements 0 to 15 of a's contraction are in no slice"),
        ([0, 1, 2, 2], "the slices of a end at 48 of 64"),
        ([0, 1, 2, 4], "the slices of a end at 80 of 64"),
    ],
)
def test_holes_and_overlaps_are_named(indices, text):
    assert text in said_of(with_indices(indices, [0, 1, 2, 3]))


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (changed(FOUR, "c1.a", rows=8), "c1.a has 8 rows of 16"),
        (changed(FOUR, "c1.b", cols=24), "c1.b has 24 columns of 16"),
        (without(FOUR, "c3.b"), "a has 4 slices and b has 3 slices"),
        (without(FOUR, "c3.b"), "c0.b is slice 0 of 4, but 3 exist"),
        (
            replace(FOUR, claim=replace(FOUR.claim, left="z")),
            "no tensor holds z or a slice of it",
        ),
        (
            replace(FOUR, claim=replace(FOUR.claim, k=72)),
            "the slices of b end at 64 of 72",
        ),
        (
            changed(
                FOUR,
                "c1.a",
                slice_of=replace(FOUR.tensor_by_name["c1.a"].slice_of, axis="rows"),
            ),
            "c1.a is a slice along rows, not along the contraction (cols)",
        ),
        (
            changed(FOUR, "c2.a", cols=24),
            "the slices of a end at 72 of 64",
        ),
        (
            replace(compiled(), tensors=(*compiled().tensors, FOUR.tensors[0])),
            "a holds elements from 0 on, which another slice of a holds too",
        ),
    ],
)
def test_whatever_keeps_slices_from_covering_is_said(program, text):
    assert text in said_of(program)
