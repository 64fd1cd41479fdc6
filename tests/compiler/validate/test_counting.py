"""Counting: what is put into a buffer over a run and not taken out of it is refused."""

from dataclasses import replace

from compiler.ir.program import Program
from compiler.ir.stage import Load, MatmulTiles, Store
from compiler.ir.walk import Loop, Walk
from compiler.validate import validate
from tests.compiler.programs import TOKEN, changed, compiled, lowered, sharded
from tests.compiler.validate.mutants import (
    Mutant,
    assert_every_rule_has_a_mutant,
    assert_refused,
    parametrize,
)

ONE = compiled()
FOUR = sharded(4)
A_PAGES, B_PAGES, C_PAGES = 2 * 8, 8 * 2, 2 * 2


def walked(name: str, *loops: tuple[int, int], program: Program = ONE) -> Program:
    kind = program.stage_by_name[name].kind
    walk = Walk(tuple(Loop(count, stride) for count, stride in loops))
    return changed(program, name, kind=replace(kind, walk=walk))


def leaves(what: str, stage: str, text: str, *loops: tuple[int, int]) -> Mutant:
    return Mutant(what, walked(stage, *loops), "WalkLeavesTensor", stage, text)


def imbalance(what: str, program: Program, buffer: str, text: str) -> Mutant:
    return Mutant(what, program, "CountingImbalance", buffer, text)


def one_page_less_of_chip_1() -> Program:
    """Chip 1 makes the first row of result tiles only."""
    program = walked("c1.load_a", (1, 2), (2, 0), (2, 1), program=FOUR)
    return walked("c1.load_b", (1, 0), (2, 1), (2, 2), program=program)


def every_result_twice() -> Program:
    """Loads, product and store agree to go over the output two times."""
    program = walked("load_a", (2, 0), (2, 8), (2, 0), (8, 1))
    program = walked("load_b", (2, 0), (2, 0), (2, 1), (8, 2), program=program)
    return walked("store_c", (2, 0), (2, 2), (2, 1), program=program)


def blocks(count: int) -> Program:
    return changed(ONE, "matmul", kind=MatmulTiles(count))


MUTANTS = (
    leaves("one page too far", "load_a", f"which has {A_PAGES} pages", (2, 9), (2, 0), (8, 1)),
    leaves("backwards", "load_b", "walks 2x+0 2x+1 8x-2 over tensor 'b'", (2, 0), (2, 1), (8, -2)),
    leaves("no steps at all", "load_a", "walks 0x+8", (0, 8)),
    leaves("the store", "store_c", f"which has {C_PAGES} pages", (2, 2), (2, 2)),
    imbalance(
        "a load walks half of its tensor",
        walked("load_a", (1, 8), (2, 0), (8, 1)),
        "b_pages",
        "buffer 'b_pages' receives 32 pages, but 'matmul' takes 16",
    ),
    imbalance(
        "a product sums too few blocks",
        blocks(4),
        "partial",
        "buffer 'partial' receives 8 pages, but 'store_c' takes 4",
    ),
    imbalance(
        "a product sums too many blocks",
        blocks(16),
        "partial",
        "buffer 'partial' receives 2 pages, but 'store_c' takes 4",
    ),
    imbalance(
        "blocks that leave a rest",
        blocks(5),
        "a_pages",
        "buffer 'a_pages' receives 32 pages, but 'matmul' takes 30",
    ),
    imbalance(
        "a chip makes half of the results",
        one_page_less_of_chip_1(),
        "c0.landing_0",
        "buffer 'c0.landing_0' receives 2 pages, but 'c0.fold' takes 4",
    ),
    Mutant("no blocks", blocks(0), "BlockCount", "matmul", "must sum at least 1 block, not 0"),
    Mutant("less than none", blocks(-8), "BlockCount", "matmul", "at least 1 block, not -8"),
    Mutant(
        "a store writes one tile in place of another",
        walked("store_c", (2, 2), (2, 0)),
        "OutputCoverage",
        "store_c",
        "writes 4 pages, 2 of them different, into tensor 'c', which has 4",
    ),
    Mutant(
        "a store writes every tile twice",
        every_result_twice(),
        "OutputCoverage",
        "store_c",
        "writes 8 pages, 4 of them different, into tensor 'c', which has 4",
    ),
)


@parametrize(MUTANTS)
def test_what_is_not_taken_as_often_as_given_is_refused(mutant):
    assert_refused(mutant)


def test_every_rule_of_counting_has_a_mutant():
    assert_every_rule_has_a_mutant("counting", MUTANTS)


def test_counting_is_silent_where_nothing_is_chosen():
    validate(lowered(), TOKEN)
    for name, kind in (
        ("load_a", Load("a")),
        ("load_b", Load("b")),
        ("matmul", MatmulTiles()),
        ("store_c", Store("c")),
    ):
        validate(changed(ONE, name, kind=kind), TOKEN)


def test_counting_goes_on_behind_what_is_not_chosen():
    """A walk of chip 0 is missing, and chip 1 is counted all the same."""
    program = changed(FOUR, "c0.load_a", kind=Load("c0.a"))
    program = changed(program, "c1.matmul", kind=MatmulTiles(3))
    assert_refused(Mutant("", program, "CountingImbalance", "c1.a_pages", "receives 8 pages, but"))
