# amaranth: UnusedElaboratable=no
import random

import pytest

from hw.copy_unit import CopyUnit
from tests.hw.simulation import consumer, idle, lanes, monitor, producer, random_beats, simulate

BEAT = lanes(3)


@pytest.mark.covers("pairs")
@pytest.mark.parametrize("outputs", [1, 2, 3])
@pytest.mark.parametrize("idling", [0.2, 0.6, 1.0])
@pytest.mark.parametrize("back_pressure", [(0.2, 1.0), (0.6, 0.6), (1.0, 0.2), (1.0, 1.0)], ids=str)
def test_every_output_has_every_beat(outputs, idling, back_pressure):
    """Outputs are ready at two densities in turn."""
    seed = f"{outputs}/{idling}/{back_pressure}"
    beats = random_beats(random.Random(seed), 40, BEAT)
    dut = CopyUnit(BEAT, outputs=outputs)
    received = [[] for _ in range(outputs)]
    simulate(
        dut,
        producer(dut.i, beats, density=idling, seed=seed),
        *(
            consumer(
                dut.o[index], got, len(beats), density=back_pressure[index % 2], seed=(seed, index)
            )
            for index, got in enumerate(received)
        ),
    )
    assert received == [beats] * outputs


def test_a_beat_passes_in_the_first_cycle_in_which_all_outputs_have_room():
    dut = CopyUnit(BEAT, outputs=3)
    log = []

    async def outputs(ctx):
        ctx.set(dut.i.payload, [1, -2, 3])
        ctx.set(dut.i.valid, 1)
        for ready in ((0, 0, 0), (1, 0, 1), (1, 1, 0), (1, 1, 1), (1, 1, 1)):
            for output, is_ready in zip(dut.o, ready, strict=True):
                ctx.set(output.ready, is_ready)
            await ctx.tick()

    # An output sees a beat as soon as all others would take it; it is taken when it would as well.
    simulate(dut, outputs, monitors=[monitor(log, dut.i.ready, *(o.valid for o in dut.o))])
    assert log[:5] == [(0, 0, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (1, 1, 1, 1), (1, 1, 1, 1)]


def test_nothing_comes_out_where_nothing_went_in():
    dut = CopyUnit(BEAT, outputs=2)
    log = []

    async def outputs(ctx):
        for output in dut.o:
            ctx.set(output.ready, 1)
        for _ in range(4):
            await ctx.tick()

    simulate(dut, outputs, monitors=[monitor(log, *(output.valid for output in dut.o))])
    assert {*log} == {(0, 0)}


class HastyCopy(CopyUnit):
    """Gives its first output a beat without a look at the others."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        m.d.comb += self.o[0].valid.eq(self.i.valid)
        return m


def test_asserts_that_a_beat_goes_to_all_outputs_or_to_none():
    dut = HastyCopy(BEAT, outputs=2)

    async def one_ready(ctx):
        ctx.set(dut.i.valid, 1)
        ctx.set(dut.o[0].ready, 1)
        await idle(ctx, 2)

    with pytest.raises(AssertionError, match="a beat went to some outputs and not to all"):
        simulate(dut, one_ready)


@pytest.mark.parametrize("outputs", [0, -1, "2", True])
def test_outputs_must_be_a_positive_integer(outputs):
    with pytest.raises(TypeError) as error:
        CopyUnit(BEAT, outputs=outputs)
    assert str(error.value) == f"Outputs must be a positive integer, not {outputs!r}"


def test_refuses_a_beat_without_lanes():
    with pytest.raises(TypeError) as error:
        CopyUnit(24, outputs=2)
    assert str(error.value) == "Beat must be an ArrayLayout of signed lanes, not 24"
