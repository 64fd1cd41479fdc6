"""Order: every reduction and every broadcast is the one that its collective states."""

from dataclasses import replace

import pytest
<<<<<<< HEAD

from compiler.check.collectives import order
=======
from compiler.check.order import order

>>>>>>> core
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Site
from tests.compiler.programs import (
    MANY_PORTS,
    changed,
    compiled,
    cut_off,
    sharded,
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
        (stated(kind="all_gather"), "tree_reduce is a 'all_gather', which is not known"),
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
        (stated(algorithm="ring"), "tree_reduce reduces by 'ring', which is not known"),
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
