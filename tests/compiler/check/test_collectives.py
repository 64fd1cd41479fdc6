"""Order: every reduction and every broadcast is the one that its collective states."""

from dataclasses import replace

import pytest

from compiler.check.collectives import order
from compiler.check.spread import Spread, check_spread
from compiler.ir.edge import Edge
from compiler.ir.layout import Partial
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Recv, Site
from compiler.passes.partition import partition
from compiler.pipeline import run_passes
from compiler.shard_plan import ShardPlan
from tests.compiler.programs import (
    MANY_PORTS,
    changed,
    compiled,
    cut_off,
    lowered,
    sharded,
    spread,
)

ONE, FOUR = compiled(), sharded(4)
STAR = sharded(5, "star")


def stated(program: Program = FOUR, **changes: object) -> Program:
    (collective,) = program.collectives
    return changed(program, collective.name, **changes)


@pytest.mark.parametrize("chips", [2, 3, 4, 5, 7, 8, 16])
@pytest.mark.parametrize("reduce", ["star", "tree"])
def test_what_the_compiler_states_is_what_it_does(chips, reduce):
    program = sharded(chips, reduce, target=MANY_PORTS)
    folds = tuple(
        (stage.name, str(stage.kind.body))
        for stage in program.stages
        if isinstance(stage.kind, Fold)
    )
    assert order(program).holds
    assert order(program).evidence == (("sums are", "int"), ("collectives", 1), *folds)


def test_a_program_without_a_reduction_needs_no_collective():
    assert order(ONE).holds
    assert order(ONE).evidence == (("sums are", "int"), ("collectives", 0))


def test_sixteen_chips_name_one_collective_and_fifteen_crossings():
    program = sharded(16)
    assert len(program.collectives) == 1
    assert sum(program.crosses(edge) for edge in program.edges) == 15
    assert order(program).holds


@pytest.mark.parametrize("chips", [2, 3])
@pytest.mark.parametrize("said", ["star", "tree"])
def test_of_up_to_three_chips_a_star_is_a_tree(chips, said):
    for reduce in ("star", "tree"):
        assert order(stated(sharded(chips, reduce), algorithm=said)).holds


def without_stage(name: str) -> Program:
    stages = FOUR.collectives[0].stages
    return stated(stages=tuple(stage for stage in stages if stage != name))


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (replace(FOUR, collectives=()), "c0.recv_0 is in 0 collectives, not in 1"),
        (without_stage("c2.fold"), "c2.fold is in 0 collectives, not in 1"),
        (
            stated(stages=(*FOUR.collectives[0].stages, "c0.fold")),
            "c0.fold is in 2 collectives, not in 1",
        ),
        (
            stated(stages=(*FOUR.collectives[0].stages, "c0.store_c")),
            "c0.store_c is in 1 collectives, not in 0",
        ),
        (stated(kind="scan"), "tree_reduce is a 'scan', which is not known"),
        (stated(kind="gather"), "tree_reduce is a 'gather', but its stages combine contributions"),
        (stated(kind="all_gather"), "tree_reduce is a 'all_gather', but 'c' is at 0 along tp"),
        (stated(kind="all_reduce"), "tree_reduce is a 'all_reduce', but 'c' is at 0 along tp"),
        (stated(kind="broadcast"), "tree_reduce is a 'broadcast', but its stage c0.fold reduces"),
        (
            stated(chips=(0, 1, 2)),
            "tree_reduce is said to join chips 0, 1, 2, but joins 0, 1, 2, 3",
        ),
        (
            stated(chips=(0, 1, 2, 3, 3)),
            "tree_reduce is said to join chips 0, 1, 2, 3, 3, but joins 0, 1, 2, 3",
        ),
        (stated(chips=()), "tree_reduce is said to join chips none, but joins 0, 1, 2, 3"),
        (stated(home=2), "tree_reduce is said to end on chip 2, but ends on 0"),
        (
            without_stage("c0.recv_1"),
            "c0.recv_1 is in 0 collectives, not in 1",
        ),
        (
            stated(algorithm="star"),
            "tree_reduce is said to be a star of 4 chips, but a chip receives 2 sums, and a sum "
            "passes 2 links",
        ),
        (
            stated(STAR, algorithm="tree"),
            "star_reduce is said to be a tree of 5 chips, but a chip receives 4 sums, and a sum "
            "passes 1 links",
        ),
        (stated(algorithm="torus"), "tree_reduce is a 'reduce' by 'torus', which is not known"),
        (
            changed(FOUR, "c3.matmul", site=Site(0)),
            "tree_reduce: chip 0 sends 1 sums, and may send 0",
        ),
        (
            changed(FOUR, "c3.matmul", site=Site(1)),
            "tree_reduce: chip 1 sends 2 sums, and may send 1",
        ),
        (
            changed(FOUR, "c0.fold", site=Site(3)),
            "tree_reduce: the sums of chips 1, 2, 3 do not come to chip 0",
        ),
        (
            cut_off(FOUR, 3),
            "tree_reduce is said to join chips 0, 1, 2, 3, but joins 0, 1, 2",
        ),
    ],
)
def test_whatever_is_stated_wrongly_is_said(program, text):
    assert any(violation.startswith(text) for violation in order(program).violations)


