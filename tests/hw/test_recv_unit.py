# amaranth: UnusedElaboratable=no
import random

import pytest

from hw.recv_unit import RecvUnit
from tests.hw.simulation import lanes, plain, random_beats, simulate


@pytest.mark.parametrize("lane_count", [1, 3, 8])
@pytest.mark.parametrize("density", [0.5, 1.0])
def test_passes_beats_on_in_the_cycle_in_which_they_come(lane_count, density):
    beat = lanes(lane_count)
    rng = random.Random(f"{lane_count}/{density}")
    dut = RecvUnit(beat)

    async def link(ctx):
        ctx.set(dut.o.ready, 1)
        for sent in random_beats(rng, 50, beat):
            valid = rng.random() < density
            ctx.set(dut.i.payload, sent)
            ctx.set(dut.i.valid, valid)
            _, _, passed, payload = await ctx.tick().sample(dut.o.valid, dut.o.payload)
            assert passed == valid
            assert plain(payload) == sent

    simulate(dut, link)


def test_waits_without_complaint_for_room_while_nothing_comes():
    dut = RecvUnit(lanes(2))

    async def link(ctx):
        ctx.set(dut.o.ready, 0)
        await ctx.tick()
        ctx.set(dut.o.ready, 1)
        ctx.set(dut.i.valid, 1)
        await ctx.tick()

    simulate(dut, link)


def test_asserts_that_there_is_room_for_a_beat():
    dut = RecvUnit(lanes(2))

    async def link(ctx):
        ctx.set(dut.i.valid, 1)
        await ctx.tick()
        await ctx.tick()

    with pytest.raises(AssertionError, match="a beat arrived without room in the landing buffer"):
        simulate(dut, link)


def test_refuses_a_beat_without_lanes():
    with pytest.raises(TypeError) as error:
        RecvUnit(8)
    assert str(error.value) == "Beat must be an ArrayLayout of signed lanes, not 8"
