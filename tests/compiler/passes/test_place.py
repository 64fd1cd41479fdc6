"""Placing gives every stage a site and an engine of its own, and keeps those that are there."""

from dataclasses import replace

import pytest

from compiler.errors import NoEngineError, PassError
from compiler.ir.choice import Chooser
from compiler.ir.stage import Engine, EngineKind, Site
from compiler.ir.target import SWITCHES_OF_A_PORT
from compiler.passes.partition import partition
from compiler.passes.place import place
from compiler.shard_plan import ShardPlan
from compiler.targets import get
from tests.compiler.programs import TOKEN, changed, lowered, partitioned

COMPUTE, MOVEMENT, LINK = EngineKind.COMPUTE, EngineKind.MOVEMENT, EngineKind.LINK
ALL = partition(lowered(), ShardPlan(4, result="all"), TOKEN)


def engines(program) -> dict[str, str]:
    return {stage.name: str(stage.engine) for stage in program.stages}


def test_one_chip_takes_the_lowest_engines_in_the_order_of_the_stages():
    program = place(lowered(), TOKEN)
    assert engines(program) == {
        "load_a": "movement0",
        "load_b": "movement1",
        "matmul": "compute0",
        "store_c": "movement2",
    }
    assert {stage.site for stage in program.stages} == {Site(0)}


def test_buffers_stand_where_they_are_filled():
    program = place(partitioned(4), TOKEN)
    for stage in program.stages:
        for name in stage.outs:
            assert program.buffer_by_name[name].site == stage.site


@pytest.mark.parametrize("chips", [2, 3, 4, 7, 8])
@pytest.mark.parametrize("reduce", ["star", "tree"])
def test_no_engine_is_given_twice(chips, reduce):
    program = place(partitioned(chips, reduce), TOKEN)
    used = [(stage.site, stage.engine) for stage in program.stages]
    assert None not in [engine for _, engine in used]
    assert len(set(used)) == len(used)


def test_folds_compute_and_receives_run_on_link_ports():
    placed = engines(place(partitioned(4), TOKEN))
    assert placed["c0.fold"] == placed["c2.fold"] == "compute1"
    assert [placed["c0.recv_0"], placed["c0.recv_1"], placed["c2.recv_0"]] == [
        "link0",
        "link1",
        "link0",
    ]


def test_copies_run_on_switches():
    placed = engines(place(ALL, TOKEN))
    assert (placed["c0.copy"], placed["c2.copy"]) == ("switch0", "switch0")
    assert (placed["c2.recv_0"], placed["c2.recv_whole"]) == ("link0", "link1")


@pytest.mark.parametrize("ports", [2, 5])
def test_a_site_has_some_switches_for_each_link_port(ports):
    """So what comes in at a port may be dealt, copied and joined."""
    count = SWITCHES_OF_A_PORT * ports
    target = get("token-mesh", link_ports=ports)
    copy = ALL.stage_by_name["c0.copy"]
    copies = tuple(replace(copy, name=f"c0.copy_{index}") for index in range(count))
    program = replace(lowered(), stages=copies)
    assert [str(s.engine) for s in place(program, target).stages] == [
        f"switch{index}" for index in range(count)
    ]
    more = replace(program, stages=(*copies, copy))
    with pytest.raises(NoEngineError, match=f"'c0.copy' finds no free switch engine .*{count};"):
        place(more, target)


def test_engines_that_are_given_are_the_compilers_and_others_stay_whose_they_were():
    chosen = changed(lowered(), "load_b", engine=Engine(MOVEMENT, 2))
    by = {stage.name: stage.engine.by for stage in place(chosen, TOKEN).stages}
    assert by.pop("load_b") is Chooser.HAND
    assert set(by.values()) == {Chooser.COMPILER}


def test_a_site_that_is_set_is_kept():
    site = Site(0, 2, 1)
    program = lowered()
    for stage in program.stages:
        program = changed(program, stage.name, site=site)
    placed = place(program, TOKEN)
    assert {stage.site for stage in placed.stages} == {site}
    assert {buffer.site for buffer in placed.buffers} == {site}


def test_an_engine_that_is_set_is_kept_and_the_others_go_round_it():
    program = changed(lowered(), "store_c", engine=Engine(MOVEMENT, 0))
    assert engines(place(program, TOKEN)) == {
        "load_a": "movement1",
        "load_b": "movement2",
        "matmul": "compute0",
        "store_c": "movement0",
    }


def test_engines_of_different_sites_do_not_meet():
    program = changed(lowered(), "load_a", site=Site(0, 1, 0))
    placed = engines(place(program, TOKEN))
    assert placed["load_a"] == placed["load_b"] == "movement0"


def test_placing_again_changes_nothing():
    for program in (lowered(), partitioned(4), partitioned(3, "star")):
        once = place(program, TOKEN)
        assert place(once, TOKEN) == once


@pytest.mark.parametrize(
    ("changes", "stage", "kind", "site", "count", "program"),
    [
        ({"movement_engines": 2}, "store_c", MOVEMENT, "(0,0,0)", 2, lowered()),
        ({"movement_engines": 1}, "load_b", MOVEMENT, "(0,0,0)", 1, lowered()),
        ({"compute_engines": 1}, "c2.fold", COMPUTE, "(2,0,0)", 1, None),
        ({"link_ports": 0}, "c2.recv_0", LINK, "(2,0,0)", 0, None),
    ],
)
def test_a_stage_that_finds_no_engine_is_named(changes, stage, kind, site, count, program):
    if program is None:
        folded = partitioned(4)
        tail = [s for s in folded.stages if s.site is not None and s.site.chip == 2]
        program = replace(folded, stages=tuple(tail))
    with pytest.raises(NoEngineError) as refusal:
        place(program, get("token-mesh", **changes))
    error = refusal.value
    assert isinstance(error, PassError)
    assert (error.stage, error.kind, error.site, error.count) == (stage, kind, site, count)
    assert str(error) == (
        f"stage {stage!r} finds no free {kind} engine at site {site}, which has {count}; "
        f"give the target more {kind} engines or move the stage"
    )
