# amaranth: UnusedElaboratable=no
import random

import pytest
from amaranth.hdl import Module, ResetInserter, Signal
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import connect

from compiler.ir.walk import Loop, Walk
from hw.load_unit import LoadUnit
from tests.hw.simulation import consumer, idle, lanes, monitor, plain, random_beats, simulate

ALL_TWICE = Walk((Loop(2, 0), Loop(4, 1)))
BY_COLUMNS = Walk((Loop(2, 1), Loop(2, 2)))
ONE_PAGE = Walk((Loop(1, 1),))
PAGES = {ALL_TWICE: [0, 1, 2, 3, 0, 1, 2, 3], BY_COLUMNS: [0, 2, 1, 3], ONE_PAGE: [0]}


class Bench:
    """A load unit on a memory of four pages with random words."""

    def __init__(self, tile: int, walk: Walk):
        beat = lanes(tile)
        words = random_beats(random.Random(f"{tile}/{walk}"), 4 * tile, beat)
        self.dut = LoadUnit(beat, walk=walk, page_beats=tile, depth_words=4 * tile)
        self.module = Module()
        self.module.submodules.dut = self.dut
        self.module.submodules.memory = memory = Memory(shape=beat, depth=4 * tile, init=words)
        connect(self.module, self.dut.memory, memory.read_port())
        self.expected = [words[page * tile + beat] for page in PAGES[walk] for beat in range(tile)]

    def starter(self, *cycles: int):
        async def run(ctx):
            for cycle in range(max(cycles) + 1):
                ctx.set(self.dut.start, cycle in cycles)
                await ctx.tick()
            ctx.set(self.dut.start, 0)

        return run


@pytest.mark.parametrize("tile", [1, 3, 5])
@pytest.mark.parametrize("walk", PAGES, ids=str)
@pytest.mark.parametrize("density", [0.2, 0.6, 1.0])
def test_sends_the_words_of_the_walk_in_order(tile, walk, density):
    bench = Bench(tile, walk)
    received = []
    seed = f"{tile}/{walk}/{density}"
    simulate(
        bench.module,
        bench.starter(3),
        consumer(bench.dut.o, received, len(bench.expected), density=density, seed=seed),
    )
    assert received == bench.expected


@pytest.mark.parametrize("tile", [1, 3, 5])
@pytest.mark.parametrize("walk", PAGES, ids=str)
def test_sends_one_beat_per_cycle_from_one_cycle_after_start(tile, walk):
    bench = Bench(tile, walk)
    received, log = [], []
    simulate(
        bench.module,
        bench.starter(3),
        consumer(bench.dut.o, received, count := len(bench.expected), density=1.0, seed=0),
        monitors=[monitor(log, bench.dut.o.valid)],
    )
    assert [cycle for cycle, (valid,) in enumerate(log) if valid] == [*range(4, 4 + count)]


@pytest.mark.parametrize("tile", [1, 3])
@pytest.mark.parametrize("walk", PAGES, ids=str)
@pytest.mark.parametrize("density", [0.4, 1.0])
def test_runs_again_without_reset(tile, walk, density):
    bench = Bench(tile, walk)
    received = []
    dut, count = bench.dut, len(bench.expected)

    async def three_runs(ctx):
        for run in range(1, 4):
            await bench.starter(0)(ctx)
            seed = f"{tile}/{walk}/{density}/{run}"
            await consumer(dut.o, received, run * count, density=density, seed=seed)(ctx)

    simulate(bench.module, three_runs)
    assert received == 3 * bench.expected


@pytest.mark.parametrize("walk", PAGES, ids=str)
def test_next_run_follows_without_a_bubble_when_started_with_the_last_beat(walk):
    bench = Bench(3, walk)
    received, log = [], []
    count = len(bench.expected)
    simulate(
        bench.module,
        bench.starter(0, count),
        consumer(bench.dut.o, received, 2 * count, density=1.0, seed=0),
        monitors=[monitor(log, bench.dut.o.valid)],
    )
    assert received == 2 * bench.expected
    assert [cycle for cycle, (valid,) in enumerate(log) if valid] == [*range(1, 2 * count + 1)]


def test_ignores_start_during_a_walk():
    bench = Bench(3, BY_COLUMNS)
    received = []
    count = len(bench.expected)
    simulate(
        bench.module,
        bench.starter(*range(count)),
        consumer(bench.dut.o, received, count, density=1.0, seed=0),
    )
    assert received == bench.expected


def test_remembers_a_start_while_the_last_beat_of_a_run_waits():
    bench = Bench(3, ONE_PAGE)
    received = []

    async def late_consumer(ctx):
        ctx.set(bench.dut.o.ready, 1)
        while len(received) < 2:
            _, _, valid, beat = await ctx.tick().sample(bench.dut.o.valid, bench.dut.o.payload)
            if valid:
                received.append(plain(beat))
        ctx.set(bench.dut.o.ready, 0)
        await idle(ctx, 5)
        await bench.starter(0)(ctx)
        await idle(ctx, 5)
        await consumer(bench.dut.o, received, 6, density=0.5, seed=0)(ctx)

    simulate(bench.module, bench.starter(0), late_consumer)
    assert received == 2 * bench.expected


@pytest.mark.parametrize("cycles_before", [1, 2, 7])
def test_begins_at_the_first_word_after_a_reset(cycles_before):
    bench = Bench(3, BY_COLUMNS)
    reset = Signal()
    received = []

    async def reset_in_mid_run(ctx):
        ctx.set(bench.dut.o.ready, 1)
        await bench.starter(0)(ctx)
        await idle(ctx, cycles_before)
        ctx.set(reset, 1)
        await ctx.tick()
        ctx.set(reset, 0)
        assert not ctx.get(bench.dut.o.valid)
        await bench.starter(5)(ctx)
        await consumer(bench.dut.o, received, len(bench.expected), density=0.6, seed=0)(ctx)

    simulate(ResetInserter(reset)(bench.module), reset_in_mid_run)
    assert received == bench.expected


@pytest.mark.parametrize(
    ("beat", "counts", "text"),
    [
        (24, (3, 12), "Beat must be an ArrayLayout of signed lanes, not 24"),
        (lanes(3), (-3, 12), "Page beats must be a positive integer, not -3"),
        (lanes(3), (3, "12"), "Depth in words must be a positive integer, not '12'"),
    ],
)
def test_refuses_wrong_arguments(beat, counts, text):
    page_beats, depth_words = counts
    with pytest.raises(TypeError) as error:
        LoadUnit(beat, walk=ONE_PAGE, page_beats=page_beats, depth_words=depth_words)
    assert str(error.value) == text
