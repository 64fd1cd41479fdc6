# amaranth: UnusedElaboratable=no
import random
from collections import deque

import pytest
from amaranth.hdl import ResetInserter, Signal

from hw.page_fifo import PageFifo
from tests.hw.simulation import (
    consumer,
    idle,
    lanes,
    monitor,
    plain,
    producer,
    random_beats,
    simulate,
)

BEAT = lanes(3)
SIZES = [(1, 1), (1, 3), (3, 1), (3, 2), (4, 2), (5, 3)]


@pytest.mark.covers("pairs")
@pytest.mark.parametrize(("page_beats", "depth_pages"), SIZES)
@pytest.mark.parametrize("write_density", [0.2, 0.6, 1.0])
@pytest.mark.parametrize("read_density", [0.2, 0.6, 1.0])
def test_behaves_as_a_bounded_queue_in_every_cycle(
    page_beats, depth_pages, write_density, read_density
):
    rng = random.Random(f"{page_beats}/{depth_pages}/{write_density}/{read_density}")
    dut = PageFifo(BEAT, page_beats=page_beats, depth_pages=depth_pages)

    async def both_ends(ctx):
        queue: deque = deque()
        read_count = 0
        for beat in random_beats(rng, 200, BEAT):
            write, read = rng.random() < write_density, rng.random() < read_density
            ctx.set(dut.i.payload, beat)
            ctx.set(dut.i.valid, write)
            ctx.set(dut.o.ready, read)
            writable, readable = len(queue) < page_beats * depth_pages, bool(queue)
            releases = read and readable and (read_count + 1) % page_beats == 0
            assert ctx.get(dut.i.ready) == writable
            assert ctx.get(dut.o.valid) == readable
            assert ctx.get(dut.page_release) == releases
            if readable:
                assert plain(ctx.get(dut.o.payload)) == queue[0]
            if readable and read:
                queue.popleft()
                read_count += 1
            if writable and write:
                queue.append(beat)
            await ctx.tick()

    simulate(dut, both_ends)


@pytest.mark.parametrize(
    ("page_beats", "depth_pages", "cycles_per_beat"),
    [(1, 1, 2), (1, 2, 1), (2, 1, 1), (3, 2, 1), (5, 3, 1)],
)
def test_moves_a_beat_in_every_cycle_or_in_every_other_if_it_holds_just_one(
    page_beats, depth_pages, cycles_per_beat
):
    beats = random_beats(random.Random(0), 30, BEAT)
    dut = PageFifo(BEAT, page_beats=page_beats, depth_pages=depth_pages)
    received, log = [], []
    simulate(
        dut,
        producer(dut.i, beats, density=1.0, seed=0),
        consumer(dut.o, received, len(beats), density=1.0, seed=0),
        monitors=[monitor(log, dut.i.valid, dut.i.ready, dut.o.valid)],
    )
    writes = [cycle for cycle, (valid, ready, _) in enumerate(log) if valid and ready]
    reads = [cycle for cycle, (_, _, valid) in enumerate(log) if valid]
    assert received == beats
    assert writes == [*range(0, 30 * cycles_per_beat, cycles_per_beat)]
    assert reads == [cycle + 1 for cycle in writes]


