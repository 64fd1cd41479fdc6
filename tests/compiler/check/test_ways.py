"""Rings: what a collective says to go round a ring of chips does, and leaves the sum as it says."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from compiler.check.collectives import order
from compiler.check.ways import check_ways
from compiler.ir.graph import with_layouts
from compiler.ir.layout import At, Layout, Replicate, Shard
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Fold
from tests.compiler.programs import changed, spread

RESULTS = ("home", "all", "scattered")
KINDS = {"home": "reduce", "all": "all_reduce", "scattered": "reduce_scatter"}
LINE = {
    result: spread(16, 32, 64, mesh=Mesh(tp=4), reduce="ring", result=result) for result in RESULTS
}
"""Chips 0 to 3, each of which sends to the next."""
GRID = spread(
    16,
    32,
    48,
    mesh=Mesh(row=2, col=3),
    shard=(("m", "row"), ("k", "col")),
    reduce="ring",
    result="all",
)


def stated(result: str, **changes: object) -> Program:
    (collective,) = LINE[result].collectives
    return changed(LINE[result], collective.name, **changes)


def laid(result: str, layout: Layout) -> Program:
    """A ring whose sum is said to be left otherwise."""
    program = LINE[result]
    return replace(program, graph=with_layouts(program.graph, {"c": layout}))


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("chips", [2, 3, 5, 8])
def test_what_the_compiler_states_is_what_it_does(chips, result):
    program = spread(16, 16 * chips, 16 * chips, mesh=Mesh(tp=chips), reduce="ring", result=result)
    assert order(program).violations == ()
    (collective,) = program.collectives
    assert (collective.kind, collective.algorithm) == (KINDS[result], "ring")
    assert collective.home == (0 if result == "home" else None)
    assert collective.chips == tuple(range(chips))


@pytest.mark.parametrize("axis", ["x", "y"])
@pytest.mark.parametrize("result", RESULTS)
def test_every_group_along_an_axis_is_a_ring_of_its_own(axis, result):
    mesh = Mesh(x=2, y=3)
    program = spread(16, 48, 48, mesh=mesh, shard=(("k", axis),), reduce="ring", result=result)
    assert order(program).violations == ()
    assert [collective.chips for collective in program.collectives] == list(mesh.groups(axis))


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (
            stated("all", kind="broadcast"),
            "ring_all_reduce is a 'broadcast', but the product leaves contributions along tp",
        ),
        (stated("home", kind="gather"), "ring_reduce is a 'gather', but the product leaves contri"),
        (
            stated("all", algorithm="tree"),
            "ring_all_reduce is said to be a tree of 4 chips, in which a page passes 4 links at "
            "the most, but one passes 6",
        ),
        (
            stated("home", algorithm="tree"),
            "ring_reduce is said to be a tree of 4 chips, but a chip receives 1 sums, and a sum "
            "passes 3 links",
        ),
        (
            stated("scattered", chips=(0, 1, 2)),
            "ring_reduce_scatter is said to join chips 0, 1, 2, but joins 0, 1, 2, 3",
        ),
        (
            stated("all", chips=(0, 1, 2, 3, 4)),
            "ring_all_reduce is said to join chips 0, 1, 2, 3, 4, but joins 0, 1, 2, 3",
        ),
        (
            stated("all", kind="reduce_scatter"),
            "ring_all_reduce is a 'reduce_scatter', but 'c' is ",
        ),
        (stated("scattered", kind="all_reduce"), "ring_reduce_scatter is a 'all_reduce', but 'c'"),
        (stated("home", kind="all_reduce"), "ring_reduce is a 'all_reduce', but 'c' is "),
        (laid("all", (Shard("n"),)), "ring_all_reduce is a 'all_reduce', but 'c' is "),
        (laid("scattered", (Replicate(),)), "ring_reduce_scatter is a 'reduce_scatter', but 'c'"),
        (laid("all", (At(2),)), "ring_all_reduce is said to end nowhere, but 'c' is "),
        (laid("home", (At(2),)), "ring_reduce is said to end on chip 0, but 'c' is "),
        (stated("home", home=2), "ring_reduce is said to end on chip 2, but 'c' is "),
        (stated("home", home=7), "ring_reduce is said to end on chip 7, but 'c' is "),
        (stated("home", home=-4), "ring_reduce is said to end on chip -4, but 'c' is "),
        (stated("home", home=None), "ring_reduce is said to end nowhere, but 'c' is "),
        (stated("all", home=1), "ring_all_reduce is said to end on chip 1, but 'c' is "),
        (stated("scattered", home=0), "ring_reduce_scatter is said to end on chip 0, but 'c' is "),
        (
            changed(GRID, "ring_all_reduce_1", axis="row"),
            "ring_all_reduce_1 is said to be a ring along row, but chip 3 sends to chip 4",
        ),
        (
            changed(GRID, "ring_all_reduce_0", axis="row"),
            "ring_all_reduce_0 is said to join chips 0, 1, 2, but along row stand 0, 3",
        ),
    ],
)
def test_whatever_is_stated_wrongly_is_said(program, text):
    violations = order(program).violations
    assert any(violation.startswith(text) for violation in violations), violations


def violations_of(result: str, hops: Iterable[tuple[int, int]]) -> list[str]:
    (collective,) = LINE[result].collectives
    return list(check_ways(LINE[result], collective, hops, 1))


@pytest.mark.parametrize("result", RESULTS)
def test_every_hop_is_to_the_next_chip(result):
    ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    assert violations_of(result, ring) == violations_of(result, ring[:2] * 3) == []
    name = LINE[result].collectives[0].name
    assert violations_of(result, [(1, 0), (0, 1), (0, 2), (1, 0), (2, 2)]) == [
        f"{name} is said to be a ring along tp, but chip {source} sends to chip {destination}"
        for source, destination in ((0, 2), (1, 0), (2, 2))
    ]


@pytest.mark.parametrize("result", RESULTS)
def test_a_fold_that_is_in_no_collective_is_said(result):
    (collective,) = LINE[result].collectives
    folds = [s.name for s in LINE[result].stages if isinstance(s.kind, Fold)]
    stages = tuple(name for name in collective.stages if name != folds[0])
    violations = order(stated(result, stages=stages)).violations
    assert violations[0] == f"{folds[0]} is in 0 collectives, not in 1"
