"""The flow of pages has a beginning."""

import random
from dataclasses import replace

import pytest

from compiler.errors import ValidationError
from compiler.flow.errors import FlowError
from compiler.flow.order import in_flow_order, sources_of
from compiler.flow.rounds import round_of
from compiler.ir.body import left_fold
from compiler.ir.edge import Edge
from compiler.ir.mesh import Mesh
from compiler.ir.stage import Fold, Recv, Stage
from compiler.validate import validate
from tests.compiler.programs import TOKEN, changed, compiled, sharded, spread

FOUR = sharded(4)


def fold_that_feeds_itself():
    """Chip 0's fold adds its own sum in place of what chip 1 sent, which goes on to be stored."""
    program = changed(FOUR, "c0.fold", ins=("c0.partial", "c0.again", "c0.landing_1"))
    again = replace(FOUR.buffer_by_name["c0.reduced"], name="c0.again")
    spin = Stage(
        "c0.spin",
        Fold(left_fold(2)),
        ins=("c0.landing_0", "c0.reduced"),
        outs=("c0.again",),
        site=FOUR.stage_by_name["c0.fold"].site,
    )
    program = changed(program, "c0.recv_0->c0.fold", destination="c0.spin")
    program = changed(program, "c0.fold->c0.store_c", destination="c0.spin")
    return replace(
        program,
        stages=(*(s for s in program.stages if s.name != "c0.store_c"), spin),
        buffers=(*program.buffers, again),
        edges=(*program.edges, Edge("c0.spin->c0.fold", "c0.spin", "c0.again", "c0.fold")),
    )


def test_a_circle_is_refused():
    program = fold_that_feeds_itself()
    with pytest.raises(FlowError) as refusal:
        round_of(program)
    assert (refusal.value.rule, refusal.value.subject) == ("Cycle", "c0.fold")
    assert str(refusal.value) == "stages 'c0.fold', 'c0.spin' feed each other in a circle"
    with pytest.raises(ValidationError, match=r"^Cycle: "):
        validate(program, TOKEN)


@pytest.mark.parametrize("seed", range(5))
def test_stages_come_behind_all_that_feed_them_in_whatever_order_they_stand(seed):
    stages = list(sharded(8).stages)
    random.Random(seed).shuffle(stages)
    program = replace(sharded(8), stages=tuple(stages))
    filled: set[str] = set()
    for stage in in_flow_order(program):
        assert filled.issuperset(sources_of(program, stage))
        filled.update(stage.outs)
    assert filled == {buffer.name for buffer in program.buffers}


def test_each_stage_comes_once_and_behind_its_sources():
    reversed_program = replace(FOUR, stages=FOUR.stages[::-1])
    for program in (compiled(), FOUR, reversed_program):
        filled = set()
        order = in_flow_order(program)
        assert sorted(s.name for s in order) == sorted(s.name for s in program.stages)
        for stage in order:
            assert filled.issuperset(sources_of(program, stage))
            filled.update(stage.outs)


def test_a_receive_takes_from_the_senders_buffer():
    assert sources_of(FOUR, FOUR.stage_by_name["c0.recv_1"]) == ("c2.subtotal",)
    assert sources_of(FOUR, FOUR.stage_by_name["c2.fold"]) == ("c2.partial", "c2.landing_0")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("chips", [2, 3, 5])
def test_a_circle_begins_with_a_receive_in_whatever_order_stages_stand(chips, seed):
    """No other stage comes before what feeds it, and of the receives of a ring only one does."""
    program = spread(32, 32, 16 * chips, mesh=Mesh(tp=chips), reduce="ring", result="all")
    stages = list(program.stages)
    random.Random(seed).shuffle(stages)
    program = replace(program, stages=tuple(stages))
    filled: set[str] = set()
    early: list[Stage] = []
    order = in_flow_order(program)
    for stage in order:
        if not filled.issuperset(sources_of(program, stage)):
            early.append(stage)
        filled.update(stage.outs)
    assert len(early) == 1
    assert isinstance(early[0].kind, Recv)
    assert sorted(s.name for s in order) == sorted(s.name for s in program.stages)