@pytest.mark.covers("pairs")
@pytest.mark.parametrize(("page_beats", "depth_pages"), SIZES)
@pytest.mark.parametrize("write_density", [0.2, 0.6, 1.0])
@pytest.mark.parametrize("read_density", [0.2, 0.6, 1.0])
def test_a_beat_falls_through_an_empty_queue_in_the_cycle_in_which_it_comes(
    page_beats, depth_pages, write_density, read_density
):
    rng = random.Random(f"{page_beats}/{depth_pages}/{write_density}/{read_density}")
    dut = PageFifo(BEAT, page_beats=page_beats, depth_pages=depth_pages, fall_through=True)
    found_empty = []

    async def both_ends(ctx):
        queue: deque = deque()
        read_count = 0
        for beat in random_beats(rng, 200, BEAT):
            write, read = rng.random() < write_density, rng.random() < read_density
            ctx.set(dut.i.payload, beat)
            ctx.set(dut.i.valid, write)
            ctx.set(dut.o.ready, read)
            writable, was_empty = len(queue) < page_beats * depth_pages, not queue
            assert ctx.get(dut.i.ready) == writable
            if writable and write:
                queue.append(beat)
            readable = bool(queue)
            releases = read and readable and (read_count + 1) % page_beats == 0
            assert ctx.get(dut.o.valid) == readable
            assert ctx.get(dut.page_release) == releases
            if readable:
                assert plain(ctx.get(dut.o.payload)) == queue[0]
            if readable and read:
                found_empty.append(was_empty)
                queue.popleft()
                read_count += 1
            await ctx.tick()

    simulate(dut, both_ends)
    if read_density == 1.0:
        assert all(found_empty)


@pytest.mark.parametrize(("page_beats", "depth_pages"), [(1, 1), (2, 1), (3, 2)])
def test_moves_a_beat_in_every_cycle_without_delay_if_it_falls_through(page_beats, depth_pages):
    beats = random_beats(random.Random(0), 30, BEAT)
    dut = PageFifo(BEAT, page_beats=page_beats, depth_pages=depth_pages, fall_through=True)
    received, log = [], []
    simulate(
        dut,
        producer(dut.i, beats, density=1.0, seed=0),
        consumer(dut.o, received, len(beats), density=1.0, seed=0),
        monitors=[monitor(log, dut.i.valid, dut.i.ready, dut.o.valid, dut.page_release)],
    )
    writes = [cycle for cycle, (valid, ready, _, _) in enumerate(log) if valid and ready]
    reads = [cycle for cycle, (_, _, valid, _) in enumerate(log) if valid]
    releases = [cycle for cycle, (_, _, _, release) in enumerate(log) if release]
    assert received == beats
    assert writes == reads == [*range(30)]
    assert releases == [*range(page_beats - 1, 30, page_beats)]


def test_no_ready_reaches_back_through_a_store_that_falls_through():
    dut = PageFifo(BEAT, page_beats=1, depth_pages=1, fall_through=True)

    async def both_ends(ctx):
        ctx.set(dut.i.valid, 1)
        assert ctx.get(dut.o.valid)
        await ctx.tick()
        for read in (0, 1):
            ctx.set(dut.o.ready, read)
            assert not ctx.get(dut.i.ready)
        await ctx.tick()
        assert ctx.get(dut.i.ready)

    simulate(dut, both_ends)


def test_pages_that_are_committed_do_not_fall_through():
    with pytest.raises(ValueError, match=r"^A store that commits pages must not fall through$"):
        PageFifo(BEAT, page_beats=3, depth_pages=2, commits=True, fall_through=True)


def test_has_no_combinational_path_between_its_ends():
    dut = PageFifo(BEAT, page_beats=2, depth_pages=1)

    async def both_ends(ctx):
        ctx.set(dut.i.valid, 1)
        ctx.set(dut.o.ready, 1)
        assert not ctx.get(dut.o.valid)
        ctx.set(dut.o.ready, 0)
        await idle(ctx, 2)
        assert not ctx.get(dut.i.ready)
        ctx.set(dut.o.ready, 1)
        assert not ctx.get(dut.i.ready)
        await ctx.tick()
        assert ctx.get(dut.i.ready)

    simulate(dut, both_ends)


