# amaranth: UnusedElaboratable=no
import random

import pytest
from amaranth.hdl import ResetInserter, Signal

from hw.page_fifo import PageFifo
from hw.semaphore_link import SemaphoreReceiver, SemaphoreTransmitter
from tests.hw.link_bench import BEAT, FLITS, PAGE_BEATS, LinkBench
from tests.hw.simulation import consumer, delayed, idle, monitor, random_beats, simulate


def semaphore_link(*, width_bits: int, depth_pages: int, latency_cycles: int) -> LinkBench:
    return LinkBench(
        SemaphoreTransmitter(
            BEAT, page_beats=PAGE_BEATS, width_bits=width_bits, credits=depth_pages
        ),
        SemaphoreReceiver(BEAT, width_bits=width_bits, depth_pages=depth_pages),
        depth_pages=depth_pages,
        latency_cycles=latency_cycles,
    )


@pytest.mark.covers("pairs")
@pytest.mark.parametrize("width_bits", FLITS)
@pytest.mark.parametrize("depth_pages", [1, 3])
@pytest.mark.parametrize("latency_cycles", [1, 4])
@pytest.mark.parametrize("write_density", [0.2, 1.0])
@pytest.mark.parametrize("read_density", [0.1, 0.5, 1.0])
def test_releases_whole_pages_in_order_and_never_overruns_the_landing_buffer(
    width_bits, depth_pages, latency_cycles, write_density, read_density
):
    seed = f"{width_bits}/{depth_pages}/{latency_cycles}/{write_density}/{read_density}"
    bench = semaphore_link(
        width_bits=width_bits, depth_pages=depth_pages, latency_cycles=latency_cycles
    )
    beats = random_beats(random.Random(seed), 8 * PAGE_BEATS, BEAT)
    log = []
    received = bench.transfer(
        beats,
        write_density=write_density,
        read_density=read_density,
        seed=seed,
        monitors=[monitor(log, bench.receiver.commit)],
    )
    assert received == beats
    assert sum(commit for (commit,) in log) == 8


@pytest.mark.covers("values")
@pytest.mark.parametrize("width_bits", FLITS)
@pytest.mark.parametrize("depth_pages", [1, 2, 3, 9])
@pytest.mark.parametrize("latency_cycles", [1, 8])
def test_keeps_its_schedule_to_the_cycle(width_bits, depth_pages, latency_cycles):
    """A slot can be taken one register after its offer has come. Slots are offered in turn after
    reset, and again in the cycle after their page was read, which begins after its ``valid``.
    """
    bench = semaphore_link(
        width_bits=width_bits, depth_pages=depth_pages, latency_cycles=latency_cycles
    )
    beats = random_beats(random.Random(0), 12 * PAGE_BEATS, BEAT)
    log = []
    strobes = monitor(log, bench.sender.busy, bench.receiver.commit)
    assert bench.transfer(beats, monitors=[strobes]) == beats

    page_flits = PAGE_BEATS * FLITS[width_bits]
    starts, commits = [], []
    for page in range(12):
        offered = page
        if page >= depth_pages:
            offered = commits[page - depth_pages] + PAGE_BEATS + 1
        earliest = starts[-1] + page_flits if starts else 0
        starts.append(max(earliest, offered + latency_cycles + 1))
        last_flit_arrives = starts[-1] + (page_flits - 1) + 1 + latency_cycles
        commits.append(last_flit_arrives + 1)
    assert [cycle for cycle, (busy, _) in enumerate(log) if busy] == [
        start + flit for start in starts for flit in range(page_flits)
    ]
    assert [cycle for cycle, (_, commit) in enumerate(log) if commit] == commits


@pytest.mark.parametrize("read_density", [0.3, 1.0])
def test_reader_of_a_page_fifo_sees_nothing_before_valid(read_density):
    """The bench has a latency of 2 and 9 flits to a page: the first is committed in cycle 15."""
    bench = semaphore_link(width_bits=8, depth_pages=2, latency_cycles=2)
    fifo = PageFifo(BEAT, page_beats=PAGE_BEATS, depth_pages=2, commits=True)
    bench.module.submodules.fifo = fifo
    bench.module.d.comb += [
        fifo.i.payload.eq(bench.receiver.o.payload),
        fifo.i.valid.eq(bench.receiver.o.valid),
        fifo.commit.eq(bench.receiver.commit),
        bench.receiver.page_release.eq(fifo.page_release),
    ]
    beats = random_beats(random.Random(0), 8 * PAGE_BEATS, BEAT)
    received, log = [], []
    simulate(
        bench.module,
        bench.writer(beats),
        consumer(fifo.o, received, len(beats), density=read_density, seed=read_density),
        monitors=[monitor(log, fifo.i.valid, fifo.i.ready, fifo.commit, fifo.o.valid)],
    )
    assert received == beats
    assert all(ready for valid, ready, _, _ in log if valid)
    written, _, commit, readable = (column.index(1) for column in zip(*log, strict=True))
    assert (written, commit, readable) == (8, 15, 16)