ALL = spread(k=64, mesh=Mesh(tp=4), result="all")
"""Chips 1 and 2 send to chip 0, and 3 to 2; the whole goes back the same ways."""
GRID = spread(mesh=Mesh(row=2, col=2), shard=(("m", "row"), ("k", "col")), result="all")


def told(program: Program = ALL, name: str = "tree_broadcast", **changes: object) -> Program:
    return changed(program, name, **changes)


def members(program: Program, name: str, *, but: str = "", also: str = "") -> Program:
    (collective,) = (c for c in program.collectives if c.name == name)
    kept = tuple(stage for stage in collective.stages if stage != but)
    return changed(program, name, stages=(*kept, *([also] if also else [])))


@pytest.mark.parametrize("reduce", ["star", "tree"])
@pytest.mark.parametrize("chips", [2, 3, 5, 8])
def test_the_whole_goes_to_every_chip_as_is_stated(chips, reduce):
    program = spread(
        k=16 * chips, mesh=Mesh(tp=chips), reduce=reduce, result="all", target=MANY_PORTS
    )
    assert order(program).violations == ()
    assert dict(order(program).evidence)["collectives"] == 2
    assert [(c.kind, c.home, c.chips) for c in program.collectives] == [
        ("reduce", 0, tuple(range(chips))),
        ("broadcast", 0, tuple(range(chips))),
    ]


