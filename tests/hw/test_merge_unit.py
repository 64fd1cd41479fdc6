# amaranth: UnusedElaboratable=no
import random
from collections import deque

import pytest
from amaranth.hdl import ResetInserter, Signal

from hw.merge_unit import MergeUnit
from tests.hw.simulation import (
    consumer,
    delayed,
    idle,
    lanes,
    monitor,
    producer,
    random_beats,
    simulate,
)

BEAT = lanes(3)
TURNS = {"two": (0, 1), "other way": (1, 0), "unequal": (0, 1, 1), "three": (2, 0, 1, 2)}
PAGE_BEATS = 3
ROUNDS = 4


def merging(turns: tuple[int, ...]) -> MergeUnit:
    return MergeUnit(BEAT, inputs=max(turns) + 1, turns=turns, page_beats=PAGE_BEATS)


def pages_and_merged(turns: tuple[int, ...], seed: object) -> tuple[list, list]:
    """Beats for each input in whole rounds, and all of them in turns."""
    rng = random.Random(f"pages/{seed}")
    beats = [
        random_beats(rng, ROUNDS * turns.count(index) * PAGE_BEATS, BEAT)
        for index in range(max(turns) + 1)
    ]
    waiting = [deque(each) for each in beats]
    merged = [
        waiting[turn].popleft() for _ in range(ROUNDS) for turn in turns for _ in range(PAGE_BEATS)
    ]
    assert not any(waiting)
    return beats, merged


@pytest.mark.covers("pairs")
@pytest.mark.parametrize("name", TURNS)
@pytest.mark.parametrize("idling", [(0.2, 1.0), (0.6, 0.6), (1.0, 0.2), (1.0, 1.0)], ids=str)
@pytest.mark.parametrize("back_pressure", [0.2, 0.6, 1.0])
def test_pages_come_in_turns(name, idling, back_pressure):
    """Inputs idle at two densities in turn."""
    turns, seed = TURNS[name], f"{name}/{idling}/{back_pressure}"
    beats, merged = pages_and_merged(turns, seed)
    dut, received = merging(turns), []
    simulate(
        dut,
        *(
            producer(dut.i[index], each, density=idling[index % 2], seed=(seed, index))
            for index, each in enumerate(beats)
        ),
        consumer(dut.o, received, len(merged), density=back_pressure, seed=seed),
    )
    assert received == merged


def test_a_beat_passes_in_the_cycle_in_which_it_is_there_one_in_each():
    turns = TURNS["unequal"]
    beats, merged = pages_and_merged(turns, 0)
    dut, received, log = merging(turns), [], []
    simulate(
        dut,
        *(producer(dut.i[i], each, density=1.0, seed=0) for i, each in enumerate(beats)),
        consumer(dut.o, received, len(merged), density=1.0, seed=0),
        monitors=[monitor(log, dut.o.valid & dut.o.ready)],
    )
    assert received == merged
    assert [cycle for cycle, (passed,) in enumerate(log) if passed] == [*range(len(merged))]


def test_who_has_no_turn_waits_however_long_it_takes():
    dut, log = merging(TURNS["two"]), []

    async def second_alone(ctx):
        ctx.set(dut.o.ready, 1)
        ctx.set(dut.i[1].valid, 1)
        await idle(ctx, 20)
        ctx.set(dut.i[0].valid, 1)
        await idle(ctx, 2 * PAGE_BEATS)

    taken = [merged.valid & merged.ready for merged in dut.i]
    simulate(dut, second_alone, monitors=[monitor(log, dut.o.valid, *taken)])
    assert log[:20] == [(0, 0, 0)] * 20
    assert log[20 : 20 + 2 * PAGE_BEATS] == [(1, 1, 0)] * PAGE_BEATS + [(1, 0, 1)] * PAGE_BEATS


def test_runs_follow_each_other_without_a_reset():
    dut, received = merging(TURNS["three"]), []
    runs = [pages_and_merged(TURNS["three"], seed) for seed in range(3)]

    async def start(ctx):
        """Strobe it before each run, when the run before has passed."""
        for run in range(3):
            while len(received) < sum(len(merged) for _, merged in runs[:run]):
                await ctx.tick()
            ctx.set(dut.start, 1)
            await ctx.tick()
            ctx.set(dut.start, 0)
            began.append(run)

    def input_of(index: int):
        async def run_by_run(ctx):
            for run, (beats, _) in enumerate(runs):
                while len(began) <= run:
                    await ctx.tick()
                await producer(dut.i[index], beats[index], density=0.7, seed=(run, index))(ctx)

        return run_by_run

    began: list[int] = []
    merged = [beat for _, merged in runs for beat in merged]
    simulate(
        dut,
        start,
        *(input_of(index) for index in range(3)),
        consumer(dut.o, received, len(merged), density=0.7, seed=0),
    )
    assert received == merged


def test_reset_in_mid_round_begins_anew():
    turns = TURNS["unequal"]
    beats, merged = pages_and_merged(turns, 0)
    dut, reset, received = merging(turns), Signal(), []

    async def reset_in_mid_run(ctx):
        for merged in dut.i:
            ctx.set(merged.valid, 1)
        ctx.set(dut.o.ready, 1)
        await idle(ctx, PAGE_BEATS + 1)
        for merged in dut.i:
            ctx.set(merged.valid, 0)
        ctx.set(dut.o.ready, 0)
        ctx.set(reset, 1)
        await ctx.tick()
        ctx.set(reset, 0)

    simulate(
        ResetInserter(reset)(dut),
        reset_in_mid_run,
        *(delayed(9, producer(dut.i[i], e, density=0.6, seed=i)) for i, e in enumerate(beats)),
        delayed(9, consumer(dut.o, received, len(merged), density=0.6, seed=0)),
    )
    assert received == merged


class GreedyMerge(MergeUnit):
    """Takes beats from its second input at any time."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        m.d.comb += self.i[1].ready.eq(1)
        return m


def test_asserts_that_nothing_is_taken_out_of_its_turn():
    dut = GreedyMerge(BEAT, inputs=2, turns=(0, 1), page_beats=2)

    async def second_alone(ctx):
        ctx.set(dut.i[1].valid, 1)
        await idle(ctx, 2)

    with pytest.raises(AssertionError, match="a beat was taken from an input out of its turn"):
        simulate(dut, second_alone)


@pytest.mark.parametrize("turns", [(0, 0), (0, 1, 2)], ids=str)
def test_turns_must_name_the_inputs(turns):
    with pytest.raises(ValueError, match="Turns") as error:
        MergeUnit(BEAT, inputs=2, turns=turns, page_beats=4)
    assert str(error.value) == f"Turns must name each of 2 inputs, and no other, not {turns!r}"


@pytest.mark.parametrize(("name", "label"), [("inputs", "Inputs"), ("page_beats", "Page beats")])
def test_counts_must_be_positive_integers(name, label):
    counts = {"inputs": 2, "page_beats": 4} | {name: 0}
    with pytest.raises(TypeError) as error:
        MergeUnit(BEAT, turns=(0, 1), **counts)
    assert str(error.value) == f"{label} must be a positive integer, not 0"


def test_refuses_a_beat_without_lanes():
    with pytest.raises(TypeError) as error:
        MergeUnit(24, inputs=2, turns=(0, 1), page_beats=4)
    assert str(error.value) == "Beat must be an ArrayLayout of signed lanes, not 24"
