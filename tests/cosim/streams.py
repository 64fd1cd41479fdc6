"""The far ends of a component's streams, cycle by cycle, for bodies that run on any backend.

An end is driven before its cycle settles, and looks at what has settled before the clock ticks.
"""

import random
from collections import deque
from collections.abc import Callable, Iterable
from typing import Protocol

from sim.cosim.backend import Backend

WATCHDOG_CYCLES = 4_000


def packed(lanes: Iterable[int], bits: int) -> int:
    """Lanes as one number, lane 0 in the lowest bits."""
    return sum((lane & ((1 << bits) - 1)) << (index * bits) for index, lane in enumerate(lanes))


def signed_lanes(number: int, count: int, bits: int) -> list[int]:
    """The signed lanes of a number."""
    lanes = [(number >> (index * bits)) & ((1 << bits) - 1) for index in range(count)]
    return [lane - ((lane >> (bits - 1)) << bits) for lane in lanes]


def random_words(rng: random.Random, count: int, lanes: int, bits: int) -> list[int]:
    """Packed lanes that are the extremes of their type in one case out of four."""
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1

    def lane() -> int:
        return rng.choice((low, high)) if rng.random() < 0.25 else rng.randint(low, high)

    return [packed((lane() for _ in range(lanes)), bits) for _ in range(count)]


class End(Protocol):
    """One end of a stream, or anything else that takes part in each cycle."""

    def drive(self) -> None:
        """Set the inputs of this cycle."""
        ...

    async def look(self) -> None:
        """Take in what has settled."""
        ...


async def run(backend: Backend, *ends: End, until: Callable[[], bool]) -> int:
    """Go through cycles until a condition holds; return how many there were."""
    for cycle in range(WATCHDOG_CYCLES):
        if until():
            return cycle
        await pass_cycle(backend, *ends)
    raise TimeoutError(f"the body did not end within {WATCHDOG_CYCLES} cycles")


async def pass_cycle(backend: Backend, *ends: End) -> None:
    """Go through one cycle."""
    for end in ends:
        end.drive()
    for end in ends:
        await end.look()
    await backend.tick()


class Producer:
    """Offers words on a stream, each after a random pause, and holds each until it is taken."""

    def __init__(
        self, backend: Backend, stream: str, words: Iterable[int], density: float, seed: object
    ):
        self._backend, self._stream, self._density = backend, stream, density
        self._left = deque(words)
        self._rng = random.Random(f"producer/{stream}/{seed}")
        self._offering = False

    @property
    def done(self) -> bool:
        """Whether every word has been taken."""
        return not self._left

    def drive(self) -> None:
        """Offer the next word, or nothing."""
        self._offering |= bool(self._left) and self._rng.random() < self._density
        self._backend.set(f"{self._stream}__valid", self._offering)
        if self._offering:
            self._backend.set(f"{self._stream}__payload", self._left[0])

    async def look(self) -> None:
        """See whether the word is taken."""
        (ready,) = await self._backend.get(f"{self._stream}__ready")
        if self._offering and ready:
            self._left.popleft()
            self._offering = False


class Consumer:
    """Takes words off a stream, ready at random. A word that is offered must stay as it is."""

    def __init__(self, backend: Backend, stream: str, density: float, seed: object):
        self._backend, self._stream, self._density = backend, stream, density
        self._rng = random.Random(f"consumer/{stream}/{seed}")
        self._ready = False
        self._waiting: int | None = None
        self.received: list[int | None] = []

    def drive(self) -> None:
        """Be ready, or not."""
        self._ready = self._rng.random() < self._density
        self._backend.set(f"{self._stream}__ready", self._ready)

    async def look(self) -> None:
        """Take the word that is there, if any."""
        valid, payload = await self._backend.get(
            f"{self._stream}__valid", f"{self._stream}__payload"
        )
        assert valid is not None
        if self._waiting is not None:
            assert valid, "a word was withdrawn"
            assert payload == self._waiting, "a word changed while it waited"
        self._waiting = payload if valid and not self._ready else None
        if valid and self._ready:
            self.received.append(payload)


class LandingBuffer:
    """Buffers a stream that cannot wait, and gives beats out at random, a page at a time back.

    A beat can leave one cycle after it came, or after the ``commit`` of its page. No beat may come
    while ``depth_pages`` are held.
    """

    def __init__(
        self,
        backend: Backend,
        stream: str,
        *,
        page_beats: int,
        depth_pages: int,
        commits: bool,
        density: float,
        seed: object,
    ):
        self._backend, self._stream = backend, stream
        self._page_beats, self._depth_beats = page_beats, page_beats * depth_pages
        self._commits, self._density = commits, density
        self._rng = random.Random(f"landing buffer/{stream}/{seed}")
        self._held: deque[int | None] = deque()
        self._committed = 0
        self._taken = False
        self.received: list[int | None] = []

    def drive(self) -> None:
        """Give out a beat, or none, and release the page that it ends."""
        readable = bool(self._held) and (not self._commits or len(self.received) < self._committed)
        self._taken = readable and self._rng.random() < self._density
        if self._taken:
            self.received.append(self._held.popleft())
        self._backend.set(
            "page_release", self._taken and len(self.received) % self._page_beats == 0
        )

    async def look(self) -> None:
        """Take in the beat that comes, and the commit of a page."""
        valid, payload = await self._backend.get(
            f"{self._stream}__valid", f"{self._stream}__payload"
        )
        if self._commits:
            (commit,) = await self._backend.get("commit")
            self._committed += self._page_beats if commit else 0
            assert self._committed <= len(self.received) + len(self._held), "committed too early"
        assert valid is not None
        if valid:
            assert len(self._held) + self._taken < self._depth_beats, "landing buffer overrun"
            self._held.append(payload)
