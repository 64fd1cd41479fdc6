"""Rounds of pages: each chip owns the pages of a round that it is to be left with."""

from dataclasses import replace

import pytest

from compiler.ir.graph import LoopOrder
from compiler.ir.mesh import Mesh
from compiler.passes.page_rounds import MOST_PAGES, way_members
from compiler.passes.slices import cut_of
from compiler.passes.switched_parts import WayMember
from compiler.shard_plan import ShardPlan
from tests.compiler.programs import TOKEN, lowered

TILE = 8


def members(
    plan: ShardPlan, m: int, n: int, k: int, *, order: str | None = None
) -> list[WayMember]:
    """The members of a product of so many tiles, whose loops are nested in an order."""
    program = lowered(TILE * m, TILE * n, TILE * k)
    if order is not None:
        (product,) = program.graph.operations
        operations = (replace(product, order=LoopOrder(order)),)
        program = replace(program, graph=replace(program.graph, operations=operations))
    return way_members(program, plan, cut_of(program, plan), TOKEN)


def owners(*args, **options) -> list[int]:
    """Whose the pages of a round are, which all chips say alike."""
    (found,) = {tuple(way.owner for way in each.ways) for each in members(*args, **options)}
    return list(found)


def ring(chips: int, result: str, *, uneven: bool = False) -> ShardPlan:
    return ShardPlan(chips, "ring", result=result, uneven=uneven)


def test_at_home_all_pages_are_the_first_chips():
    assert owners(ring(4, "home"), 3, 5, 4) == [0] * 15


@pytest.mark.parametrize("chips", [2, 3, 5, 8])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (2, 3), (4, 8), (7, 1)])
def test_if_all_have_the_sum_its_pages_are_dealt_out_in_turn(chips, m, n):
    assert owners(ring(chips, "all"), m, n, chips) == [page % chips for page in range(m * n)]


@pytest.mark.parametrize(
    ("chips", "m", "n", "expected"),
    [
        (2, 3, 2, [0, 1] * 3),
        (2, 1, 4, [0, 0, 1, 1]),
        (3, 2, 7, [0, 0, 0, 1, 1, 2, 2] * 2),
        (4, 2, 6, [0, 0, 1, 1, 2, 3] * 2),
    ],
)
def test_scattered_columns_are_their_chips_in_every_row(chips, m, n, expected):
    assert owners(ring(chips, "scattered", uneven=True), m, n, chips) == expected


@pytest.mark.parametrize(
    ("order", "expected"),
    [("mn", [0, 0, 1, 2] * 3), ("nm", [0] * 6 + [1] * 3 + [2] * 3), (None, [0, 0, 1, 2] * 3)],
)
def test_columns_are_scattered_in_the_order_in_which_products_make_them(order, expected):
    assert owners(ring(3, "scattered", uneven=True), 3, 4, 3, order=order) == expected


@pytest.mark.parametrize("order", ["mn", "nm"])
def test_rows_are_scattered_where_columns_are_cut(order):
    mesh = Mesh(row=2, col=3)
    plan = ShardPlan(mesh, "ring", shard={"k": "col", "n": "row"}, result="scattered", uneven=True)
    found = members(plan, 4, 5, 3, order=order)
    for chip, member in enumerate(found):
        cols, rows = [3, 2][mesh.coordinates(chip)[0]], [0, 0, 1, 2]
        by_rows = [owner for owner in rows for _ in range(cols)]
        expected = by_rows if order == "mn" else rows * cols
        assert [way.owner for way in member.ways] == expected


@pytest.mark.parametrize("result", ["home", "all", "scattered"])
def test_each_group_has_a_round_of_its_own_and_each_chip_its_place_there(result):
    mesh = Mesh(row=2, col=3)
    plan = ShardPlan(mesh, "ring", shard={"k": "col", "m": "row"}, result=result, uneven=True)
    found = members(plan, 5, 3, 3)
    assert [member.group for member in found] == [(0, 1, 2)] * 3 + [(3, 4, 5)] * 3
    assert [member.index for member in found] == [0, 1, 2] * 2
    assert {member.axis for member in found} == {1}
    assert [len(member.ways) for member in found] == [9] * 3 + [6] * 3
    for first, *others in (found[:3], found[3:]):
        assert all((m.ways, m.turns) == (first.ways, first.turns) for m in others)


@pytest.mark.parametrize("result", ["home", "all", "scattered"])
@pytest.mark.parametrize(("m", "n"), [(16, 16), (17, 16), (32, 24), (50, 6), (2, 257 * 2)])
def test_a_round_is_of_as_many_pages_as_may_be_listed_or_of_as_few_as_there_are(result, m, n):
    """A run has a whole number of them, and where columns are scattered, each has whole rows."""
    size = len(owners(ring(2, result), m, n, 2))
    unit = n if result == "scattered" else 1
    fits = [pages for pages in range(unit, m * n + 1, unit) if m * n % pages == 0]
    assert size == max((pages for pages in fits if pages <= MOST_PAGES), default=fits[0])


def test_a_round_has_a_page_for_each_chip_if_there_are_as_many():
    """Of 2 x 257 pages, 2 are a round on two chips; for three it takes more than may be listed."""
    assert len(owners(ring(2, "all"), 2, 257, 2)) == 2
    assert len(owners(ring(3, "all"), 2, 257, 3)) == 257
    assert len(owners(ring(3, "home"), 2, 257, 3)) == 2


@pytest.mark.parametrize("result", ["all", "scattered", "home"])
def test_ways_end_as_the_plan_says(result):
    for member in members(ring(4, result), 2, 8, 4):
        for way in member.ways:
            to_all = result == "all"
            assert way.keeps == tuple(to_all or chip == way.owner for chip in range(4))
