# amaranth: UnusedElaboratable=no
import random
from itertools import pairwise

import pytest
from amaranth.hdl import ResetInserter, Signal

from hw.link import LinkReceiver, LinkTransmitter
from tests.hw.link_bench import BEAT, FLITS, PAGE_BEATS, LinkBench
from tests.hw.simulation import delayed, idle, monitor, random_beats, simulate


def credit_link(*, width_bits: int, credits: int, latency_cycles: int) -> LinkBench:
    return LinkBench(
        LinkTransmitter(BEAT, page_beats=PAGE_BEATS, width_bits=width_bits, credits=credits),
        LinkReceiver(BEAT, width_bits=width_bits),
        depth_pages=credits,
        latency_cycles=latency_cycles,
    )


@pytest.mark.covers("pairs")
@pytest.mark.parametrize("width_bits", FLITS)
@pytest.mark.parametrize("credits", [1, 3])
@pytest.mark.parametrize("latency_cycles", [0, 4])
@pytest.mark.parametrize("write_density", [0.2, 1.0])
@pytest.mark.parametrize("read_density", [0.1, 0.5, 1.0])
def test_keeps_order_and_count_and_never_overruns_the_landing_buffer(
    width_bits, credits, latency_cycles, write_density, read_density
):
    seed = f"{width_bits}/{credits}/{latency_cycles}/{write_density}/{read_density}"
    bench = credit_link(width_bits=width_bits, credits=credits, latency_cycles=latency_cycles)
    beats = random_beats(random.Random(seed), 10 * PAGE_BEATS, BEAT)
    sender, log = bench.sender, []
    received = bench.transfer(
        beats,
        write_density=write_density,
        read_density=read_density,
        seed=seed,
        monitors=[monitor(log, sender.i.valid, sender.beat_sent, sender.busy, sender.stalled)],
    )
    assert received == beats
    assert sum(beat_sent for _, beat_sent, _, _ in log) == len(beats)
    assert sum(busy for _, _, busy, _ in log) == len(beats) * FLITS[width_bits]
    assert all(busy + stalled == valid for valid, _, busy, stalled in log)


