"""Partition: the parts of every value are those of its layout, and whatever keeps them from it."""

import random
from dataclasses import replace
from itertools import product

import pytest

from compiler.check.partition import partition
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.tensor import Part
from tests.compiler.programs import changed, compiled, sharded, spread, without

FOUR = sharded(4)
EXTENT, SLICE = 64, 16
AXES = {"m": "x", "n": "y", "k": "z"}


def with_indices(a: list[int], b: list[int]) -> Program:
    """A program whose chips say that they hold these slices of A and of B."""
    program = FOUR
    for chip, (left, right) in enumerate(zip(a, b, strict=True)):
        program = changed(program, f"c{chip}.a", part=Part("a", 0, left * SLICE))
        program = changed(program, f"c{chip}.b", part=Part("b", right * SLICE, 0))
    return program


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


@pytest.mark.parametrize("cut", ["", "m", "n", "k", "mn", "mk", "kn", "mnk"])
def test_slices_along_every_axis_of_a_mesh_are_counted(cut):
    """Rows over 2 chips, columns over 3, contraction over 4, as far as they are cut at all."""
    sizes = {"m": 2, "n": 3, "k": 4}
    program = spread(
        32, 24, 32, mesh=Mesh(x=2, y=3, z=4), shard=tuple((dim, AXES[dim]) for dim in cut)
    )
    obligation = partition(program)
    assert obligation.holds
    called = {"m": "slices of rows", "n": "slices of columns"}
    free = tuple((called[dim], sizes[dim]) for dim in "mn" if dim in cut)
    slices = ("slices", sizes["k"] if "k" in cut else 1)
    assert obligation.evidence == (("contraction extent", 32), slices, *free)


@pytest.mark.parametrize("seed", range(20))
def test_only_slices_that_stand_where_they_belong_are_covered(seed):
    """Whatever chips say that they hold, each must hold its own, of both operands."""
    rng = random.Random(seed)
    a, b = ([rng.randrange(-1, 5) for _ in range(4)] for _ in "ab")
    assert a != [0, 1, 2, 3]
    assert not partition(with_indices(a, b)).holds
    assert partition(with_indices([0, 1, 2, 3], b)).holds == (b == [0, 1, 2, 3])


def test_no_other_order_of_slices_is_that_of_the_chips():
    for order in product(range(4), repeat=4):
        held = list(order)
        assert partition(with_indices(held, held)).holds == (held == [0, 1, 2, 3])


@pytest.mark.parametrize(
    ("indices", "text"),
    [
        ([0, 1, 3, 3], "c3.a holds elements from 48 on, which another slice of a holds too"),
        ([0, 1, 3, 3], "elements 32 to 47 of a's contraction are in no slice"),
        ([1, 2, 3, 4], "elements 0 to 15 of a's contraction are in no slice"),
        ([0, 1, 2, 2], "the slices of a end at 48 of 64"),
        ([0, 1, 2, 4], "the slices of a end at 80 of 64"),
        ([0, 2, 1, 3], "the slices of a are not in the order of their chips along tp"),
        ([0, 2, 1, 3], "slice 1 of k is elements 32 to 47 in a, but elements 16 to 31 in b"),
    ],
)
def test_holes_and_overlaps_are_named(indices, text):
    assert text in said_of(with_indices(indices, [0, 1, 2, 3]))


def claimed(name: str, **changes: int) -> Program:
    values = (replace(v, **changes) if v.name == name else v for v in FOUR.graph.values)
    return replace(FOUR, graph=replace(FOUR.graph, values=tuple(values)))


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (changed(FOUR, "c1.a", rows=8), "c1.a has 8 rows of 16"),
        (changed(FOUR, "c1.b", cols=24), "c1.b has 24 columns of 16"),
        (without(FOUR, "c3.b"), "a has 4 slices and b has 3 slices"),
        (without(FOUR, "c3.b"), "chip 3 holds no part of b, which it must"),
        (
            without(FOUR, *(f"c{chip}.a" for chip in range(4))),
            "no tensor holds a or a slice of it",
        ),
        (claimed("b", rows=72), "the slices of b end at 64 of 72"),
        (
            changed(FOUR, "c1.a", part=Part("a", 16, 0)),
            "c1.a has 16 rows of 16, from 16 on",
        ),
        (
            changed(FOUR, "c2.a", cols=24),
            "c3.a holds elements from 48 on, which another slice of a holds too",
        ),
        (
            replace(compiled(), tensors=(*compiled().tensors, FOUR.tensors[0])),
            "chip 0 holds 2 tensors of a: a, c0.a",
        ),
        (
            changed(sharded(2), "c", chip=1),
            "c is on chip 1, which is to hold no part of c",
        ),
    ],
)
def test_whatever_keeps_slices_from_covering_is_said(program, text):
    assert text in said_of(program)
