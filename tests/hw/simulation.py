"""What every hardware test needs: a clock, a watchdog, both ends of a stream, and a monitor."""

import random
from collections import deque
from collections.abc import Callable, Iterable

from amaranth.hdl import ClockDomain, Const, Module, signed
from amaranth.lib import data
from amaranth.sim import Simulator

WATCHDOG_CYCLES = 20_000
QUIET_CYCLES = 10


def simulate(
    dut, *testbenches: Callable, monitors: Iterable[Callable] = (), cycles: int = WATCHDOG_CYCLES
) -> None:
    """Run testbenches against ``dut`` until all of them end, or fail after ``cycles``.

    Monitors see every cycle until then and are never waited for.
    """
    top = Module()
    top.domains.sync = ClockDomain()  # which a combinational component lacks
    top.submodules.dut = dut
    simulator = Simulator(top)
    simulator.add_clock(1e-6)
    ended = []

    def ending(testbench: Callable) -> Callable:
        async def run(ctx):
            await testbench(ctx)
            ended.append(testbench)

        return run

    async def watchdog(ctx):
        for _ in range(cycles):
            if len(ended) == len(testbenches):
                return
            await ctx.tick()
        raise TimeoutError(f"the testbenches did not end within {cycles} cycles")

    for testbench in testbenches:
        simulator.add_testbench(ending(testbench))
    for monitor in monitors:
        simulator.add_testbench(monitor, background=True)
    simulator.add_testbench(watchdog)
    simulator.run()


def lanes(count: int, bits: int = 8) -> data.ArrayLayout:
    """Layout of a beat of ``count`` signed lanes."""
    return data.ArrayLayout(signed(bits), count)


def random_beats(rng: random.Random, count: int, layout: data.ArrayLayout) -> list[list[int]]:
    """Beats whose lanes are the extremes of their type in one case out of four."""
    high = (1 << (layout.elem_shape.width - 1)) - 1

    def lane() -> int:
        return (
            rng.choice((-high - 1, high)) if rng.random() < 0.25 else rng.randint(-high - 1, high)
        )

    return [[lane() for _ in range(layout.length)] for _ in range(count)]


def plain(value):
    """A sampled value as integers, lists and nothing else."""
    return [value[lane] for lane in range(len(value))] if isinstance(value, data.Const) else value


async def idle(ctx, cycles: int) -> None:
    """Let cycles pass."""
    for _ in range(cycles):
        await ctx.tick()


def delayed(cycles: int, testbench: Callable) -> Callable:
    """A testbench that begins ``cycles`` later."""

    async def run(ctx):
        await idle(ctx, cycles)
        await testbench(ctx)

    return run


def monitor(log: list, *signals) -> Callable:
    """A monitor that appends one tuple of samples per cycle, so that an index is a cycle."""

    async def run(ctx):
        while True:
            _, _, *samples = await ctx.tick().sample(*signals)
            log.append(tuple(map(plain, samples)))

    return run


def producer(stream, items: Iterable, *, density: float, seed: object) -> Callable:
    """A testbench that offers ``items`` on a stream, each after a random pause."""
    rng = random.Random(f"producer/{seed}")

    async def run(ctx):
        for item in items:
            while rng.random() >= density:
                await ctx.tick()
            ctx.set(stream.payload, item)
            ctx.set(stream.valid, 1)
            taken = False
            while not taken:
                _, _, taken = await ctx.tick().sample(stream.ready)
            ctx.set(stream.valid, 0)

    return run


def consumer(stream, received: list, count: int, *, density: float, seed: object) -> Callable:
    """A testbench that takes ``count`` items off a stream, ready at random, into ``received``.

    Then it holds ``ready`` for a while and fails if there is one item more.
    """
    rng = random.Random(f"consumer/{seed}")

    async def run(ctx):
        while len(received) < count:
            ctx.set(stream.ready, rng.random() < density)
            _, _, valid, ready, payload = await ctx.tick().sample(
                stream.valid, stream.ready, stream.payload
            )
            if valid and ready:
                received.append(plain(payload))
        ctx.set(stream.ready, 1)
        await _expect_quiet(ctx, stream)
        ctx.set(stream.ready, 0)

    return run


def landing_buffer(
    stream,
    received: list,
    count: int,
    *,
    page_beats: int,
    depth_pages: int,
    page_release,
    commit=None,
    density: float,
    seed: object,
) -> Callable:
    """A testbench that buffers a stream that is always ready, and takes ``count`` beats at random.

    A beat can be taken one cycle after it came, or after the ``commit`` of its page if there is
    such a strobe. Fails if a beat comes while ``depth_pages`` pages are held, if a page is
    committed that is not whole, and if there is one beat more. Strobes ``page_release`` as a
    :class:`PageFifo` does.
    """
    rng = random.Random(f"landing_buffer/{seed}")

    async def run(ctx):
        held: deque = deque()
        committed_count = 0
        taken = False
        while len(received) < count:
            _, _, valid, payload, commits = await ctx.tick().sample(
                stream.valid, stream.payload, Const(0) if commit is None else commit
            )
            if commits:
                committed_count += page_beats
                assert committed_count <= len(received) + len(held), "page committed too early"
            if valid:
                assert len(held) + taken < page_beats * depth_pages, "landing buffer overrun"
                held.append(plain(payload))
            readable = held and (commit is None or len(received) < committed_count)
            taken = bool(readable) and rng.random() < density
            if taken:
                received.append(held.popleft())
            ctx.set(page_release, taken and len(received) % page_beats == 0)
        assert not held
        await ctx.tick()
        ctx.set(page_release, 0)
        await _expect_quiet(ctx, stream)

    return run


async def _expect_quiet(ctx, stream) -> None:
    for _ in range(QUIET_CYCLES):
        _, _, valid = await ctx.tick().sample(stream.valid)
        assert not valid, "one item too many"