@pytest.mark.parametrize("result", ["home", "all"])
@pytest.mark.parametrize("axis", ["x", "y"])
def test_every_group_along_an_axis_has_its_collectives(axis, result):
    mesh = Mesh(x=2, y=3)
    program = spread(k=48, mesh=mesh, shard=(("k", axis),), result=result)
    assert order(program).violations == ()
    groups = {tuple(sorted(c.chips)) for c in program.collectives}
    chips = range(6)
    x, y = ({chip // 3: None for chip in chips}, {chip % 3: None for chip in chips})
    expected = (
        {tuple(c for c in chips if c % 3 == column) for column in y}
        if axis == "x"
        else {tuple(c for c in chips if c // 3 == row) for row in x}
    )
    assert groups == expected
    assert len(program.collectives) == len(groups) * (2 if result == "all" else 1)


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (members(ALL, "tree_broadcast", but="c0.copy"), "c0.copy is in 0 collectives, not in 1"),
        (members(ALL, "tree_reduce", also="c0.copy"), "c0.copy is in 2 collectives, not in 1"),
        (
            members(ALL, "tree_broadcast", but="c3.recv_whole"),
            "c3.recv_whole is in 0 collectives, not in 1",
        ),
        (told(kind="reduce"), "tree_broadcast is a 'reduce', but its stage c0.copy broadcasts"),
        (
            told(chips=(0, 1, 2)),
            "tree_broadcast is said to join chips 0, 1, 2, but joins 0, 1, 2, 3",
        ),
        (told(chips=(0, 1, 2)), "tree_broadcast is said to join chips 0, 1, 2, but along tp stand"),
        (told(home=1), "tree_broadcast is said to begin on chip 1, but begins on 0"),
        (told(home=1), "tree_broadcast: chip 1 receives 1 copies, and may receive 0"),
        (
            told(algorithm="star"),
            "tree_broadcast is said to be a star of 4 chips, but a chip sends 2 copies, and a "
            "copy passes 2 links",
        ),
        (told(algorithm="torus"), "tree_broadcast is a 'broadcast' by 'torus', which is not known"),
        (
            changed(ALL, "c2.copy", site=Site(1)),
            "tree_broadcast: chip 1 receives 2 copies, and may receive 1",
        ),
        (
            changed(ALL, "c0.copy", site=Site(3)),
            "tree_broadcast: what chips 1, 2, 3 receive does not come from chip 0",
        ),
        (
            changed(ALL, "c0.whole_0", holds=((Partial((0,)),),)),
            "tree_broadcast passes on a partial sum in c0.whole_0",
        ),
        (
            told(GRID, "tree_broadcast_0", axis="row"),
            "tree_broadcast_0 is said to join chips 0, 1, but along row stand 0, 2",
        ),
        (
            told(GRID, "tree_reduce_1", axis="row"),
            "tree_reduce_1 is said to join chips 2, 3, but along row stand 0, 2",
        ),
        (
            members(
                members(GRID, "tree_reduce_0", but="c0.recv_0"), "tree_reduce_1", also="c0.recv_0"
            ),
            "c0.recv_0 is in tree_reduce_1, but c0.fold, which it feeds, is not",
        ),
        (
            members(
                members(ALL, "tree_broadcast", but="c1.recv_whole"),
                "tree_reduce",
                also="c1.recv_whole",
            ),
            "c1.recv_whole is in tree_reduce, but feeds c1.store_c, which adds nothing",
        ),
    ],
)
def test_whatever_is_stated_wrongly_of_a_broadcast_is_said(program, text):
    violations = order(program).violations
    assert any(violation.startswith(text) for violation in violations), violations


def test_what_crosses_and_is_in_no_collective_is_said():
    """Chip 0 sends its sum on to chip 1, where it is stored."""
    two = sharded(2)
    moved = changed(two, "c0.store_c", site=Site(1))
    assert order(moved).violations == (
        "c0.store_c on chip 1 takes what c0.fold on chip 0 makes, which no collective states",
    )


def passing(*ways: tuple[int, int, tuple[int, ...]]) -> Program:
    """A star of 4 chips of which some edges pass other chips: source, destination, and those."""
    program = partition(lowered(k=64, target=MANY_PORTS), ShardPlan(4, "star"), MANY_PORTS)
    via = {(source, destination): chips for source, destination, chips in ways}

    def told_by_hand(edge: Edge) -> Edge:
        ends = [program.stage_by_name[name].chip for name in (edge.source, edge.destination)]
        return replace(edge, via=via.get((ends[0], ends[1]), ()))

    return run_passes(replace(program, edges=tuple(map(told_by_hand, program.edges))), MANY_PORTS)


@pytest.mark.parametrize(
    "ways",
    [
        ((3, 0, (2,)),),
        ((3, 0, (2, 1)),),
        ((3, 0, (2, 1)), (2, 0, (1,))),
        ((1, 0, (3, 2)), (2, 0, (3,))),
    ],
)
def test_chips_that_are_passed_and_links_that_are_shared_are_looked_through(ways):
    """A star is a star, whatever ways its sums go, in turns with others or alone."""
    program = passing(*ways)
    assert program.certificate is not None
    assert order(program).violations == ()
    assert sum(isinstance(stage.kind, Recv) for stage in program.stages) > len(ways)
    (collective,) = program.collectives
    assert (collective.algorithm, collective.home, len(collective.chips)) == ("star", 0, 4)


def test_a_chain_of_a_thousand_chips_is_followed_without_recursion():
    chain = [(chip + 1, chip) for chip in range(1000)]
    said = list(check_spread(Spread("chain", "reduce", "star", 0, chain)))
    assert said == [
        "chain is said to be a star of 1001 chips, but a chip receives 1 sums, and a sum passes "
        "1000 links"
    ]
