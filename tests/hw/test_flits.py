# amaranth: UnusedElaboratable=no
import random

import pytest
from amaranth.hdl import Module, ResetInserter, Signal

from hw.flits import BeatDeserializer, BeatSerializer
from tests.hw.simulation import (
    consumer,
    lanes,
    monitor,
    plain,
    producer,
    random_beats,
    simulate,
)

# Three lanes of 8 bits: widths that divide the 24 bits, that do not, and that are wider.
WIDTHS = {1: 24, 5: 5, 7: 4, 8: 3, 12: 2, 23: 2, 24: 1, 32: 1}
BEAT = lanes(3)


def flits_of(beats, width_bits) -> list[int]:
    flits = []
    for beat in beats:
        bits = sum((lane % 256) << (8 * index) for index, lane in enumerate(beat))
        for _ in range(WIDTHS[width_bits]):
            flits.append(bits % 2**width_bits)
            bits >>= width_bits
    return flits


@pytest.mark.covers("pairs")
@pytest.mark.parametrize("width_bits", WIDTHS)
@pytest.mark.parametrize("idling", [0.2, 0.6, 1.0])
@pytest.mark.parametrize("back_pressure", [0.2, 0.6, 1.0])
def test_beats_leave_lowest_bits_first_and_padded_with_zeros(width_bits, idling, back_pressure):
    seed = f"{width_bits}/{idling}/{back_pressure}"
    beats = random_beats(random.Random(seed), 20, BEAT)
    expected = flits_of(beats, width_bits)
    dut = BeatSerializer(BEAT, width_bits=width_bits)
    received = []
    simulate(
        dut,
        producer(dut.i, beats, density=idling, seed=seed),
        consumer(dut.o, received, len(expected), density=back_pressure, seed=seed),
    )
    assert received == expected


@pytest.mark.parametrize(("width_bits", "flits_per_beat"), WIDTHS.items())
def test_a_flit_leaves_in_every_cycle_and_the_beat_is_taken_with_its_last(
    width_bits, flits_per_beat
):
    beats = random_beats(random.Random(width_bits), 10, BEAT)
    dut = BeatSerializer(BEAT, width_bits=width_bits)
    received, log = [], []
    count = flits_per_beat * len(beats)
    simulate(
        dut,
        producer(dut.i, beats, density=1.0, seed=0),
        consumer(dut.o, received, count, density=1.0, seed=0),
        monitors=[monitor(log, dut.o.valid, dut.i.ready)],
    )
    assert [cycle for cycle, (valid, _) in enumerate(log) if valid] == [*range(count)]
    assert [cycle for cycle, (valid, ready) in enumerate(log) if valid and ready] == [
        *range(flits_per_beat - 1, count, flits_per_beat)
    ]


@pytest.mark.parametrize(("width_bits", "flits_per_beat"), WIDTHS.items())
@pytest.mark.parametrize("density", [0.2, 0.6, 1.0])
def test_a_beat_is_whole_in_the_cycle_of_its_last_flit(width_bits, flits_per_beat, density):
    rng = random.Random(f"{width_bits}/{density}")
    beats = random_beats(rng, 20, BEAT)
    dut = BeatDeserializer(BEAT, width_bits=width_bits)

    async def link(ctx):
        for index, flit in enumerate(flits_of(beats, width_bits)):
            valid = False
            while not valid:
                valid = rng.random() < density
                ctx.set(dut.i.payload, flit if valid else rng.randrange(2**width_bits))
                ctx.set(dut.i.valid, valid)
                _, _, whole, beat = await ctx.tick().sample(dut.o.valid, dut.o.payload)
                assert whole == (valid and (index + 1) % flits_per_beat == 0)
            if whole:
                assert plain(beat) == beats[index // flits_per_beat]

    simulate(dut, link)


@pytest.mark.parametrize("lane_count", [1, 3, 5])
@pytest.mark.parametrize("bits", [8, 19])
@pytest.mark.parametrize("width_bits", [6, 16, 100])
def test_beats_of_any_shape_survive_the_way_there_and_back(lane_count, bits, width_bits):
    beat = lanes(lane_count, bits)
    beats = random_beats(random.Random(f"{lane_count}/{bits}/{width_bits}"), 30, beat)
    bench = Module()
    bench.submodules.serializer = serializer = BeatSerializer(beat, width_bits=width_bits)
    bench.submodules.deserializer = deserializer = BeatDeserializer(beat, width_bits=width_bits)
    bench.d.comb += [
        deserializer.i.payload.eq(serializer.o.payload),
        deserializer.i.valid.eq(serializer.o.valid),
        serializer.o.ready.eq(1),
    ]
    log = []
    simulate(
        bench,
        producer(serializer.i, beats, density=0.6, seed=f"{lane_count}/{bits}/{width_bits}"),
        monitors=[monitor(log, deserializer.o.valid, deserializer.o.payload)],
    )
    assert [payload for valid, payload in log if valid] == beats


def test_reset_forgets_the_flits_of_half_a_beat():
    serializer = BeatSerializer(BEAT, width_bits=8)
    deserializer = BeatDeserializer(BEAT, width_bits=8)
    bench = Module()
    bench.submodules += [serializer, deserializer]
    bench.d.comb += [
        deserializer.i.payload.eq(serializer.o.payload),
        deserializer.i.valid.eq(serializer.o.valid & serializer.o.ready),
    ]
    reset = Signal()
    first, second = random_beats(random.Random(0), 2, BEAT)

    async def both_ends(ctx):
        ctx.set(serializer.o.ready, 1)
        ctx.set(serializer.i.payload, first)
        ctx.set(serializer.i.valid, 1)
        await ctx.tick()
        ctx.set(reset, 1)
        await ctx.tick()
        ctx.set(reset, 0)
        ctx.set(serializer.i.payload, second)
        for last in (False, False, True):
            assert ctx.get(serializer.i.ready) == last
            assert ctx.get(deserializer.o.valid) == last
            if last:
                assert plain(ctx.get(deserializer.o.payload)) == second
            await ctx.tick()

    simulate(ResetInserter(reset)(bench), both_ends)


@pytest.mark.parametrize("component", [BeatSerializer, BeatDeserializer])
@pytest.mark.parametrize(
    ("beat", "width_bits", "text"),
    [
        (24, 8, "Beat must be an ArrayLayout of signed lanes, not 24"),
        (BEAT, 0, "Link width must be a positive integer, not 0"),
    ],
)
def test_refuses_wrong_arguments(component, beat, width_bits, text):
    with pytest.raises(TypeError) as error:
        component(beat, width_bits=width_bits)
    assert str(error.value) == text
