"""What is done to each stream component, on whichever backend.

A unit is a component and a body; the body gets the densities of its two sides, which idle and
press back independently of each other.
"""

import random
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from amaranth.hdl import signed
from amaranth.lib import data, wiring

from compiler.ir.body import Add, Max, Operand, left_fold
from compiler.ir.walk import Loop, Walk
from hw.fold_unit import FoldUnit
from hw.link import LinkReceiver, LinkTransmitter
from hw.load_unit import LoadUnit
from hw.page_fifo import PageFifo
from hw.semaphore_link import SemaphoreReceiver, SemaphoreTransmitter
from hw.store_unit import StoreUnit
from hw.tile_unit import TileUnit
from sim.cosim.backend import Backend
from tests.cosim.link_ends import LinkEnds
from tests.cosim.streams import (
    Consumer,
    LandingBuffer,
    Producer,
    pass_cycle,
    random_words,
    run,
    signed_lanes,
)

LANES, BITS = 3, 8
BEAT = data.ArrayLayout(signed(BITS), LANES)
PAGE_BEATS = 3
QUIET_CYCLES = 12
WALK = Walk((Loop(2, 0), Loop(2, 1), Loop(2, 2)))
WALK_PAGES = [0, 2, 1, 3, 0, 2, 1, 3]
MEMORY_WORDS = 4 * PAGE_BEATS
DENSITIES = (0.2, 0.6, 1.0)

Exercise = Callable[[Backend, float, float], Awaitable[None]]


@dataclass(frozen=True)
class Unit:
    """A component, and what to do to it at a density of writing and one of reading."""

    build: Callable[[], wiring.Component]
    exercise: Exercise


class Input:
    """Sets an input in every cycle, as a function of the cycle's number."""

    def __init__(self, backend: Backend, port: str, value: Callable[[int], int]):
        self._backend, self._port, self._value = backend, port, value
        self._cycle = 0

    def drive(self) -> None:
        """Set it."""
        self._backend.set(self._port, self._value(self._cycle))
        self._cycle += 1

    async def look(self) -> None:
        """See nothing."""


# --- PageFifo -------------------------------------------------------------------------------------


def page_fifo(
    page_beats: int, depth_pages: int, *, commits: bool = False, fall_through: bool = False
) -> Unit:
    """A queue that is compared with a deque in every cycle."""

    async def exercise(backend: Backend, write_density: float, read_density: float) -> None:
        rng = random.Random(f"{page_beats}/{depth_pages}/{write_density}/{read_density}")
        hidden: deque[int] = deque()
        visible: deque[int] = deque()
        read_count = 0
        for word in random_words(rng, 120, LANES, BITS):
            write, read = rng.random() < write_density, rng.random() < read_density
            backend.set("i__valid", write)
            backend.set("i__payload", word)
            backend.set("o__ready", read)
            commit = len(hidden) >= page_beats and rng.random() < 0.3
            if commits:
                backend.set("commit", commit)
            writable = len(hidden) + len(visible) < page_beats * depth_pages
            written = writable and write
            if written and fall_through:
                visible.append(word)
            releases = bool(visible) and read and (read_count + 1) % page_beats == 0
            shown = await backend.get("i__ready", "o__valid", "page_release")
            assert shown == (writable, bool(visible), releases)
            if visible:
                assert await backend.get("o__payload") == (visible[0],)
                if read:
                    visible.popleft()
                    read_count += 1
            if commit and commits:
                visible.extend(hidden.popleft() for _ in range(page_beats))
            if written and not fall_through:
                (hidden if commits else visible).append(word)
            await backend.tick()

    return Unit(
        lambda: PageFifo(
            BEAT,
            page_beats=page_beats,
            depth_pages=depth_pages,
            commits=commits,
            fall_through=fall_through,
        ),
        exercise,
    )


# --- LoadUnit, StoreUnit --------------------------------------------------------------------------


class ReadMemory:
    """A memory with a synchronous read port, behind a load."""

    def __init__(self, backend: Backend, words: list[int]):
        self._backend, self._words = backend, words
        self._shown = 0

    def drive(self) -> None:
        """Show the word that was read last."""
        self._backend.set("memory__data", self._shown)

    async def look(self) -> None:
        """Read a word."""
        address, enable = await self._backend.get("memory__addr", "memory__en")
        if enable:
            assert address is not None
            self._shown = self._words[address]


