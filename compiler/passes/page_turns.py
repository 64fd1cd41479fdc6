"""Turns of pages: in which order sums and wholes pass over each link of a group of chips.

The order is fixed before the run, so there is no arbiter. It is that in which pages would be there
if nothing but their own order, the links' pace and their latency kept them waiting. All stages
follow one order of events, in which each stands behind those that it depends on; so with room
enough, no stage waits for what waits for it.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from compiler.passes.page_ways import PageWay

HOP_CYCLES = 4
"""Cycles of a hop beside those on the link: enough to tell in which order pages will be there."""


@dataclass(frozen=True)
class Pace:
    """Cycles from one result of a product to the next, over a hop, and of a page on a link."""

    result: int
    hop: int
    page: int


@dataclass(frozen=True)
class Sent:
    """A page on a link: its number, and whether it is the whole."""

    page: int
    whole: bool


Links = dict[tuple[int, int], list[Sent]]
"""By sender and receiver, what passes between them, in order."""


@dataclass(frozen=True)
class Turns:
    """The order of pages at every chip of a group.

    Attributes
    ----------
    links : Links
        What passes between chips.
    own, kept : tuple of tuple of int
        By index, the pages in the order in which a chip brings in what it has of them, and in that
        in which it stores them.
    """

    links: Links
    own: tuple[tuple[int, ...], ...]
    kept: tuple[tuple[int, ...], ...]


def turns_of_products(ways: Sequence[PageWay], pace: Pace) -> Turns:
    """For pages that every chip makes in the order of ``ways``, and stores so."""
    sent: defaultdict[tuple[int, int], list[tuple[int, int, bool]]] = defaultdict(list)
    free: dict[tuple[int, int, bool], int] = {}

    def send(source: int, destination: int, number: int, ready: int, *, whole: bool) -> int:
        """Note a page that leaves as soon as it may, and say when it is there."""
        begin = max(ready, free.get((source, destination, whole), 0))
        free[source, destination, whole] = begin + pace.page
        sent[source, destination].append((begin, number, whole))
        return begin + pace.hop

    for number, way in enumerate(ways):
        there = [(number + 1) * pace.result] * len(way.sends_to)
        for index in way.from_the_first:
            to = way.sends_to[index]
            if to is not None:
                there[to] = max(there[to], send(index, to, number, there[index], whole=False))
        waiting = [way.owner]
        for index in waiting:
            for to in way.copies_to[index]:
                there[to] = send(index, to, number, there[index], whole=True)
                waiting.append(to)
    links = {
        link: [Sent(number, whole) for _, number, whole in sorted(events)]
        for link, events in sent.items()
    }
    indices, numbers = range(len(ways[0].keeps)), range(len(ways))
    return Turns(
        links,
        tuple(tuple(numbers) for _ in indices),
        tuple(tuple(n for n in numbers if ways[n].keeps[index]) for index in indices),
    )


def turns_of_loads(ways: Sequence[PageWay], pace: Pace) -> Turns:
    """For pages that lie in the chips: each is brought in when it is needed."""
    return _Eager(ways, pace).turns()


class _Eager:
    """Lets every link send what has been ready for longest, and notes in which order that is."""

    def __init__(self, ways: Sequence[PageWay], pace: Pace):
        self._ways, self._pace = ways, pace
        self._count = len(ways[0].keeps)
        self._links: defaultdict[tuple[int, int], list[Sent]] = defaultdict(list)
        self._own: list[list[tuple[int, int]]] = [[] for _ in range(self._count)]
        self._kept: list[list[tuple[int, int]]] = [[] for _ in range(self._count)]
        self._missing = {
            (number, index): len(way.takes_from[index])
            for number, way in enumerate(ways)
            for index in range(self._count)
            if way.gives(index)
        }
        self._free: defaultdict[tuple[int, int], int] = defaultdict(int)
        self._ready: list[tuple[int, int, int, bool, int, int]] = []

    def turns(self) -> Turns:
        """Let all pages go their ways."""
        for (number, index), missing in self._missing.items():
            if not missing:
                self._made(0, number, index)
        while self._ready:
            time, since, number, whole, source, to = heappop(self._ready)
            begin = self._free[source, to]
            if begin > time:
                heappush(self._ready, (begin, since, number, whole, source, to))
                continue
            self._free[source, to] = time + self._pace.page
            self._links[source, to].append(Sent(number, whole))
            if not whole and not self._ways[number].takes_from[source]:
                self._own[source].append((time, number))
            self._arrived(time + self._pace.hop, number, to, whole=whole)
        return Turns(
            dict(self._links),
            tuple(tuple(number for _, number in sorted(pages)) for pages in self._own),
            tuple(tuple(number for _, number in sorted(pages)) for pages in self._kept),
        )

    def _arrived(self, time: int, number: int, index: int, *, whole: bool) -> None:
        if whole:
            self._has_whole(time, number, index)
            return
        self._missing[number, index] -= 1
        if not self._missing[number, index]:
            self._own[index].append((time, number))
            self._made(time, number, index)

    def _made(self, time: int, number: int, index: int) -> None:
        """A chip has all that it adds of a page."""
        to = self._ways[number].sends_to[index]
        if to is not None:
            heappush(self._ready, (time, time, number, False, index, to))
            return
        if not self._ways[number].takes_from[index]:
            self._own[index].append((time, number))
        self._has_whole(time, number, index)

    def _has_whole(self, time: int, number: int, index: int) -> None:
        way = self._ways[number]
        if way.keeps[index]:
            self._kept[index].append((time, number))
        for to in way.copies_to[index]:
            heappush(self._ready, (time, time, number, True, index, to))
