# amaranth: UnusedElaboratable=no
"""A link over pins between two boards whose clocks have nothing to do with each other."""

import random
from itertools import pairwise

import pytest
from amaranth.lib.wiring import connect

from constraints.pin_latency import pin_latency_cycles
from hw.board.back_wire import SETTLED_CYCLES
from hw.board.pin_link import PinLinkSignature
from hw.board.pin_receiver import SILENT_CYCLES, PinReceiver
from hw.board.pin_transmitter import PinTransmitter
from tests.hw.board.clocks import PERIOD, PHASES, RATIOS, on_two_clocks

FLIT_CYCLES = [2, 3, 4]
each_ratio = pytest.mark.parametrize("ratio", RATIOS)
each_phase = pytest.mark.parametrize("phase", PHASES)
each_pace = pytest.mark.parametrize("flit_cycles", FLIT_CYCLES)
CREDITS = 7


class PinBench:
    """A transmitter and a receiver, joined by pins, and what passed them at which time."""

    def __init__(self, *, data_pins: int, flit_cycles: int, ratio: float, phase: float):
        self.sender = PinTransmitter(data_pins, flit_cycles=flit_cycles)
        self.receiver = PinReceiver(data_pins, credits=CREDITS)
        self.flit_cycles, self.ratio, self.phase = flit_cycles, ratio, phase
        self.sent: list[tuple[float, int]] = []
        self.received: list[tuple[float, int]] = []
        self.released: list[float] = []
        self.returned: list[float] = []
        self.starts: list[float] = []
        self.up: list[tuple[bool, bool]] = []

    def run(self, *testbenches):
        on_two_clocks(
            self.sender,
            self.receiver,
            *testbenches,
            joins=lambda m: connect(m, self.sender.pins, self.receiver.pins),
            ratio=self.ratio,
            phase=self.phase,
            monitors=[("first", self._watch_sender), ("second", self._watch_receiver)],
        )

    async def until_up(self, ctx, tick):
        while not (ctx.get(self.sender.up) and ctx.get(self.receiver.up)):
            await tick()

    async def _watch_sender(self, ctx, tick):
        sender, ticks = self.sender, 0
        while True:
            _, _, valid, flit, credit, start, up = await tick().sample(
                sender.link.flit.valid,
                sender.link.flit.payload,
                sender.link.credit,
                sender.start,
                sender.up,
            )
            now = ticks * PERIOD
            self.sent += [(now, flit)] * valid
            self.returned += [now] * credit
            self.starts += [now] * start
            self.up.append((bool(up), bool(ctx.get(self.receiver.up))))
            ticks += 1

    async def _watch_receiver(self, ctx, tick):
        receiver, ticks = self.receiver, 0
        while True:
            _, _, valid, flit, credit = await tick().sample(
                receiver.link.flit.valid, receiver.link.flit.payload, receiver.link.credit
            )
            now = (ticks + self.phase) * PERIOD * self.ratio
            self.received += [(now, flit)] * valid
            self.released += [now] * credit
            ticks += 1

    def sends(self, flits: list[int], seed: object, *, density: float):
        """A testbench of the sender: flits as fast as the link takes them, and pauses."""
        rng = random.Random(f"sends/{seed}")

        async def run(ctx, tick):
            await self.until_up(ctx, tick)
            for flit in flits:
                while rng.random() >= density:
                    await tick()
                ctx.set(self.sender.link.flit.valid, 1)
                ctx.set(self.sender.link.flit.payload, flit)
                await tick()
                ctx.set(self.sender.link.flit.valid, 0)
                for _ in range(self.flit_cycles - 1):
                    await tick()
            for _ in range(30):
                await tick()

        return run

    def releases(self, pauses: list[int]):
        """A testbench of the receiver: a credit after each pause."""

        async def run(ctx, tick):
            await self.until_up(ctx, tick)
            for pause in pauses:
                for _ in range(pause):
                    await tick()
                ctx.set(self.receiver.link.credit, 1)
                await tick()
                ctx.set(self.receiver.link.credit, 0)
            for _ in range(30 + 6 * CREDITS):
                await tick()

        return run


@pytest.mark.covers("values")
@each_ratio
@each_phase
@pytest.mark.parametrize(("flit_cycles", "density"), [(2, 0.3), (2, 1.0), (3, 0.6), (4, 0.6)])
def test_every_flit_arrives_once_in_order_and_within_the_latency(
    ratio, phase, flit_cycles, density
):
    seed = f"{ratio}/{phase}/{flit_cycles}/{density}"
    bench = PinBench(data_pins=5, flit_cycles=flit_cycles, ratio=ratio, phase=phase)
    flits = [random.Random(seed).randrange(32) for _ in range(60)]
    bench.run(("first", bench.sends(flits, seed, density=density)))
    assert [flit for _, flit in bench.sent] == flits
    assert [flit for _, flit in bench.received] == flits
    took = [
        (there - here) / PERIOD
        for (here, _), (there, _) in zip(bench.sent, bench.received, strict=True)
    ]
    assert max(took) <= pin_latency_cycles(flit_cycles) * max(1, ratio)
    assert max(took) > pin_latency_cycles(flit_cycles) - 3


@pytest.mark.covers("values")
@each_ratio
@each_phase
def test_every_credit_comes_back_once_and_within_the_latency(ratio, phase):
    bench = PinBench(data_pins=2, flit_cycles=2, ratio=ratio, phase=phase)
    rng = random.Random(f"{ratio}/{phase}")
    bench.run(("second", bench.releases([rng.randrange(6, 20) for _ in range(40)])))
    assert len(bench.returned) == len(bench.released) == 40
    took = [
        (there - here) / PERIOD for here, there in zip(bench.released, bench.returned, strict=True)
    ]
    assert max(took) <= pin_latency_cycles(2) * max(1, ratio)