class WriteMemory:
    """A memory with a write port, behind a store."""

    def __init__(self, backend: Backend):
        self._backend = backend
        self.words: list[int | None] = [None] * MEMORY_WORDS

    def drive(self) -> None:
        """Nothing comes from the memory."""

    async def look(self) -> None:
        """Write a word."""
        address, enable, word = await self._backend.get(
            "memory__addr", "memory__en", "memory__data"
        )
        if enable:
            assert address is not None
            self.words[address] = word


async def load(backend: Backend, write_density: float, read_density: float) -> None:
    """Each of three walks sends the words in order; without back-pressure, without a bubble."""
    seed = f"{write_density}/{read_density}"
    words = random_words(random.Random(seed), MEMORY_WORDS, LANES, BITS)
    expected = [
        words[page * PAGE_BEATS + beat] for page in WALK_PAGES for beat in range(PAGE_BEATS)
    ]
    memory = ReadMemory(backend, words)
    for walk in range(3):
        consumer = Consumer(backend, "o", read_density, f"{seed}/{walk}")
        start = Input(backend, "start", lambda cycle: cycle == 0)
        ends = (start, memory, consumer)
        cycles = await run(
            backend, *ends, until=lambda taken=consumer.received: len(taken) == len(expected)
        )
        if read_density == 1.0:
            assert cycles == 1 + len(expected)
        for _ in range(QUIET_CYCLES):
            await pass_cycle(backend, *ends)
        assert consumer.received == expected


async def store(backend: Backend, write_density: float, read_density: float) -> None:
    """Each of three walks ends in a memory that holds the last beat of every word."""
    seed = f"{write_density}/{read_density}"
    rng = random.Random(seed)
    memory = WriteMemory(backend)
    for walk in range(3):
        words = random_words(rng, len(WALK_PAGES) * PAGE_BEATS, LANES, BITS)
        await pass_cycle(backend, Input(backend, "start", lambda _: 1))
        producer = Producer(backend, "i", words, write_density, f"{seed}/{walk}")
        start = Input(backend, "start", lambda _: 0)
        while not producer.done:
            assert await backend.get("done") == (0,)
            await pass_cycle(backend, start, memory, producer)
        assert await backend.get("done") == (1,)
        for _ in range(QUIET_CYCLES):
            await pass_cycle(backend, start, memory, producer)
        assert await backend.get("done") == (1,)
        places = [page * PAGE_BEATS + beat for page in WALK_PAGES for beat in range(PAGE_BEATS)]
        last_written = dict(zip(places, words, strict=True))
        assert memory.words == [last_written[place] for place in range(MEMORY_WORDS)]


# --- FoldUnit -------------------------------------------------------------------------------------


def fold(body, operand_count: int, golden: Callable[..., int]) -> Unit:
    """Operands that idle each at a density of its own; sums that do not fit wrap around."""
    count = 40

    async def exercise(backend: Backend, write_density: float, read_density: float) -> None:
        seed = f"{body}/{write_density}/{read_density}"
        rng = random.Random(seed)
        operands = [random_words(rng, count, LANES, BITS) for _ in range(operand_count)]
        expected = [
            [wrapped(golden(*lanes)) for lanes in zip(*map(lanes_of, beats), strict=True)]
            for beats in zip(*operands, strict=True)
        ]
        producers = [
            Producer(backend, f"i__{index}", words, (write_density, 0.5, 1.0)[index], seed)
            for index, words in enumerate(operands)
        ]
        consumer = Consumer(backend, "o", read_density, seed)
        await run(backend, *producers, consumer, until=lambda: len(consumer.received) == count)
        for _ in range(QUIET_CYCLES):
            await pass_cycle(backend, *producers, consumer)
        assert [lanes_of(word) for word in consumer.received] == expected

    return Unit(lambda: FoldUnit(BEAT, body=body), exercise)


