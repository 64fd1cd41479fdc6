"""The switches of one chip: what deals, adds, copies and joins the pages of a result on their ways.

Pages come to a chip in streams: that of its own product, and one from each chip that sends to it.
Each page goes to one or more places: the fold that adds it, the map behind it, the chips that it is
sent to, the store. A stream whose pages go to different places is split; a page that goes to
several is copied; where several streams come to one place, they are merged.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce

from compiler.ir.body import Add, Max, Operand
from compiler.ir.layout import Partial, Replicate
from compiler.ir.stage import ON_THE_WAY, Copy, Fold, Map, Merge, Recv, Split
from compiler.passes.page_turns import Sent, Turns
from compiler.passes.page_ways import PageWay

STORE = "store"
MOST_NAMED = 4
"""Places that a name lists."""
Place = str
"""A stream's end on a chip: ``fold_1``, ``map``, ``c2`` for what goes to chip 2, ``store``."""


@dataclass(frozen=True)
class Joint:
    """A stage of the switches, with the streams that it takes and makes, by their local names."""

    name: str
    kind: Recv | Fold | Map | Copy | Merge | Split
    ins: tuple[str, ...]
    outs: tuple[str, ...]


@dataclass(frozen=True)
class Stream:
    """Pages in order, and the placements along the axis of what they hold, each once."""

    pages: tuple[Sent, ...]
    holds: tuple[Partial | Replicate, ...]


