# amaranth: UnusedElaboratable=no
import random

import pytest
from amaranth.hdl import Module, ResetInserter, Signal
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import connect

from compiler.ir.walk import Loop, Walk
from hw.store_unit import StoreUnit
from tests.hw.simulation import lanes, monitor, plain, producer, random_beats, simulate

IN_ORDER = Walk((Loop(4, 1),))
BY_COLUMNS = Walk((Loop(2, 1), Loop(2, 2)))
WITH_GAPS = Walk((Loop(2, 3),))
PAGES = {IN_ORDER: [0, 1, 2, 3], BY_COLUMNS: [0, 2, 1, 3], WITH_GAPS: [0, 3]}


class Bench:
    """A store unit on an empty memory of four pages."""

    def __init__(self, tile: int, walk: Walk):
        self.tile, self.walk, self.beat = tile, walk, lanes(tile)
        self.dut = StoreUnit(self.beat, walk=walk, page_beats=tile, depth_words=4 * tile)
        self.module = Module()
        self.module.submodules.dut = self.dut
        self.module.submodules.memory = self.memory = Memory(
            shape=self.beat, depth=4 * tile, init=[]
        )
        connect(self.module, self.dut.memory, self.memory.write_port())
        self.count = len(PAGES[walk]) * tile

    def contents(self, ctx) -> list[list[int]]:
        return [plain(ctx.get(word)) for word in self.memory.data]

    def expected(self, beats) -> list[list[int]]:
        words = [[0] * self.tile for _ in range(4 * self.tile)]
        for index, beat in enumerate(beats):
            page = PAGES[self.walk][index // self.tile]
            words[page * self.tile + index % self.tile] = beat
        return words

    async def begin(self, ctx):
        ctx.set(self.dut.start, 1)
        await ctx.tick()
        ctx.set(self.dut.start, 0)


@pytest.mark.parametrize("tile", [1, 3, 5])
@pytest.mark.parametrize("walk", PAGES, ids=str)
@pytest.mark.parametrize("density", [0.2, 0.6, 1.0])
def test_every_run_writes_the_pages_of_the_walk_and_then_says_so(tile, walk, density):
    bench = Bench(tile, walk)
    rng = random.Random(f"{tile}/{walk}/{density}")

    async def three_runs(ctx):
        assert not ctx.get(bench.dut.done)
        for _ in range(3):
            await bench.begin(ctx)
            assert not ctx.get(bench.dut.done)
            beats = random_beats(rng, bench.count, bench.beat)
            first = producer(bench.dut.i, beats[:-1], density=density, seed=rng.random())
            last = producer(bench.dut.i, beats[-1:], density=density, seed=rng.random())
            await first(ctx)
            await ctx.tick()
            assert not ctx.get(bench.dut.done)
            await last(ctx)
            assert ctx.get(bench.dut.done)
            assert bench.contents(ctx) == bench.expected(beats)
            for _ in range(3):
                await ctx.tick()
                assert ctx.get(bench.dut.done)
            assert bench.contents(ctx) == bench.expected(beats)

    simulate(bench.module, three_runs)


@pytest.mark.parametrize("walk", PAGES, ids=str)
def test_takes_a_beat_in_every_cycle_and_is_done_in_the_cycle_after_the_last(walk):
    bench = Bench(3, walk)
    beats = random_beats(random.Random(0), bench.count, bench.beat)
    log = []

    async def run(ctx):
        await bench.begin(ctx)
        await producer(bench.dut.i, beats, density=1.0, seed=0)(ctx)
        await ctx.tick()

    simulate(bench.module, run, monitors=[monitor(log, bench.dut.i.ready, bench.dut.done)])
    assert all(ready for ready, _ in log)
    assert [done for _, done in log].index(1) == 1 + bench.count


def test_begins_at_the_first_word_after_a_reset():
    bench = Bench(3, BY_COLUMNS)
    reset = Signal()
    beats = random_beats(random.Random(0), bench.count, bench.beat)

    async def reset_in_mid_run_and_when_done(ctx):
        for written in (4, bench.count, bench.count):
            await bench.begin(ctx)
            await producer(bench.dut.i, beats[:written], density=0.6, seed=written)(ctx)
            assert ctx.get(bench.dut.done) == (written == bench.count)
            ctx.set(reset, 1)
            await ctx.tick()
            ctx.set(reset, 0)
            assert not ctx.get(bench.dut.done)
        assert bench.contents(ctx) == bench.expected(beats)

    simulate(ResetInserter(reset)(bench.module), reset_in_mid_run_and_when_done)


@pytest.mark.parametrize(
    ("beat", "counts", "text"),
    [
        (24, (3, 12), "Beat must be an ArrayLayout of signed lanes, not 24"),
        (lanes(3), (0, 12), "Page beats must be a positive integer, not 0"),
        (lanes(3), (3, False), "Depth in words must be a positive integer, not False"),
    ],
)
def test_refuses_wrong_arguments(beat, counts, text):
    page_beats, depth_words = counts
    with pytest.raises(TypeError) as error:
        StoreUnit(beat, walk=IN_ORDER, page_beats=page_beats, depth_words=depth_words)
    assert str(error.value) == text