@pytest.mark.covers("values")
@pytest.mark.parametrize(("page_beats", "depth_pages"), SIZES)
@pytest.mark.parametrize("commit_density", [0.1, 1.0])
@pytest.mark.parametrize("read_density", [0.3, 1.0])
def test_shows_no_beat_before_its_page_is_committed(
    page_beats, depth_pages, commit_density, read_density
):
    rng = random.Random(f"{page_beats}/{depth_pages}/{commit_density}/{read_density}")
    dut = PageFifo(BEAT, page_beats=page_beats, depth_pages=depth_pages, commits=True)

    async def both_ends(ctx):
        hidden, visible = deque(), deque()
        read_count = 0
        for beat in random_beats(rng, 300, BEAT):
            write, read = rng.random() < 0.8, rng.random() < read_density
            commit = len(hidden) >= page_beats and rng.random() < commit_density
            ctx.set(dut.i.payload, beat)
            ctx.set(dut.i.valid, write)
            ctx.set(dut.o.ready, read)
            ctx.set(dut.commit, commit)
            writable = len(hidden) + len(visible) < page_beats * depth_pages
            assert ctx.get(dut.i.ready) == writable
            assert ctx.get(dut.o.valid) == bool(visible)
            if visible:
                assert plain(ctx.get(dut.o.payload)) == visible[0]
            if visible and read:
                visible.popleft()
                read_count += 1
                assert ctx.get(dut.page_release) == (read_count % page_beats == 0)
            if commit:
                visible.extend(hidden.popleft() for _ in range(page_beats))
            if writable and write:
                hidden.append(beat)
            await ctx.tick()

    simulate(dut, both_ends)


@pytest.mark.parametrize(("written_cycles", "holds"), [(2, False), (3, True)])
def test_asserts_that_a_committed_page_was_written_before(written_cycles, holds):
    dut = PageFifo(BEAT, page_beats=3, depth_pages=2, commits=True)

    async def writer(ctx):
        ctx.set(dut.i.valid, 1)
        await idle(ctx, written_cycles)
        ctx.set(dut.commit, 1)
        await ctx.tick()
        ctx.set(dut.commit, 0)
        await ctx.tick()

    if holds:
        simulate(dut, writer)
    else:
        with pytest.raises(AssertionError, match="page released to the reader before it was writt"):
            simulate(dut, writer)


@pytest.mark.parametrize("commits", [False, True])
def test_reset_leaves_no_beat_and_no_part_of_a_page(commits):
    dut = PageFifo(BEAT, page_beats=3, depth_pages=2, commits=commits)
    reset = Signal()
    beats = random_beats(random.Random(commits), 7, BEAT)

    async def write(ctx, written):
        ctx.set(dut.o.ready, 0)
        ctx.set(dut.i.valid, 1)
        for beat in written:
            ctx.set(dut.i.payload, beat)
            await ctx.tick()
        ctx.set(dut.i.valid, 0)
        if commits:
            ctx.set(dut.commit, 1)
            await ctx.tick()
            ctx.set(dut.commit, 0)

    async def read(ctx, expected):
        ctx.set(dut.o.ready, 1)
        for index, beat in enumerate(expected):
            assert ctx.get(dut.o.valid)
            assert plain(ctx.get(dut.o.payload)) == beat
            assert ctx.get(dut.page_release) == (index == 2)
            await ctx.tick()

    async def both_ends(ctx):
        await write(ctx, beats[:4])
        await read(ctx, beats[:2])
        ctx.set(reset, 1)
        await ctx.tick()
        ctx.set(reset, 0)
        assert not ctx.get(dut.o.valid)
        await write(ctx, beats[4:])
        await read(ctx, beats[4:])
        assert not ctx.get(dut.o.valid)

    simulate(ResetInserter(reset)(dut), both_ends)


@pytest.mark.parametrize(
    ("beat", "counts", "text"),
    [
        (24, (3, 2), "Beat must be an ArrayLayout of signed lanes, not 24"),
        (BEAT, (0, 2), "Page beats must be a positive integer, not 0"),
        (BEAT, (3, None), "Depth in pages must be a positive integer, not None"),
    ],
)
def test_refuses_wrong_arguments(beat, counts, text):
    page_beats, depth_pages = counts
    with pytest.raises(TypeError) as error:
        PageFifo(beat, page_beats=page_beats, depth_pages=depth_pages)
    assert str(error.value) == text