@dataclass
class ChipSwitches:
    """The switches of the chip at one index of a group.

    Attributes
    ----------
    joints : list of Joint
        All stages, in the order of flow, but for the product and the store.
    streams : dict
        What is in each stream, by its local name.
    leaving : dict
        By the chip that it goes to, the stream that leaves for it.
    stored : str
        The stream that is stored, if any page is.
    """

    index: int
    chips: Sequence[int]
    ways: Sequence[PageWay]
    turns: Turns
    product: str
    maps: Sequence[Map]
    combine: str = "sum"
    joints: list[Joint] = field(default_factory=list[Joint])
    streams: dict[str, Stream] = field(default_factory=dict[str, Stream])
    leaving: dict[int, str] = field(default_factory=dict[int, str])
    stored: str = ""

    def __post_init__(self) -> None:
        self._from: dict[Place, list[tuple[str, tuple[Sent, ...]]]] = {}
        self._build()

    def _build(self) -> None:
        own = [Sent(number, whole=False) for number in self.turns.own[self.index]]
        if own:
            self._stream(self.product, own, lambda _: frozenset({self.index}))
            self._deal(self.product, self._place_of_sum)
        for source in self._senders():
            name, pages = f"landing_c{self.chips[source]}", self.turns.links[source, self.index]
            self._stream(name, pages, self._sums_of(source))
            self.joints.append(Joint(f"recv_c{self.chips[source]}", Recv(), (), (name,)))
            self._deal(name, self._place_of_arrival)
        keys = {number: self._takes_from(number) for number in self.turns.own[self.index]}
        for key in dict.fromkeys(key for key in keys.values() if key):
            made = self._fold(key, [number for number, its in keys.items() if its == key])
            self._deal(made, self._places_of_sum)
        whole = [Sent(n, whole=True) for n in keys if self.ways[n].owner == self.index]
        if self.maps and whole:
            self._map(whole)
        for to in sorted({to for source, to in self.turns.links if source == self.index}):
            name = self._joined(f"c{self.chips[to]}", self.turns.links[self.index, to])
            self.leaving[to] = name
        kept = [Sent(number, whole=True) for number in self.turns.kept[self.index]]
        if kept:
            self.stored = self._joined(STORE, kept)

    def taking_part(self) -> Iterator[str]:
        """Local names of the stages that are part of a collective.

        What deals and joins pages is none, nor is a receive of what is only dealt on.
        """
        after = {name: joint for joint in self.joints for name in joint.ins}
        for joint in self.joints:
            if isinstance(joint.kind, Fold | Copy):
                yield joint.name
            elif isinstance(joint.kind, Recv):
                behind = after.get(joint.outs[0])
                if behind is None or not isinstance(behind.kind, ON_THE_WAY):
                    yield joint.name

    # --- Where pages go --------------------------------------------------------------------------

    def _takes_from(self, number: int) -> tuple[int, ...]:
        return self.ways[number].takes_from[self.index]

    def _senders(self) -> list[int]:
        return sorted({source for source, to in self.turns.links if to == self.index})

    def _place_of_sum(self, page: Sent) -> tuple[Place, ...]:
        """Where a page of the product goes: to be added, or as it is."""
        key = self._takes_from(page.page)
        return (_fold_name(key, self.chips),) if key else self._places_of_sum(page)

    def _places_of_sum(self, page: Sent) -> tuple[Place, ...]:
        """Where a sum of this chip goes: on its way, or where the whole goes."""
        to = self.ways[page.page].sends_to[self.index]
        if to is not None:
            return (f"c{self.chips[to]}",)
        return ("map",) if self.maps else self._places_of_whole(page)

    def _places_of_whole(self, page: Sent) -> tuple[Place, ...]:
        way = self.ways[page.page]
        kept = (STORE,) if way.keeps[self.index] else ()
        return (*kept, *(f"c{self.chips[to]}" for to in way.copies_to[self.index]))

    def _place_of_arrival(self, page: Sent) -> tuple[Place, ...]:
        if page.whole:
            return self._places_of_whole(page)
        return (_fold_name(self._takes_from(page.page), self.chips),)

    # --- Stages ----------------------------------------------------------------------------------

    def _sums_of(self, index: int) -> Callable[[int], frozenset[int]]:
        """By number of a page, whose contributions are in the sum that a chip makes of it."""
        return lambda number: self.ways[number].contributions[index]

    def _stream(
        self, name: str, pages: Sequence[Sent], contributions: Callable[[int], frozenset[int]]
    ) -> None:
        def placement(page: Sent) -> Partial | Replicate:
            held = contributions(page.page)
            if page.whole or len(held) >= self.ways[page.page].givers:
                return Replicate()
            return Partial(tuple(sorted(held)))

        self.streams[name] = Stream(tuple(pages), tuple(dict.fromkeys(map(placement, pages))))

    def _like(self, name: str, stream: str, pages: Sequence[Sent]) -> None:
        """A stream of some pages of another."""
        own = self.streams[stream]
        if len(own.holds) == 1:
            self.streams[name] = Stream(tuple(pages), own.holds)
        else:
            source = next(
                (s for s in self._senders() if f"landing_c{self.chips[s]}" == stream), self.index
            )
            self._stream(name, pages, self._sums_of(source))

    def _deal(self, stream: str, places_of: Callable[[Sent], tuple[Place, ...]]) -> None:
        """Take a stream apart by where its pages go, and copy what goes to several places."""
        pages = self.streams[stream].pages
        ways = list(dict.fromkeys(map(places_of, pages)))
        branches = [stream]
        if len(ways) > 1:
            branches = [f"{stream}_to_{_several(places)}" for places in ways]
            turns = _shortest([ways.index(places_of(page)) for page in pages])
            self.joints.append(Joint(f"split_{stream}", Split(turns), (stream,), tuple(branches)))
        for places, branch in zip(ways, branches, strict=True):
            dealt = tuple(page for page in pages if places_of(page) == places)
            if branch not in self.streams:
                self._like(branch, stream, dealt)
            ends = [branch]
            if len(places) > 1:
                ends = [f"{branch}_for_{place}" for place in places]
                for end in ends:
                    self._like(end, branch, dealt)
                self.joints.append(Joint(f"copy_{branch}", Copy(), (branch,), tuple(ends)))
            for place, end in zip(places, ends, strict=True):
                self._from.setdefault(place, []).append((end, dealt))

    def _fold(self, key: tuple[int, ...], numbers: list[int]) -> str:
        """Add what comes from some chips to what this one has of some pages."""
        place = _fold_name(key, self.chips)
        made = place.replace("fold", "sum", 1)
        pages = [Sent(number, whole=False) for number in numbers]
        self._stream(made, pages, self._sums_of(self.index))
        ins = tuple(end for end, _ in self._from[place])
        add = Max if self.combine == "max" else Add
        body = reduce(add, map(Operand, range(len(ins))))
        self.joints.append(Joint(place, Fold(body), ins, (made,)))
        return made

    def _map(self, pages: Sequence[Sent]) -> None:
        """Map the whole sums that are made here, one function behind the other."""
        stream = self._joined("map", pages)
        everything = frozenset(range(len(self.chips)))
        for number, kind in enumerate(self.maps):
            mapped = f"mapped_{number}" if len(self.maps) > 1 else "mapped"
            self._stream(mapped, pages, lambda _: everything)
            name = f"map_{number}" if len(self.maps) > 1 else "map"
            self.joints.append(Joint(name, kind, (stream,), (mapped,)))
            stream = mapped
        self._deal(stream, self._places_of_whole)

    def _joined(self, place: Place, pages: Sequence[Sent]) -> str:
        """Put together all that comes to a place, in the order of ``pages``."""
        ends = self._from[place]
        if len(ends) == 1:
            return ends[0][0]
        whose = {page: index for index, (_, dealt) in enumerate(ends) for page in dealt}
        merged = f"merged_{place}"
        turns = _shortest([whose[_as_dealt(page, whose)] for page in pages])
        self._stream(merged, pages, self._sums_of(self.index))
        names = tuple(end for end, _ in ends)
        self.joints.append(Joint(f"merge_{place}", Merge(turns), names, (merged,)))
        return merged


def _as_dealt(page: Sent, whose: dict[Sent, int]) -> Sent:
    """A page as its stream knows it: the whole sum is a sum where it was made."""
    return page if page in whose else Sent(page.page, whole=not page.whole)


def _shortest(turns: list[int]) -> tuple[int, ...]:
    """The fewest turns that are the same ones over and over."""
    count = len(turns)
    fits = (size for size in range(1, count + 1) if count % size == 0)
    return tuple(turns[: next(size for size in fits if turns[:-size] == turns[size:])])


def _fold_name(key: tuple[int, ...], chips: Sequence[int]) -> Place:
    return f"fold_{_several([f'c{chips[index]}' for index in key])}"


def _several(places: Sequence[Place]) -> str:
    """Some places in one word, of many of them the first."""
    if len(places) <= MOST_NAMED:
        return "_".join(places)
    return f"{places[0]}_and_{len(places) - 1}_more"