def lanes_of(word: int | None) -> list[int]:
    """The lanes of a beat."""
    assert word is not None, "a beat holds undefined bits"
    return signed_lanes(word, LANES, BITS)


def wrapped(number: int) -> int:
    """A number in two's complement of the width of a lane."""
    return (number + (1 << (BITS - 1))) % (1 << BITS) - (1 << (BITS - 1))


# --- TileUnit -------------------------------------------------------------------------------------


def tile_unit(tile: int, block_count: int, result_pages: int) -> Unit:
    """Products of random tiles, with accumulators just wide enough for one result."""
    beats = block_count * tile
    results = 6
    total_bits = (beats * 4 ** (BITS - 1)).bit_length() + 1
    operand = data.ArrayLayout(signed(BITS), tile)
    total = data.ArrayLayout(signed(total_bits), tile)

    async def exercise(backend: Backend, write_density: float, read_density: float) -> None:
        seed = f"{tile}/{block_count}/{write_density}/{read_density}"
        rng = random.Random(seed)
        a, b = (random_words(rng, results * beats, tile, BITS) for _ in range(2))
        producers = [
            Producer(backend, "a", a, write_density, seed),
            Producer(backend, "b", b, 1.0 if write_density < 0.5 else 0.5, seed),
        ]
        buffer = LandingBuffer(
            backend,
            "c",
            page_beats=tile,
            depth_pages=result_pages,
            commits=False,
            density=read_density,
            seed=seed,
        )
        await run(backend, *producers, buffer, until=lambda: len(buffer.received) == results * tile)
        for _ in range(QUIET_CYCLES):
            await pass_cycle(backend, *producers, buffer)
        got = []
        for word in buffer.received:
            assert word is not None, "a result holds undefined bits"
            got.append(signed_lanes(word, tile, total_bits))
        assert got == [
            row
            for first in range(0, results * beats, beats)
            for row in _product(a[first : first + beats], b[first : first + beats], tile)
        ]

    return Unit(
        lambda: TileUnit(operand, total, block_count=block_count, result_pages=result_pages),
        exercise,
    )


def _product(a: list[int], b: list[int], tile: int) -> list[list[int]]:
    """Rows of the product of columns of A and rows of B."""
    columns = [signed_lanes(word, tile, BITS) for word in a]
    rows = [signed_lanes(word, tile, BITS) for word in b]
    return [
        [
            sum(column[r] * row[c] for column, row in zip(columns, rows, strict=True))
            for c in range(tile)
        ]
        for r in range(tile)
    ]


# --- Links ----------------------------------------------------------------------------------------


class Carrier:
    """Moves what leaves one end of a link to the other, in order, and later.

    It takes one word a cycle and gives one a cycle, ``latency(cycle)`` cycles later or, where that
    would overtake the word before, right behind it.
    """

    def __init__(
        self,
        backend: Backend,
        wires: dict[str, str],
        strobes: tuple[str, ...],
        latency: Callable[[int], int],
    ):
        self._backend, self._wires, self._strobes = backend, wires, strobes
        self._latency = latency
        self._cycle = 0
        self._moving: deque[tuple[int, dict[str, int]]] = deque()
        self.latencies: set[int] = set()

    def drive(self) -> None:
        """Give the word that is due, if any."""
        word: dict[str, int] = {}
        if self._moving and self._moving[0][0] <= self._cycle:
            _, word = self._moving.popleft()
        for source, destination in self._wires.items():
            self._backend.set(destination, word.get(source, 0))

    async def look(self) -> None:
        """Take the word that is there, if any of its strobes says so."""
        values = dict(zip(self._wires, await self._backend.get(*self._wires), strict=True))
        if any(values[strobe] for strobe in self._strobes):
            earliest = self._moving[-1][0] + 1 if self._moving else 0
            due = max(self._cycle + self._latency(self._cycle), earliest)
            self.latencies.add(due - self._cycle)
            self._moving.append((due, {wire: value or 0 for wire, value in values.items()}))
        self._cycle += 1