@pytest.mark.covers("pairs")
@pytest.mark.parametrize("width_bits", FLITS)
@pytest.mark.parametrize("credits", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("latency_cycles", [0, 1, 8])
def test_is_full_exactly_when_its_credits_cover_the_round_trip(width_bits, credits, latency_cycles):
    """A credit can be spent again once the page's last flit is at the far end (a register and the
    latency), was read (in the next cycle), and the credit is back (the latency and a register).
    """
    bench = credit_link(width_bits=width_bits, credits=credits, latency_cycles=latency_cycles)
    beats = random_beats(random.Random(0), 12 * PAGE_BEATS, BEAT)
    log = []
    assert bench.transfer(beats, monitors=[monitor(log, bench.sender.busy)]) == beats

    page_flits = PAGE_BEATS * FLITS[width_bits]
    round_trip = (page_flits - 1) + (1 + latency_cycles) + 1 + (latency_cycles + 1)
    starts = [0]
    for page in range(1, 12):
        starts.append(starts[-1] + page_flits)
        if page >= credits:
            starts[-1] = max(starts[-1], starts[page - credits] + round_trip)
    assert [cycle for cycle, (busy,) in enumerate(log) if busy] == [
        start + flit for start in starts for flit in range(page_flits)
    ]
    is_full = starts == [*range(0, 12 * page_flits, page_flits)]
    assert is_full == (credits * page_flits >= round_trip)


@pytest.mark.covers("values")
@pytest.mark.parametrize("width_bits", FLITS)
@pytest.mark.parametrize("flit_cycles", [2, 3, 7])
@pytest.mark.parametrize("write_density", [0.2, 1.0])
def test_a_flit_holds_the_link_for_its_cycles(width_bits, flit_cycles, write_density):
    bench = LinkBench(
        LinkTransmitter(
            BEAT,
            page_beats=PAGE_BEATS,
            width_bits=width_bits,
            credits=2,
            flit_cycles=flit_cycles,
        ),
        LinkReceiver(BEAT, width_bits=width_bits),
        depth_pages=2,
        latency_cycles=1,
    )
    beats = random_beats(random.Random(0), 8 * PAGE_BEATS, BEAT)
    log = []
    signals = (bench.sender.busy, bench.sender.link.flit.valid, bench.sender.stalled)
    received = bench.transfer(
        beats, write_density=write_density, seed=flit_cycles, monitors=[monitor(log, *signals)]
    )
    assert received == beats
    flits = [cycle for cycle, (_, valid, _) in enumerate(log) if valid]
    gaps = [later - earlier for earlier, later in pairwise(flits)]
    assert len(flits) == len(beats) * FLITS[width_bits]
    assert min(gaps) >= flit_cycles
    if write_density == 1.0 and not any(stalled for _, _, stalled in log):
        assert set(gaps) == {flit_cycles}
    # A flit is on the link one cycle after it was taken, and holds it from then on.
    held = {flit - 1 + cycle for flit in flits for cycle in range(flit_cycles)}
    assert [cycle for cycle, (busy, _, _) in enumerate(log) if busy] == sorted(
        cycle for cycle in held if cycle < len(log)
    )
    assert not any(busy and stalled for busy, _, stalled in log)


def test_a_beat_is_on_the_link_one_cycle_after_it_came():
    bench = credit_link(width_bits=24, credits=2, latency_cycles=0)
    beats = random_beats(random.Random(0), PAGE_BEATS, BEAT)
    received, log = [], []
    simulate(
        bench.module,
        delayed(4, bench.writer(beats)),
        bench.reader(received, len(beats)),
        monitors=[monitor(log, bench.sender.i.valid, bench.receiver.o.valid)],
    )
    assert received == beats
    assert [cycle for cycle, (came, _) in enumerate(log) if came] == [4, 5, 6]
    assert [cycle for cycle, (_, left) in enumerate(log) if left] == [5, 6, 7]


@pytest.mark.parametrize("credits", [1, 2, 5])
def test_sends_one_page_per_credit_and_waits(credits):
    dut = LinkTransmitter(BEAT, page_beats=PAGE_BEATS, width_bits=8, credits=credits)
    log = []

    async def far_end(ctx):
        ctx.set(dut.i.valid, 1)
        await idle(ctx, credits * 9 + 10)
        ctx.set(dut.link.credit, 1)
        await ctx.tick()
        ctx.set(dut.link.credit, 0)
        await idle(ctx, 19)

    simulate(dut, far_end, monitors=[monitor(log, dut.busy, dut.stalled)])
    sends, waits = [(1, 0)], [(0, 1)]
    assert log == sends * 9 * credits + waits * 11 + sends * 9 + waits * 10


def traffic(sender: LinkTransmitter, *, depth_pages: int) -> list[tuple]:
    """Strobes and flits of a transmitter, in every cycle, whose credits come back at random."""
    rng, log = random.Random(f"traffic/{depth_pages}"), []

    async def both_ends(ctx):
        if sender.depth_from_port:
            ctx.set(sender.landing_pages, depth_pages)
        owed = sent = 0
        for _ in range(400):
            ctx.set(sender.i.valid, rng.random() < 0.8)
            ctx.set(sender.i.payload, [rng.randrange(-99, 99) for _ in range(3)])
            returned = owed > 0 and rng.random() < 0.02
            ctx.set(sender.link.credit, returned)
            _, _, busy = await ctx.tick().sample(sender.busy)
            sent += busy
            owed += (busy and sent % 9 == 0) - returned

    simulate(
        sender,
        both_ends,
        monitors=[monitor(log, sender.busy, sender.stalled, sender.link.flit.payload)],
    )
    return log


@pytest.mark.parametrize("depth_pages", [1, 2, 5, 7])
def test_given_a_depth_by_a_port_it_does_what_it_does_where_that_depth_is_fixed(depth_pages):
    fixed = LinkTransmitter(BEAT, page_beats=PAGE_BEATS, width_bits=8, credits=depth_pages)
    by_port = LinkTransmitter(
        BEAT, page_beats=PAGE_BEATS, width_bits=8, credits=7, depth_from_port=True
    )
    log = traffic(by_port, depth_pages=depth_pages)
    assert log == traffic(fixed, depth_pages=depth_pages)
    assert any(stalled for _, stalled, _ in log)


def test_no_page_begins_while_the_link_is_down():
    dut = LinkTransmitter(
        BEAT, page_beats=PAGE_BEATS, width_bits=24, credits=3, depth_from_port=True
    )
    log = []

    async def far_end(ctx):
        ctx.set(dut.i.valid, 1)
        for pages in (0, 3, 0, 3):
            ctx.set(dut.landing_pages, pages)
            await idle(ctx, 4)

    simulate(dut, far_end, monitors=[monitor(log, dut.busy)])
    # A page that has begun ends; three are on their way when the link is up again.
    assert [busy for (busy,) in log] == [0] * 4 + [1] * 4 + [1] * 2 + [0] * 2 + [1] * 3 + [0]


@pytest.mark.parametrize("cycles_before", [1, 4, 9, 13, 20])
def test_reset_gives_back_every_credit_and_forgets_half_a_page(cycles_before):
    bench = credit_link(width_bits=8, credits=2, latency_cycles=3)
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
    assert all(busy for (busy,) in log[again : again + 18])


@pytest.mark.parametrize("depth_from_port", [False, True])
@pytest.mark.parametrize("pages_before", [0, 1])
def test_asserts_that_a_returned_page_slot_was_taken(pages_before, depth_from_port):
    dut = LinkTransmitter(
        BEAT, page_beats=PAGE_BEATS, width_bits=24, credits=2, depth_from_port=depth_from_port
    )

    async def far_end(ctx):
        if depth_from_port:
            ctx.set(dut.landing_pages, 2)
        ctx.set(dut.i.valid, 1)
        await idle(ctx, PAGE_BEATS * pages_before)
        ctx.set(dut.i.valid, 0)
        ctx.set(dut.link.credit, 1)
        await idle(ctx, pages_before + 1)

    with pytest.raises(AssertionError, match="a page slot returned that was never taken"):
        simulate(dut, far_end)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"beat": 24}, "Beat must be an ArrayLayout of signed lanes, not 24"),
        ({"page_beats": 0}, "Page beats must be a positive integer, not 0"),
        ({"width_bits": -1}, "Link width must be a positive integer, not -1"),
        ({"credits": None}, "Credits must be a positive integer, not None"),
        ({"flit_cycles": 0}, "Flit cycles must be a positive integer, not 0"),
    ],
    ids=str,
)
def test_transmitter_refuses_wrong_arguments(change, text):
    right = {"beat": BEAT, "page_beats": 3, "width_bits": 8, "credits": 2}
    with pytest.raises(TypeError) as error:
        LinkTransmitter(**right | change)
    assert str(error.value) == text


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"beat": 24}, "Beat must be an ArrayLayout of signed lanes, not 24"),
        ({"width_bits": 8.0}, "Link width must be a positive integer, not 8.0"),
    ],
    ids=str,
)
def test_receiver_refuses_wrong_arguments(change, text):
    right = {"beat": BEAT, "width_bits": 8}
    with pytest.raises(TypeError) as error:
        LinkReceiver(**right | change)
    assert str(error.value) == text
