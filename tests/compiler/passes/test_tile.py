"""Tiling visits every tile that a result needs, and keeps what is chosen."""

from dataclasses import replace

import pytest

from compiler.flow.counts import page_counts
from compiler.ir.choice import Chooser
from compiler.ir.graph import LoopOrder
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Load, MatmulTiles, Store
from compiler.ir.walk import Loop, Walk
from compiler.passes.partition import partition
from compiler.passes.tile import tile
from compiler.shard_plan import ShardPlan
from tests.compiler.programs import TOKEN, changed, lowered, partitioned

SHAPES = [(8, 8, 8), (16, 24, 32), (5, 17, 9), (40, 8, 16), (1, 1, 1)]


def ordered(program: Program, loops: str) -> Program:
    """The program with a loop order that somebody chose."""
    (product,) = program.graph.operations
    graph = replace(program.graph, operations=(replace(product, order=LoopOrder(loops)),))
    return replace(program, graph=graph)


def order_of(program: Program) -> LoopOrder:
    (product,) = program.graph.operations
    return product.order


def tiles_along(extent: int) -> int:
    return len(range(0, extent, 8))


def in_order(m: int, n: int, order: str) -> list[tuple[int, int]]:
    """Result tiles as (row, column) in the order in which they are made."""
    if order == "mn":
        return [(row, col) for row in range(m) for col in range(n)]
    return [(row, col) for col in range(n) for row in range(m)]


def walk_of(program, stage: str) -> list[int]:
    return list(program.stage_by_name[stage].kind.walk.pages())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("order", ["mn", "nm"])
def test_each_result_tile_meets_its_blocks_in_the_order_that_is_asked(shape, order):
    m, n, k = map(tiles_along, shape)
    program = tile(ordered(lowered(*shape), order))
    results = in_order(m, n, order)
    assert walk_of(program, "load_a") == [row * k + b for row, _ in results for b in range(k)]
    assert walk_of(program, "load_b") == [b * n + col for _, col in results for b in range(k)]
    assert walk_of(program, "store_c") == [row * n + col for row, col in results]
    assert program.stage_by_name["matmul"].kind == MatmulTiles(k)
    assert (str(order_of(program)), order_of(program).by) == (order, Chooser.HAND)


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_of_tiles_come_first_where_nothing_is_chosen(shape):
    m, n, k = map(tiles_along, shape)
    program = tile(lowered(*shape))
    assert program == tile(ordered(lowered(*shape), "mn"))
    assert order_of(program).by is Chooser.COMPILER
    pages = {"a_pages": m * n * k, "b_pages": m * n * k, "partial": m * n}
    assert page_counts(program) == pages


@pytest.mark.parametrize(
    ("stage", "kind"),
    [
        ("load_a", Load("a", Walk((Loop(4, 1),)))),
        ("load_b", Load("b", Walk((Loop(4, 1),)))),
        ("matmul", MatmulTiles(3)),
        ("store_c", Store("c", Walk((Loop(4, 1),)))),
    ],
)
def test_what_is_chosen_is_kept(stage, kind):
    program = tile(changed(lowered(), stage, kind=kind))
    assert program.stage_by_name[stage].kind == kind
    others = [s.kind for s in program.stages if s.name != stage]
    assert None not in [getattr(k, "walk", getattr(k, "block_count", None)) for k in others]


def test_tiling_again_changes_nothing():
    for program in (lowered(), partitioned(4), partitioned(3, "star")):
        once = tile(program)
        assert tile(once) == once


def test_slices_are_tiled_by_what_each_chip_holds():
    program = tile(partitioned(4))
    for chip in range(4):
        assert program.stage_by_name[f"c{chip}.matmul"].kind == MatmulTiles(2)
        assert walk_of(program, f"c{chip}.load_a") == walk_of(program, "c0.load_a")


@pytest.mark.parametrize("order", ["mn", "nm"])
def test_each_chip_of_uneven_slices_walks_its_own_shape(order):
    """5 tiles of m over 2 rows, 7 of k over 3 columns, 2 of n on every chip."""
    plan = ShardPlan(Mesh(row=2, col=3), shard={"m": "row", "k": "col"}, uneven=True)
    program = tile(ordered(partition(lowered(37, 16, 50), plan, TOKEN), order))
    counts = page_counts(program)
    for chip in range(6):
        m, n, k = (3, 2)[chip // 3], 2, (3, 2, 2)[chip % 3]
        results = in_order(m, n, order)
        assert program.stage_by_name[f"c{chip}.matmul"].kind == MatmulTiles(k)
        assert walk_of(program, f"c{chip}.load_a") == [
            row * k + b for row, _ in results for b in range(k)
        ]
        assert walk_of(program, f"c{chip}.load_b") == [
            b * n + col for _, col in results for b in range(k)
        ]
        assert counts[f"c{chip}.a_pages"] == m * n * k
        assert counts[f"c{chip}.partial"] == m * n
    for home in (0, 3):
        m = (3, 2)[home // 3]
        assert walk_of(program, f"c{home}.store_c") == [
            row * 2 + col for row, col in in_order(m, 2, order)
        ]
