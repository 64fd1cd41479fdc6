# amaranth: UnusedElaboratable=no
import random
import re

import pytest

from hw.turn_counter import TurnCounter, check_turns
from tests.hw.simulation import idle, monitor, simulate


@pytest.mark.parametrize("page_beats", [1, 2, 3])
@pytest.mark.parametrize("turns", [(0,), (0, 1), (1, 0, 0), (2, 0, 1, 2, 0)], ids=str)
@pytest.mark.parametrize("density", [0.3, 1.0])
def test_a_turn_lasts_for_a_page_and_rounds_follow_each_other(turns, page_beats, density):
    rng = random.Random(f"{turns}/{page_beats}/{density}")
    dut = TurnCounter(turns, page_beats=page_beats)
    log = []

    async def steps(ctx):
        for _ in range(100):
            ctx.set(dut.step, rng.random() < density)
            await ctx.tick()

    simulate(dut, steps, monitors=[monitor(log, dut.step, dut.turn)])
    passed = 0
    for step, turn in log[:100]:
        assert turn == turns[passed // page_beats % len(turns)]
        passed += step
    assert passed > page_beats * len(turns)


@pytest.mark.parametrize("steps", [0, 6, 12])
def test_a_run_begins_at_the_first_turn(steps):
    dut = TurnCounter((0, 1, 1), page_beats=2)

    async def run(ctx):
        ctx.set(dut.step, 1)
        await idle(ctx, steps)
        ctx.set(dut.step, 0)
        ctx.set(dut.start, 1)
        await ctx.tick()
        assert ctx.get(dut.turn) == 0

    simulate(dut, run)


@pytest.mark.parametrize("steps", [1, 2, 5, 7])
def test_asserts_that_no_run_begins_in_the_middle_of_a_round(steps):
    dut = TurnCounter((0, 1, 1), page_beats=2)

    async def run(ctx):
        ctx.set(dut.step, 1)
        await idle(ctx, steps)
        ctx.set(dut.step, 0)
        ctx.set(dut.start, 1)
        await idle(ctx, 2)

    with pytest.raises(AssertionError, match="a run began in the middle of a round"):
        simulate(dut, run)


@pytest.mark.parametrize("turns", [(), (0, -1), (0, "1"), (True, 0)], ids=str)
def test_turns_must_be_integers_from_0_up(turns):
    rule = re.escape(f"Turns must be integers from 0 up, one at least, not {turns!r}")
    with pytest.raises(TypeError, match=f"^{rule}$"):
        TurnCounter(turns, page_beats=4)


@pytest.mark.parametrize("page_beats", [0, 1.0])
def test_page_beats_must_be_a_positive_integer(page_beats):
    with pytest.raises(TypeError) as error:
        TurnCounter((0, 1), page_beats=page_beats)
    assert str(error.value) == f"Page beats must be a positive integer, not {page_beats!r}"


@pytest.mark.parametrize(("turns", "count"), [((0, 0), 2), ((0, 1, 2), 2), ((1,), 1)], ids=str)
def test_each_stream_has_a_turn_and_no_other(turns, count):
    with pytest.raises(ValueError, match="Turns") as error:
        check_turns(turns, count, "inputs")
    assert str(error.value) == (
        f"Turns must name each of {count} inputs, and no other, not {turns!r}"
    )
    check_turns((1, 0, 1), 2, "inputs")
