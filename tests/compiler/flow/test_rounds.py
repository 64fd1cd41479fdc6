"""Rounds: the pages with which all turns come whole, in an order in which they can pass."""

from collections import Counter
from dataclasses import replace

import pytest

from compiler import targets
from compiler.flow.errors import FlowError
from compiler.flow.order import sources_of
from compiler.flow.rounds import Round, factor_buffers, round_of
from compiler.ir import limits
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Load, Merge, Split
from compiler.pipeline import compile
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from tests.compiler.flow.taking_turns import merged
from tests.compiler.programs import changed, compiled, sharded

TARGET = targets.get("token-mesh", tile=2)


def ring(chips: int, result: str, m: int = 4, n: int = 12) -> Program:
    plan = ShardPlan(chips, "ring", result=result, uneven=True)
    return compile(MatmulSpec(m, n, 2 * chips), TARGET, plan)


PROGRAMS = {
    "one chip": compiled(),
    "a tree": sharded(4),
    "turns": merged((0, 0, 1, 1), (0, 0, 1, 1)),
    **{
        f"a ring of {chips}, {result}": ring(chips, result)
        for chips in (2, 3, 5)
        for result in ("home", "all", "scattered")
    },
}


def goes_around(program: Program) -> bool:
    """Whether stages feed each other in a circle: whether some can never be first."""
    left = {stage.name: {*sources_of(program, stage)} for stage in program.stages}
    while True:
        first = [name for name, waits in left.items() if not waits]
        if not first:
            return bool(left)
        filled = {out for name in first for out in program.stage_by_name[name].outs}
        left = {name: waits - filled for name, waits in left.items() if waits}


