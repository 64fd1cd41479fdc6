"""Reduced once: every stored element sums every contraction index once, and else it is said."""

from dataclasses import replace

import pytest

from compiler.check.reduced_once import reduced_once
from compiler.ir.body import Literal, Max, Operand
from compiler.ir.program import Program
from compiler.ir.stage import MatmulTiles, Stage, Store
from compiler.ir.walk import Loop, Walk
from tests.compiler.programs import changed, compiled, cut_off, sharded, without

ONE, FOUR = compiled(), sharded(4)
RECTIFIER = Max(Operand(0), Literal(0))


def walked(stage: str, *loops: tuple[int, int], program: Program = ONE) -> Program:
    walk = Walk(tuple(Loop(count, stride) for count, stride in loops))
    kind = program.stage_by_name[stage].kind
    return changed(program, stage, kind=replace(kind, walk=walk))


def contracted(blocks: tuple[int, int]) -> Program:
    """A product of one result tile that adds these of its 4 blocks, the first one included."""
    program = compiled(8, 8, 32)
    program = changed(program, "matmul", kind=MatmulTiles(len(blocks)))
    for load in ("load_a", "load_b"):
        program = walked(load, (2, blocks[1] - blocks[0]), program=program)
    return program


@pytest.mark.parametrize("program", [ONE, compiled(5, 17, 9), FOUR, sharded(5, "star")])
def test_what_the_compiler_reduces_is_reduced_once(program):
    claim, tile = program.claim, program.tile
    tiles, blocks = -(-claim.m // tile) * -(-claim.n // tile), -(-claim.k // tile)
    obligation = reduced_once(program)
    assert obligation.holds
    assert obligation.evidence == (
        ("output tiles", tiles),
        ("contraction blocks", blocks),
        ("elements of a block", tile),
    )


@pytest.mark.parametrize("chips", [2, 3, 4, 6])
@pytest.mark.parametrize("reduce", ["star", "tree"])
def test_the_indices_of_a_chip_that_is_cut_off_are_named(chips, reduce):
    program = cut_off(sharded(chips, reduce), chips - 1)
    begin, end = 16 * (chips - 1), 16 * chips - 1
    assert reduced_once(program).violations == (
        f"output tile 0 lacks contraction indices {begin} to {end}",
    )


def test_indices_that_are_missing_and_repeated_are_named_as_ranges():
    assert reduced_once(contracted((0, 2))).violations == (
        "output tile 0 lacks contraction indices 8 to 15, 24 to 31",
    )
    again = changed(compiled(8, 8, 32), "matmul", kind=MatmulTiles(6))
    for load in ("load_a", "load_b"):
        again = walked(load, (3, 0), (2, 1), program=again)
    assert reduced_once(again).violations == (
        "output tile 0 lacks contraction indices 16 to 31",
        "output tile 0 adds contraction indices 0 to 15 3 times",
    )


def test_the_last_range_ends_where_the_contraction_does():
    program = compiled(8, 8, 20)
    program = changed(program, "matmul", kind=MatmulTiles(2))
    for load in ("load_a", "load_b"):
        program = walked(load, (2, 1), program=program)
    assert reduced_once(program).violations == ("output tile 0 lacks contraction indices 16 to 19",)


def test_the_order_of_the_contraction_does_not_matter():
    """Both operands go through the blocks as 0, 2, 4, 6, 1, 3, 5, 7."""
    program = walked("load_a", (2, 8), (2, 0), (2, 1), (4, 2))
    program = walked("load_b", (2, 0), (2, 1), (2, 2), (4, 4), program=program)
    assert reduced_once(program).holds


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (
            replace(ONE, claim=replace(ONE.claim, m=24)),
            "store_c stores 16 x 16 c, but the claim is 24 x 16 c",
        ),
        (
            replace(ONE, claim=replace(ONE.claim, output="d")),
            "store_c stores 16 x 16 c, but the claim is 16 x 16 d",
        ),
        (changed(ONE, "store_c", kind=Store("c")), "store_c has no walk"),
        (
            walked("store_c", (2, 1), (2, 2)),
            "store_c writes output tile 1 to the place of tile 2",
        ),
        (
            walked("store_c", (1, 2), (2, 1)),
            "store_c writes 2 of 4 output tiles in 2 pages, of which 4 arrive",
        ),
        (
            walked("store_c", (2, 0), (2, 2), (2, 1)),
            "store_c writes 4 of 4 output tiles in 8 pages, of which 4 arrive",
        ),
        (
            replace(ONE, claim=replace(ONE.claim, map=RECTIFIER)),
            "the sum is mapped by nothing, not by max(op0, 0)",
        ),
        (without(ONE, "matmul", "store_c", "partial"), "nothing is stored"),
        (
            changed(ONE, "matmul", ins=("b_pages", "a_pages")),
            "product 'matmul' takes the right operand first and the left operand second",
        ),
    ],
)
def test_whatever_is_not_the_claimed_sum_is_said(program, text):
    assert text in reduced_once(program).violations


def test_every_store_is_looked_at():
    """A second store, of the columns for the rows, behind one that is right."""
    program = replace(FOUR, stages=(*FOUR.stages, second_store()))
    assert "again writes output tile 1 to the place of tile 2" in reduced_once(program).violations


def second_store() -> Stage:
    store = FOUR.stage_by_name["c0.store_c"]
    walk = Walk((Loop(2, 1), Loop(2, 2)))
    return replace(store, name="again", kind=Store("c", walk))
