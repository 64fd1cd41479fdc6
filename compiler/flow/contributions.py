"""Contributions: which blocks of a contraction have been added, and how many times each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compiler.flow.listing import Listing
from compiler.flow.nest import Nest
from compiler.ir import limits


class TooManyIntervalsError(Exception):
    """The blocks of a sum lie so far apart that they are too many intervals to be followed."""


@dataclass(frozen=True)
class Contributions:
    """Blocks ``begin`` to ``end - 1``, each added ``times`` times.

    The intervals are sorted and disjoint, and as long as they can be, so equal contributions are
    equal records.
    """

    intervals: tuple[tuple[int, int, int], ...] = ()

    def plus(self, other: Contributions) -> Contributions:
        """What two sums have added together."""
        return added((*self.intervals, *other.intervals))

    def are_all_once(self, extent: int) -> bool:
        """Whether each of the blocks ``0`` to ``extent - 1`` is added once, and no other."""
        return self.intervals == (((0, extent, 1),) if extent else ())

    def missing(self, extent: int) -> Iterator[tuple[int, int]]:
        """Blocks of ``extent`` that are not added, as intervals from ``begin`` to ``end``."""
        reached = 0
        for begin, end, _ in self.intervals:
            if begin > reached:
                yield reached, begin
            reached = end
        if reached < extent:
            yield reached, extent

    def repeated(self) -> Iterator[tuple[int, int]]:
        """Blocks that are added more than once, as intervals from ``begin`` to ``end``."""
        last: tuple[int, int] | None = None
        for begin, end, times in self.intervals:
            if times < 2:
                continue
            if last and last[1] == begin:
                begin = last[0]
            elif last:
                yield last
            last = begin, end
        if last:
            yield last

    @property
    def first_repeated_times(self) -> int:
        """How many times the first block is added that is added more than once; else 1."""
        return next((times for _, _, times in self.intervals if times > 1), 1)

    def elements(self, tile: int, extent: int) -> int:
        """Products of elements that one sum adds: blocks of ``tile``, ``extent`` in all of them."""
        return sum(
            times * (min(extent, end * tile) - min(extent, begin * tile))
            for begin, end, times in self.intervals
        )


def added(intervals: Iterable[tuple[int, int, int]]) -> Contributions:
    """Contributions of intervals that may lie anyhow."""
    change = Counter[int]()
    for begin, end, times in intervals:
        change[begin] += times
        change[end] -= times
    found: list[tuple[int, int, int]] = []
    begin, times = 0, 0
    for place in sorted(place for place, by in change.items() if by):
        if times:
            found.append((begin, place, times))
        begin, times = place, times + change[place]
    return Contributions(tuple(found))


def contributions_of(blocks: Nest | Listing) -> Contributions:
    """What a sum adds that goes through ``blocks``, which are vectors of one.

    Raises
    ------
    TooManyIntervalsError
        If the blocks lie in more than :data:`~compiler.ir.limits.INTERVALS` intervals.
    """
    if isinstance(blocks, Listing):
        found, counts = np.unique(blocks.vectors[:, 0], return_counts=True)
        return _joined(found, found + 1, counts)
    (base,), times, length = blocks.base, min(1, blocks.length), 1
    begins = np.array([base], dtype=np.int64)
    for loop in sorted(blocks.loops, key=lambda loop: abs(loop.by[0])):
        ((by,), count) = loop.by, loop.count
        if not by:
            times *= count
        elif abs(by) == length and len(begins) == 1:
            # One run goes on where the other ends, downwards or upwards.
            begins = begins + min(0, (count - 1) * by)
            length *= count
        elif len(begins) * count > limits.INTERVALS:
            raise TooManyIntervalsError
        else:
            begins = (begins + by * np.arange(count)[:, None]).ravel()
    if not times:
        return Contributions()
    return _joined(begins, begins + length, np.full(len(begins), times))


def _joined(
    begins: NDArray[np.int64], ends: NDArray[np.int64], times: NDArray[np.int64]
) -> Contributions:
    return added(zip(begins.tolist(), ends.tolist(), times.tolist(), strict=True))