@pytest.mark.parametrize("depth_pages", [1, 2, 5])
def test_receiver_offers_each_slot_once_after_reset_and_again_when_its_page_has_been_read(
    depth_pages,
):
    dut = SemaphoreReceiver(BEAT, width_bits=8, depth_pages=depth_pages)
    reset = Signal()
    log = []

    async def reader(ctx):
        await idle(ctx, depth_pages + 3)
        ctx.set(dut.page_release, 1)
        await ctx.tick()
        ctx.set(dut.page_release, 0)
        await idle(ctx, 3)
        ctx.set(reset, 1)
        await ctx.tick()
        ctx.set(reset, 0)
        await idle(ctx, depth_pages + 1)

    simulate(ResetInserter(reset)(dut), reader, monitors=[monitor(log, dut.link.ready)])
    after_reset = [1] * depth_pages + [0]
    assert [ready for (ready,) in log] == after_reset + [0] * 3 + [1] + [0] * 3 + after_reset


def test_transmitter_sends_nothing_before_a_slot_is_offered_and_then_one_page():
    dut = SemaphoreTransmitter(BEAT, page_beats=PAGE_BEATS, width_bits=12, credits=2)
    log = []

    async def far_end(ctx):
        ctx.set(dut.i.valid, 1)
        await idle(ctx, 5)
        ctx.set(dut.link.ready, 1)
        await ctx.tick()
        ctx.set(dut.link.ready, 0)
        await idle(ctx, 12)

    simulate(
        dut,
        far_end,
        monitors=[monitor(log, dut.busy, dut.stalled, dut.link.flit.valid, dut.link.valid)],
    )
    busy, stalled, flit, valid = (
        [cycle for cycle, strobe in enumerate(column) if strobe]
        for column in zip(*log, strict=True)
    )
    assert busy == [*range(6, 12)]
    assert stalled == [*range(6), *range(12, 18)]
    assert flit == [*range(7, 13)]
    assert valid == [13]


def test_transmitter_asserts_that_no_more_slots_are_offered_than_there_are():
    dut = SemaphoreTransmitter(BEAT, page_beats=PAGE_BEATS, width_bits=12, credits=2)

    async def offers(ctx, count):
        ctx.set(dut.link.ready, 1)
        await idle(ctx, count)
        ctx.set(dut.link.ready, 0)
        await idle(ctx, 2)

    simulate(dut, lambda ctx: offers(ctx, 2))
    with pytest.raises(AssertionError, match="a page slot returned that was never taken"):
        simulate(dut, lambda ctx: offers(ctx, 3))


@pytest.mark.parametrize("cycles_before", [1, 6, 13, 18])
def test_reset_withdraws_every_slot_and_forgets_half_a_page(cycles_before):
    bench = semaphore_link(width_bits=8, depth_pages=2, latency_cycles=3)
    beats = random_beats(random.Random(0), 6 * PAGE_BEATS, BEAT)
    reset = Signal()
    received, log = [], []

    async def reset_in_mid_run(ctx):
        ctx.set(bench.sender.i.valid, 1)
        await idle(ctx, cycles_before)
        ctx.set(reset, 1)
        await ctx.tick()
        ctx.set(reset, 0)
        ctx.set(bench.sender.i.valid, 0)

    again = cycles_before + 1
    simulate(
        ResetInserter(reset)(bench.module),
        reset_in_mid_run,
        delayed(again, bench.writer(beats)),
        delayed(again, bench.reader(received, len(beats))),
        monitors=[monitor(log, bench.sender.busy)],
    )
    assert received == beats
    assert [busy for (busy,) in log[again : again + 22]] == [0] * 4 + [1] * 18


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"beat": 24}, "Beat must be an ArrayLayout of signed lanes, not 24"),
        ({"width_bits": 0}, "Link width must be a positive integer, not 0"),
        ({"depth_pages": -2}, "Depth in pages must be a positive integer, not -2"),
    ],
    ids=str,
)
def test_receiver_refuses_wrong_arguments(change, text):
    right = {"beat": BEAT, "width_bits": 8, "depth_pages": 2}
    with pytest.raises(TypeError) as error:
        SemaphoreReceiver(**right | change)
    assert str(error.value) == text


def test_transmitter_refuses_wrong_arguments():
    with pytest.raises(TypeError, match="Credits must be a positive integer, not 0"):
        SemaphoreTransmitter(BEAT, page_beats=PAGE_BEATS, width_bits=8, credits=0)