@each_ratio
def test_credits_that_come_together_are_sent_one_after_the_other(ratio):
    bench = PinBench(data_pins=2, flit_cycles=2, ratio=ratio, phase=0.3)
    bench.run(("second", bench.releases([3] + [0] * (CREDITS - 1))))
    assert len(bench.returned) == CREDITS


@pytest.mark.covers("values")
@each_ratio
@each_phase
def test_a_start_is_told_from_credits_around_it(ratio, phase):
    bench = PinBench(data_pins=2, flit_cycles=2, ratio=ratio, phase=phase)

    async def starts(ctx, tick):
        await bench.until_up(ctx, tick)
        for _ in range(11):
            await tick()
        ctx.set(bench.receiver.start, 1)
        await tick()
        ctx.set(bench.receiver.start, 0)

    bench.run(("second", starts), ("second", bench.releases([8, 0, 0, 1, 0])))
    assert len(bench.starts) == 1
    assert len(bench.returned) == 5


@each_ratio
def test_the_sender_hears_of_a_receiver_that_is_held_and_of_no_credit(ratio):
    bench = PinBench(data_pins=2, flit_cycles=2, ratio=ratio, phase=0.1)

    async def held(ctx, tick):
        await bench.until_up(ctx, tick)
        ctx.set(bench.receiver.held, 1)
        for _ in range(SETTLED_CYCLES + 8):
            await tick()
        assert not ctx.get(bench.sender.up)
        ctx.set(bench.receiver.held, 0)
        await bench.until_up(ctx, tick)

    bench.run(("second", held))
    assert bench.returned == bench.starts == []


@each_ratio
@pytest.mark.parametrize("held_cycles", [1, 3, 9, 20])
def test_a_receiver_that_is_held_for_a_moment_is_down_and_sends_no_pulse(ratio, held_cycles):
    bench = PinBench(data_pins=2, flit_cycles=2, ratio=ratio, phase=0.6)

    async def held(ctx, tick):
        await bench.until_up(ctx, tick)
        ctx.set(bench.receiver.held, 1)
        for _ in range(held_cycles):
            await tick()
        ctx.set(bench.receiver.held, 0)
        for _ in range(4 * SETTLED_CYCLES):
            await tick()

    bench.run(("second", held))
    up = [sender for sender, _ in bench.up]
    assert up[-1]
    assert False in up[up.index(True) :]
    assert bench.returned == bench.starts == []


def test_a_link_is_down_without_its_clock():
    bench = PinBench(data_pins=2, flit_cycles=2, ratio=1.0, phase=0.0)
    cut = []

    def joins(m):
        m.d.comb += bench.receiver.pins.clock.eq(bench.sender.pins.clock & ~bench.receiver.held)
        m.d.comb += bench.sender.pins.back.eq(bench.receiver.pins.back)

    async def cuts(ctx, tick):
        await bench.until_up(ctx, tick)
        ctx.set(bench.receiver.held, 1)  # the clock stops for good
        for _ in range(SILENT_CYCLES + SETTLED_CYCLES + 8):
            await tick()
        cut.append((ctx.get(bench.receiver.up), ctx.get(bench.sender.up)))

    on_two_clocks(bench.sender, bench.receiver, ("second", cuts), joins=joins, ratio=1.0, phase=0.0)
    assert cut == [(0, 0)]


@each_pace
def test_data_is_stable_around_the_rising_edge_of_its_clock(flit_cycles):
    bench = PinBench(data_pins=4, flit_cycles=flit_cycles, ratio=1.0, phase=0.0)
    log = []

    async def watch(ctx, tick):
        while True:
            _, _, *sample = await tick().sample(
                bench.sender.pins.clock, bench.sender.pins.valid, bench.sender.pins.data
            )
            log.append(tuple(sample))

    on_two_clocks(
        bench.sender,
        bench.receiver,
        ("first", bench.sends(list(range(16)) * 3, "stable", density=0.7)),
        joins=lambda m: connect(m, bench.sender.pins, bench.receiver.pins),
        ratio=1.0,
        phase=0.5,
        monitors=[("first", watch)],
    )
    rises = [i for i in range(1, len(log)) if log[i][0] and not log[i - 1][0]]
    assert all(later - earlier == flit_cycles for earlier, later in pairwise(rises))
    for rise in rises[1:-1]:
        before, after = (flit_cycles + 1) // 2, flit_cycles // 2
        around = {log[i][1:] for i in range(rise - before, rise + after)}
        assert len(around) == 1


@pytest.mark.parametrize("value", [0, -1, None, 2.0])
def test_wrong_arguments_are_refused(value):
    with pytest.raises(TypeError, match=f"Data pins must be a positive integer, not {value!r}"):
        PinLinkSignature(value)
    with pytest.raises(TypeError, match=f"Data pins must be a positive integer, not {value!r}"):
        PinTransmitter(value, flit_cycles=2)
    with pytest.raises(TypeError, match=f"Flit cycles must be a positive integer, not {value!r}"):
        PinTransmitter(2, flit_cycles=value)
    with pytest.raises(TypeError, match=f"Data pins must be a positive integer, not {value!r}"):
        PinReceiver(value, credits=1)
    with pytest.raises(TypeError, match=f"Credits must be a positive integer, not {value!r}"):
        PinReceiver(2, credits=value)


def test_a_clock_needs_two_cycles():
    with pytest.raises(TypeError, match="Flit cycles must be at least 2 for a clock, not 1"):
        PinTransmitter(2, flit_cycles=1)


def test_signatures_are_equal_where_their_wires_are():
    assert PinLinkSignature(4) == PinLinkSignature(4)
    assert PinLinkSignature(4) != PinLinkSignature(5)
