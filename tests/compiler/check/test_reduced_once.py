"""Reduced once: every stored element sums every contraction index once, and else it is said."""

from dataclasses import replace

import pytest

from compiler.check.reduced_once import reduced_once
from compiler.ir.body import Body, Literal, Max, Operand
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import MatmulTiles, Stage, Store
from compiler.ir.tensor import Part
from compiler.ir.walk import Loop, Walk
from tests.compiler.programs import changed, compiled, cut_off, sharded, spread, without

ONE, FOUR = compiled(), sharded(4)
RECTIFIER = Max(Operand(0), Literal(0))


def walked(stage: str, *loops: tuple[int, int], program: Program = ONE) -> Program:
    walk = Walk(tuple(Loop(count, stride) for count, stride in loops))
    kind = program.stage_by_name[stage].kind
    return changed(program, stage, kind=replace(kind, walk=walk))


def claiming(body: Body) -> Program:
    """The program claims to map its sums."""
    (product,) = ONE.graph.operations
    return replace(ONE, graph=replace(ONE.graph, operations=(replace(product, map=body),)))


def contracted(blocks: tuple[int, int]) -> Program:
    """A product of one result tile that adds these of its 4 blocks, the first one included."""
    program = compiled(8, 8, 32)
    program = changed(program, "matmul", kind=MatmulTiles(len(blocks)))
    for load in ("load_a", "load_b"):
        program = walked(load, (2, blocks[1] - blocks[0]), program=program)
    return program


MESH = Mesh(row=2, col=2)
SPREAD = [
    spread(mesh=MESH, shard=(("m", "row"), ("n", "col"))),
    spread(40, 24, 64, mesh=MESH, shard=(("m", "row"), ("k", "col")), uneven=True),
    spread(mesh=MESH, shard=(("n", "row"), ("k", "col")), result="all"),
    spread(mesh=MESH, shard=(("k", "col"),)),
]


@pytest.mark.parametrize(
    "program", [ONE, compiled(5, 17, 9), FOUR, sharded(5, "star"), *SPREAD], ids=lambda p: p.name
)
def test_what_the_compiler_reduces_is_reduced_once(program):
    claim, tile = program.claim, program.tile
    parts = [tensor for tensor in program.tensors if tensor.value == "c"]
    tiles = sum(-(-part.rows // tile) * -(-part.cols // tile) for part in parts)
    blocks = -(-claim.k // tile)
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
            changed(ONE, "c", rows=24),
            "store_c writes 4 of 6 output tiles in 4 pages, of which 4 arrive",
        ),
        (
            changed(ONE, "c", part=Part("a")),
            "store 'store_c' writes to tensor 'c', which is no part of 'c'",
        ),
        (changed(ONE, "store_c", kind=Store("c")), "store 'store_c' has no walk"),
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
            claiming(RECTIFIER),
            "the sum is mapped by nothing, not by max(op0, 0)",
        ),
        (without(ONE, "matmul", "store_c", "partial"), "nothing is stored"),
        (
            changed(ONE, "matmul", ins=("b_pages", "a_pages")),
            "product 'matmul' takes the right operand first and the left operand second: it "
            "multiplies 'b' by 'a'; the program claims to multiply 'a' by 'b'",
        ),
    ],
)
def test_whatever_is_not_the_claimed_sum_is_said(program, text):
    assert text in reduced_once(program).violations


def test_every_store_is_looked_at():
    """A second store, of the columns for the rows, behind one that is right."""
    program = replace(FOUR, stages=(*FOUR.stages, second_store()))
    assert reduced_once(program).violations == (
        "again writes output tile 1 to the place of tile 2",
        "c0.store_c and again both store c",
    )


@pytest.mark.parametrize("program", SPREAD, ids=lambda p: p.name)
def test_on_every_chip_that_stores_it_is_said_what_goes_wrong(program):
    """The last chip that stores takes columns for rows; its tiles are numbered in the whole."""
    store = [stage for stage in program.stages if isinstance(stage.kind, Store)][-1]
    part, value = program.tensor_by_name[store.kind.tensor], program.graph.value_by_name["c"]
    rows, cols = part.row_tiles, part.col_tiles
    kind = Store(part.name, Walk((Loop(cols, 1), Loop(rows, cols))))
    first = part.part.row // 8 * (value.cols // 8) + part.part.col // 8
    assert reduced_once(changed(program, store.name, kind=kind)).violations == (
        f"{store.name} writes output tile {first + 1} to the place of tile "
        f"{first + value.cols // 8}",
    )


def test_of_a_part_in_the_place_of_another_every_tile_is_misplaced():
    program = SPREAD[0]
    assert (
        "c3.store_c writes output tile 10 to the place of tile 2"
        in reduced_once(
            changed(program, "c3.c", part=program.tensor_by_name["c1.c"].part)
        ).violations
    )


def test_pages_in_too_odd_an_order_to_be_counted_are_said_to_miss_some(monkeypatch):
    monkeypatch.setattr("compiler.ir.walk.ENUMERATED_PAGES", 5)
    program = walked("store_c", (2, 0), (2, 2), (2, 1), program=compiled(24, 16, 64))
    text = "store_c writes 4 of 6 output tiles in 8 pages, of which 6 arrive"
    assert text in reduced_once(program).violations
    program = walked("store_c", (2, 3), (3, 2), program=program)
    text = "store_c writes some of 8 output tiles in 6 pages, of which 6 arrive"
    assert text in reduced_once(changed(program, "c", rows=32)).violations


def second_store() -> Stage:
    store = FOUR.stage_by_name["c0.store_c"]
    walk = Walk((Loop(2, 1), Loop(2, 2)))
    return replace(store, name="again", kind=Store("c", walk))