def test_rings_to_all_go_around_and_others_do_not():
    around = {name for name, program in PROGRAMS.items() if goes_around(program)}
    assert around == {
        f"a ring of {chips}, {result}" for chips in (2, 3, 5) for result in ("all", "scattered")
    } - {"a ring of 2, scattered"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_pass_stands_behind_those_that_fill_what_it_takes(name):
    filled = set()
    for each in round_of(PROGRAMS[name]).passes:
        assert filled.issuperset(each.takes)
        assert filled.isdisjoint(each.fills)
        filled.update(each.fills)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_place_is_filled_once_and_taken_once(name):
    program = PROGRAMS[name]
    found = round_of(program)
    assert found.share.keys() == program.buffer_by_name.keys() - factor_buffers(program)
    places = {(name, index) for name, count in found.share.items() for index in range(count)}
    for of in ("takes", "fills"):
        counts = Counter(place for each in found.passes for place in getattr(each, of))
        assert counts == dict.fromkeys(places, 1)


@pytest.mark.parametrize("name", PROGRAMS)
def test_stages_take_and_fill_places_in_order_by_their_turns(name):
    program = PROGRAMS[name]
    found = round_of(program)
    for stage in program.stages:
        own = [each for each in found.passes if each.stage is stage]
        taken = [place for each in own for place in each.takes]
        filled = [place for each in own for place in each.fills]
        for places in (taken, filled):
            for buffer in {name for name, _ in places}:
                assert [i for name, i in places if name == buffer] == [*range(found.share[buffer])]
        match stage.kind:
            case Merge(turns):
                order = [stage.ins.index(each.takes[0][0]) for each in own]
                assert order == [*turns] * (len(own) // len(turns))
            case Split(turns):
                order = [stage.outs.index(each.fills[0][0]) for each in own]
                assert order == [*turns] * (len(own) // len(turns))
            case Load():
                assert own == []
            case _:
                pass


@pytest.mark.parametrize("chips", [2, 3, 5])
def test_a_round_of_a_ring_has_as_many_pages_as_its_turns_need(chips):
    """Of 2 x 6 pages each product makes all; each chip owns as many as it stores in a round."""
    program = ring(chips, "scattered")
    share = round_of(program).share
    kept = [share[program.chips[chip].stores[0].ins[0]] for chip in range(chips)]
    tiles = [6 // chips + (chip < 6 % chips) for chip in range(chips)]
    assert [count * tiles[0] for count in kept] == [kept[0] * count for count in tiles]
    assert {share[f"c{chip}.partial"] for chip in range(chips)} == {sum(kept)}


def test_the_fewest_pages_with_which_turns_come_whole_are_a_round():
    """Turns of 4 at one end and of 6 at the other."""
    share = round_of(merged((0, 1, 1, 0), (0, 1, 1, 0, 0, 1))).share
    assert share == {"c0.partial": 6, "c1.partial": 6, "joint": 12, "x": 6, "y": 6}


def refusal_of(program: Program) -> tuple[str, str, str]:
    with pytest.raises(FlowError) as refusal:
        round_of(program)
    return refusal.value.rule, refusal.value.subject, str(refusal.value)


def test_turns_that_do_not_come_out_even_are_refused():
    """The first output is given two pages of three, but as many as the other go around."""
    program = ring(3, "all")
    (split,) = (s for s in program.stages if s.name == "c1.split_partial")
    program = changed(program, split.name, kind=Split((*split.kind.turns, 0)))
    rule, _, text = refusal_of(program)
    assert rule == "CountingImbalance"
    assert "in another proportion than the stages that it is joined to; they do not end t" in text


def test_rounds_that_are_too_long_are_refused():
    turns = (0, 1) * 150 + (0,)
    again = (0, 1) * 151 + (1,)
    assert len(turns) * len(again) > limits.TURNS
    assert refusal_of(merged(turns, again)) == (
        "TurnOrder",
        "c0.matmul",
        f"the turns of 'c0.matmul', and of what it is joined to, come whole only after more than "
        f"{limits.TURNS} pages",
    )


def test_what_nothing_fills_is_refused():
    program = changed(compiled(), "store_c", ins=("nothing",))
    assert refusal_of(program) == (
        "BufferUnfilled",
        "store_c",
        "stage 'store_c' takes from buffer 'nothing', which nothing fills",
    )


def test_a_circle_that_no_page_can_enter_first_is_refused_and_those_behind_it_are_named():
    """Each chip takes what comes from behind before it sends what it has."""
    program = ring(3, "all")
    for chip in range(3):
        (merge,) = (
            stage
            for stage in program.stages
            if stage.chip == chip and isinstance(stage.kind, Merge) and "store" not in stage.name
        )
        later = sorted(merge.kind.turns, key=lambda turn: "landing" not in merge.ins[turn])
        program = changed(program, merge.name, kind=Merge(tuple(later)))
    rule, subject, text = refusal_of(program)
    assert rule == "Cycle"
    assert subject in program.stage_by_name
    assert text.endswith(" feed each other in a circle")
    assert {f"c{chip}.merge_c{(chip + 1) % 3}" for chip in range(3)} <= {*text.split("'")}


def test_it_is_found_once_for_a_program():
    program = ring(3, "all")
    assert round_of(program) is round_of(program)
    assert round_of(replace(program, name="another")) == round_of(program)
    assert isinstance(round_of(program), Round)


@pytest.mark.parametrize("k_axis", ["row", "col"])
def test_groups_of_a_mesh_have_rounds_of_their_own(k_axis):
    other = {"row": "col", "col": "row"}[k_axis]
    plan = ShardPlan(Mesh(row=2, col=3), "ring", shard={"k": k_axis, "m": other}, result="all")
    program = compile(MatmulSpec(12, 8, 12), TARGET, plan)
    share = round_of(program).share
    size, sums = ({"row": 2, "col": 3}[axis] for axis in (other, k_axis))
    for group in plan.mesh.groups(k_axis):
        (pages,) = {share[f"c{chip}.partial"] for chip in group}
        assert pages % sums == 0
        assert (6 // size * 4) % pages == 0
