# amaranth: UnusedElaboratable=no
import random

import pytest

from hw.tensor_memory import OperandMemory, ResultMemory
from tests.hw.simulation import lanes, plain, random_beats, simulate

KINDS = (OperandMemory, ResultMemory)
BEAT = lanes(4)


async def fetched(ctx, port, address: int) -> list[int]:
    """The word that a read port shows one cycle after its address."""
    ctx.set(port.addr, address)
    ctx.set(port.en, 1)
    await ctx.tick()
    ctx.set(port.en, 0)
    return plain(ctx.get(port.data))


@pytest.mark.parametrize("depth_words", [1, 2, 5, 16])
def test_load_reads_in_a_run_what_the_host_wrote_before_it(depth_words):
    dut = OperandMemory(BEAT, depth_words=depth_words)
    assert dut.depth == dut.data.depth == depth_words
    beats = random_beats(random.Random(depth_words), depth_words, BEAT)

    async def testbench(ctx):
        for address, beat in enumerate(beats):
            ctx.set(dut.host_write.addr, address)
            ctx.set(dut.host_write.data, beat)
            ctx.set(dut.host_write.en, 0b1111)
            await ctx.tick()
        ctx.set(dut.host_write.en, 0)
        for address, beat in enumerate(beats):
            assert await fetched(ctx, dut.host_read, address) == beat
        ctx.set(dut.running, 1)
        for address, beat in enumerate(beats):
            assert await fetched(ctx, dut.load, address) == beat

    simulate(dut, testbench)


def test_the_host_writes_the_lanes_that_it_enables():
    dut = OperandMemory(BEAT, depth_words=4)
    rng = random.Random(0)
    expected = [[0] * 4 for _ in range(4)]

    async def testbench(ctx):
        for _ in range(60):
            address, enables = rng.randrange(4), rng.randrange(16)
            (beat,) = random_beats(rng, 1, BEAT)
            ctx.set(dut.host_write.addr, address)
            ctx.set(dut.host_write.data, beat)
            ctx.set(dut.host_write.en, enables)
            await ctx.tick()
            for lane in range(4):
                if enables >> lane & 1:
                    expected[address][lane] = beat[lane]
            assert [plain(ctx.get(dut.data[row])) for row in range(4)] == expected

    simulate(dut, testbench)


@pytest.mark.parametrize("running", [0, 1])
def test_the_read_port_belongs_to_the_load_in_a_run_and_to_the_host_otherwise(running):
    dut = OperandMemory(BEAT, depth_words=4)

    async def testbench(ctx):
        for row in range(4):
            ctx.set(dut.data[row], [row] * 4)
        owner, other = (dut.load, dut.host_read) if running else (dut.host_read, dut.load)
        ctx.set(dut.running, running)
        assert await fetched(ctx, owner, 3) == [3] * 4
        await fetched(ctx, other, 1)
        assert plain(ctx.get(owner.data)) == [3] * 4  # the other's access reads nothing
        assert await fetched(ctx, owner, 2) == [2] * 4

    simulate(dut, testbench)


def test_the_host_reads_what_the_store_wrote():
    beat = lanes(2, 20)
    dut = ResultMemory(beat, depth_words=8)
    assert dut.depth == dut.data.depth == 8
    beats = random_beats(random.Random(1), 8, beat)

    async def testbench(ctx):
        for address, value in enumerate(beats):
            ctx.set(dut.store.addr, address)
            ctx.set(dut.store.data, value)
            ctx.set(dut.store.en, 1)
            await ctx.tick()
        ctx.set(dut.store.en, 0)
        ctx.set(dut.store.data, [1, 1])
        await ctx.tick()
        for address, value in enumerate(beats):
            assert await fetched(ctx, dut.host_read, address) == value
            assert plain(ctx.get(dut.data[address])) == value

    simulate(dut, testbench)


@pytest.mark.parametrize("kind", KINDS)
def test_refuses_a_beat_that_is_no_array_of_signed_lanes(kind):
    with pytest.raises(TypeError, match="Beat must be an ArrayLayout of signed lanes, not 8"):
        kind(8, depth_words=4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("depth_words", [0, -1, 1.5, True, None])
def test_refuses_a_depth_that_is_no_positive_integer(kind, depth_words):
    with pytest.raises(TypeError, match="Depth in words must be a positive integer, not"):
        kind(BEAT, depth_words=depth_words)
