"""Streams of beats in closed form: the latest of a few lines over the rounds of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Beats = tuple[int, ...]
"""A cycle for each beat of a round."""
NEVER = -(1 << 62)
"""The cycle of a beat of which a line says nothing."""


@dataclass(frozen=True)
class BeatLines:
    """The cycles in which the beats of a stream pass, for rounds without end.

    Parameters
    ----------
    first : tuple of Beats
        Those of the first rounds.
    lines : dict
        By cycles from round to round, those of the rounds behind: beat ``b`` of round ``r`` passes
        at the latest ``beats[b] + rate * r`` of all lines.
    """

    first: tuple[Beats, ...]
    lines: dict[int, Beats]

    def round(self, number: int) -> Beats:
        """The cycles of the beats of a round."""
        if number < len(self.first):
            return self.first[number]
        each = [[cycle + rate * number for cycle in beats] for rate, beats in self.lines.items()]
        return tuple(map(max, zip(*each, strict=True)))

    def later(self, cycles: int) -> BeatLines:
        """The same beats, so many cycles later."""
        return BeatLines(
            tuple(_later(beats, cycles) for beats in self.first),
            {rate: _later(beats, cycles) for rate, beats in self.lines.items()},
        )

    def whole(self, tile: int) -> BeatLines:
        """Every beat when the last one of its page is there, for pages of ``tile`` beats."""
        return BeatLines(
            tuple(_whole(beats, tile) for beats in self.first),
            {rate: _whole(beats, tile) for rate, beats in self.lines.items()},
        )

    def joined(self, other: BeatLines) -> BeatLines:
        """Each beat when both streams have it."""
        count = max(len(self.first), len(other.first))
        first = [_latest(self.round(number), other.round(number)) for number in range(count)]
        return BeatLines(tuple(first), _joined(self.lines, other.lines))

    def at(self, places: Sequence[int]) -> BeatLines:
        """The beats that have some places in each round."""
        return BeatLines(
            tuple(tuple(beats[place] for place in places) for beats in self.first),
            {rate: tuple(beats[p] for p in places) for rate, beats in self.lines.items()},
        )

    @classmethod
    def merged(cls, streams: Sequence[BeatLines], places: dict[int, list[int]]) -> BeatLines:
        """The beats of several streams, each at its places of a round, by their numbers."""
        count = max(len(stream.first) for stream in streams)
        size = sum(map(len, places.values()))
        first: list[Beats] = []
        for number in range(count):
            beats = [NEVER] * size
            for index, stream in enumerate(streams):
                _put(beats, places[index], stream.round(number))
            first.append(tuple(beats))
        lines: dict[int, Beats] = {}
        for index, stream in enumerate(streams):
            for rate, own in stream.lines.items():
                beats = [NEVER] * size
                _put(beats, places[index], own)
                lines = _joined(lines, {rate: tuple(beats)})
        return cls(tuple(first), lines)

    def spaced(self, gap: int) -> BeatLines:
        """The same beats in order, each at least ``gap`` cycles after the one before it.

        Each beat passes when it is there, or so many gaps after an earlier one was. Of the earlier
        ones in a line that takes as long per round as the gaps do, or longer, those of the last
        round are the latest. In a faster line it is those of the first round, which pass at the
        rate of the gaps from then on.
        """
        passed: list[Beats] = []
        free = self.round(0)[0]
        for number in range(len(self.first) + 1):
            passed.append(_spaced(self.round(number), free, gap))
            free = passed[-1][-1] + gap
        size = len(passed[0])
        own_rate = gap * size
        begin = free - own_rate * len(passed)
        lines = {own_rate: tuple(begin + gap * beat for beat in range(size))}
        for rate, beats in self.lines.items():
            if rate >= own_rate:
                earlier = max(cycle - gap * beat for beat, cycle in enumerate(beats))
                lines = _joined(lines, {rate: _spaced(beats, earlier + own_rate - rate, gap)})
        by_lines = BeatLines((), lines)
        while passed and by_lines.round(len(passed) - 1) == passed[-1]:
            passed.pop()
        return BeatLines(tuple(passed), lines)


def _later(beats: Beats, cycles: int) -> Beats:
    return tuple(cycle + cycles for cycle in beats)


def _whole(beats: Beats, tile: int) -> Beats:
    return tuple(last for last in beats[tile - 1 :: tile] for _ in range(tile))


def _latest(one: Beats, other: Beats) -> Beats:
    return tuple(map(max, one, other))


def _put(beats: list[int], places: Sequence[int], own: Beats) -> None:
    for place, cycle in zip(places, own, strict=True):
        beats[place] = cycle


def _joined(one: dict[int, Beats], other: dict[int, Beats]) -> dict[int, Beats]:
    """The lines of both; of two with one rate, the later beats."""
    return {
        rate: _latest(one.get(rate, beats), other.get(rate, beats))
        for rate, beats in (one | other).items()
    }


def _spaced(beats: Beats, free: int, gap: int) -> Beats:
    """Beats in order, the first not before ``free``, each ``gap`` after the one before it."""
    passed: list[int] = []
    for ready in beats:
        passed.append(max(ready, free))
        free = passed[-1] + gap
    return tuple(passed)
