# amaranth: UnusedElaboratable=no
import random

import pytest

from hw.split_unit import SplitUnit
from tests.hw.simulation import consumer, idle, lanes, monitor, producer, random_beats, simulate

BEAT = lanes(3)
TURNS = {"two": (0, 1), "other way": (1, 0), "unequal": (0, 1, 1), "three": (2, 0, 1, 2)}
PAGE_BEATS = 3
ROUNDS = 4


def splitting(turns: tuple[int, ...]) -> SplitUnit:
    return SplitUnit(BEAT, outputs=max(turns) + 1, turns=turns, page_beats=PAGE_BEATS)


def beats_and_dealt(turns: tuple[int, ...], seed: object) -> tuple[list, list]:
    """Whole rounds of beats, and what each output must get of them."""
    count = ROUNDS * len(turns) * PAGE_BEATS
    beats = random_beats(random.Random(f"beats/{seed}"), count, BEAT)
    dealt = [[] for _ in range(max(turns) + 1)]
    for index, beat in enumerate(beats):
        dealt[turns[index // PAGE_BEATS % len(turns)]].append(beat)
    return beats, dealt


@pytest.mark.covers("pairs")
@pytest.mark.parametrize("name", TURNS)
@pytest.mark.parametrize("idling", [0.2, 0.6, 1.0])
@pytest.mark.parametrize("back_pressure", [(0.2, 1.0), (0.6, 0.6), (1.0, 0.2), (1.0, 1.0)], ids=str)
def test_pages_go_out_in_turns(name, idling, back_pressure):
    """Outputs are ready at two densities in turn."""
    turns, seed = TURNS[name], f"{name}/{idling}/{back_pressure}"
    beats, dealt = beats_and_dealt(turns, seed)
    dut, received = splitting(turns), [[] for _ in dealt]
    simulate(
        dut,
        producer(dut.i, beats, density=idling, seed=seed),
        *(
            consumer(
                dut.o[index], got, len(due), density=back_pressure[index % 2], seed=(seed, index)
            )
            for index, (got, due) in enumerate(zip(received, dealt, strict=True))
        ),
    )
    assert received == dealt


def test_a_beat_passes_in_the_cycle_in_which_it_is_there_one_in_each():
    beats, dealt = beats_and_dealt(TURNS["unequal"], 0)
    dut, log = splitting(TURNS["unequal"]), []
    received = [[] for _ in dealt]
    simulate(
        dut,
        producer(dut.i, beats, density=1.0, seed=0),
        *(
            consumer(dut.o[index], got, len(due), density=1.0, seed=0)
            for index, (got, due) in enumerate(zip(received, dealt, strict=True))
        ),
        monitors=[monitor(log, *(output.valid & output.ready for output in dut.o))],
    )
    assert received == dealt
    expected = ([(1, 0)] * PAGE_BEATS + [(0, 1)] * 2 * PAGE_BEATS) * ROUNDS
    assert log[: len(beats)] == expected


def test_a_page_waits_for_its_own_output_whatever_room_the_others_have():
    dut, log = splitting(TURNS["two"]), []

    async def second_alone(ctx):
        ctx.set(dut.i.valid, 1)
        ctx.set(dut.o[1].ready, 1)
        await idle(ctx, 20)
        ctx.set(dut.o[0].ready, 1)
        await idle(ctx, 2 * PAGE_BEATS)

    given = [output.valid & output.ready for output in dut.o]
    simulate(dut, second_alone, monitors=[monitor(log, dut.i.ready, *given)])
    assert log[:20] == [(0, 0, 0)] * 20
    assert log[20 : 20 + 2 * PAGE_BEATS] == [(1, 1, 0)] * PAGE_BEATS + [(1, 0, 1)] * PAGE_BEATS


def test_runs_follow_each_other_without_a_reset():
    turns = TURNS["three"]
    runs = [beats_and_dealt(turns, seed) for seed in range(3)]
    dut = splitting(turns)
    received = [[] for _ in range(3)]

    async def run_by_run(ctx):
        for seed, (beats, _) in enumerate(runs):
            ctx.set(dut.start, 1)
            await ctx.tick()
            ctx.set(dut.start, 0)
            await producer(dut.i, beats, density=0.7, seed=seed)(ctx)

    dealt = [[beat for _, run in runs for beat in run[index]] for index in range(3)]
    simulate(
        dut,
        run_by_run,
        *(
            consumer(dut.o[index], got, len(due), density=0.7, seed=index)
            for index, (got, due) in enumerate(zip(received, dealt, strict=True))
        ),
    )
    assert received == dealt


class LavishSplit(SplitUnit):
    """Gives its second output whatever comes in."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        m.d.comb += self.o[1].valid.eq(self.i.valid)
        return m


def test_asserts_that_nothing_is_given_out_of_its_turn():
    dut = LavishSplit(BEAT, outputs=2, turns=(0, 1), page_beats=2)

    async def second_ready(ctx):
        ctx.set(dut.i.valid, 1)
        ctx.set(dut.o[1].ready, 1)
        await idle(ctx, 2)

    with pytest.raises(AssertionError, match="a beat was given to an output out of its turn"):
        simulate(dut, second_ready)


@pytest.mark.parametrize("turns", [(0, 0), (0, 1, 2)], ids=str)
def test_turns_must_name_the_outputs(turns):
    with pytest.raises(ValueError, match="Turns") as error:
        SplitUnit(BEAT, outputs=2, turns=turns, page_beats=4)
    assert str(error.value) == f"Turns must name each of 2 outputs, and no other, not {turns!r}"


@pytest.mark.parametrize(("name", "label"), [("outputs", "Outputs"), ("page_beats", "Page beats")])
def test_counts_must_be_positive_integers(name, label):
    counts = {"outputs": 2, "page_beats": 4} | {name: 0}
    with pytest.raises(TypeError) as error:
        SplitUnit(BEAT, turns=(0, 1), **counts)
    assert str(error.value) == f"{label} must be a positive integer, not 0"


def test_refuses_a_beat_without_lanes():
    with pytest.raises(TypeError) as error:
        SplitUnit(24, outputs=2, turns=(0, 1), page_beats=4)
    assert str(error.value) == "Beat must be an ArrayLayout of signed lanes, not 24"