def link(
    sender,
    receiver,
    *,
    width_bits: int,
    depth_pages: int,
    commits: bool,
    latencies: tuple[int, ...],
) -> Unit:
    """Pages across a link whose delay is made here, and changes every few cycles."""
    pages = 12
    back = "ready" if commits else "credit"
    flit = ("flit__payload", "flit__valid", *(("valid",) if commits else ()))

    async def exercise(backend: Backend, write_density: float, read_density: float) -> None:
        seed = f"{width_bits}/{latencies}/{write_density}/{read_density}"
        rng = random.Random(seed)
        words = random_words(rng, pages * PAGE_BEATS, LANES, BITS)

        def latency_from(offset: int) -> Callable[[int], int]:
            return lambda cycle: latencies[(cycle // 7 + offset) % len(latencies)]

        forward = Carrier(
            backend,
            {f"near__{wire}": f"far__{wire}" for wire in flit},
            tuple(f"near__{wire}" for wire in flit if wire.endswith("valid")),
            latency_from(0),
        )
        backward = Carrier(
            backend, {f"far__{back}": f"near__{back}"}, (f"far__{back}",), latency_from(3)
        )
        producer = Producer(backend, "i", words, write_density, seed)
        buffer = LandingBuffer(
            backend,
            "o",
            page_beats=PAGE_BEATS,
            depth_pages=depth_pages,
            commits=commits,
            density=read_density,
            seed=seed,
        )
        ends = (producer, forward, backward, buffer)
        await run(backend, *ends, until=lambda: len(buffer.received) == len(words))
        for _ in range(QUIET_CYCLES + max(latencies)):
            await pass_cycle(backend, *ends)
        assert buffer.received == words
        assert len(forward.latencies) >= min(2, len(latencies))

    def build() -> LinkEnds:
        arguments = {"depth_pages": depth_pages} if commits else {}
        return LinkEnds(
            sender(BEAT, page_beats=PAGE_BEATS, width_bits=width_bits, credits=depth_pages),
            receiver(BEAT, width_bits=width_bits, **arguments),
        )

    return Unit(build, exercise)


def credit_link(**options) -> Unit:
    """A link that carries Token hand-offs."""
    return link(LinkTransmitter, LinkReceiver, commits=False, **options)


def semaphore_link(**options) -> Unit:
    """A link that carries Semaphore hand-offs."""
    return link(SemaphoreTransmitter, SemaphoreReceiver, commits=True, **options)


VARYING = (1, 9, 2, 5, 14, 1, 3)

UNITS: dict[str, Unit] = {
    "page_fifo": page_fifo(3, 2),
    "page_fifo_of_one_beat": page_fifo(1, 1),
    "page_fifo_that_commits": page_fifo(3, 2, commits=True),
    "page_fifo_to_fall_through": page_fifo(3, 2, fall_through=True),
    "page_fifo_of_one_beat_to_fall_through": page_fifo(1, 1, fall_through=True),
    "load_unit": Unit(
        lambda: LoadUnit(BEAT, walk=WALK, page_beats=PAGE_BEATS, depth_words=MEMORY_WORDS), load
    ),
    "store_unit": Unit(
        lambda: StoreUnit(BEAT, walk=WALK, page_beats=PAGE_BEATS, depth_words=MEMORY_WORDS), store
    ),
    "fold_unit": fold(left_fold(3), 3, lambda x, y, z: x + y + z),
    "fold_unit_of_maxima": fold(
        Max(Add(Operand(0), Operand(2)), Operand(1)), 3, lambda x, y, z: max(wrapped(x + z), y)
    ),
    "tile_unit": tile_unit(3, 2, 2),
    "tile_unit_of_one_lane": tile_unit(1, 3, 1),
    "credit_link": credit_link(width_bits=8, depth_pages=2, latencies=(4,)),
    "credit_link_of_varying_latency": credit_link(width_bits=8, depth_pages=3, latencies=VARYING),
    "wide_credit_link_of_varying_latency": credit_link(
        width_bits=32, depth_pages=3, latencies=VARYING
    ),
    "semaphore_link": semaphore_link(width_bits=8, depth_pages=2, latencies=(4,)),
    "semaphore_link_of_varying_latency": semaphore_link(
        width_bits=5, depth_pages=3, latencies=VARYING
    ),
}
