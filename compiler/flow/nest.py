"""Nests: long sequences of index vectors, told by a few loops.

Every question is answered from the loops, so it costs the same for a page and for 10**12 of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from compiler.ir.walk import Walk

Vector = tuple[int, ...]


@dataclass(frozen=True)
class Step:
    """``count`` vectors, each ``by`` more than the one before."""

    count: int
    by: Vector


@dataclass(frozen=True)
class Nest:
    """Vectors in the order of a nest of loops, the first of which is ``base``.

    The loops are kept in normal form: the innermost one is as long as steps stay alike, and so is
    each around it. So two nests are equal if they are the same sequence, and only then.

    Parameters
    ----------
    base : Vector
        The first vector.
    loops : tuple of Step
        From the outermost to the innermost.
    """

    base: Vector
    loops: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "loops", _normal(self.loops))
        if self.length == 0:
            object.__setattr__(self, "base", (0,) * len(self.base))

    @property
    def length(self) -> int:
        """Vectors of the sequence."""
        return prod(loop.count for loop in self.loops)

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        """The least and the greatest of each component, of a sequence that is not empty."""
        low, high = list(self.base), list(self.base)
        for loop in self.loops:
            for index, step in enumerate(loop.by):
                reach = (loop.count - 1) * step
                low[index] += min(0, reach)
                high[index] += max(0, reach)
        return tuple(low), tuple(high)

    def at(self, index: int) -> Vector:
        """The vector at an index, which is less than the length."""
        vector = self.base
        for loop in reversed(self.loops):
            index, steps = divmod(index, loop.count)
            vector = tuple(x + steps * by for x, by in zip(vector, loop.by, strict=True))
        return vector

    def component(self, index: int) -> Nest:
        """One component of each vector, as a sequence of vectors of one."""
        loops = tuple(Step(loop.count, (loop.by[index],)) for loop in self.loops)
        return Nest((self.base[index],), loops)

    def moved(self, by: Vector) -> Nest:
        """Each vector and ``by``."""
        return Nest(tuple(x + step for x, step in zip(self.base, by, strict=True)), self.loops)

    def first_difference(self, other: Nest) -> int | None:
        """The first index at which two sequences differ, within the length of the shorter one."""
        if not self.length or not other.length:
            return None
        if self.base != other.base:
            return 0
        scale = 1
        for one, two in zip(reversed(self.loops), reversed(other.loops), strict=False):
            if one.by != two.by:
                return scale
            if one.count != two.count:
                # The shorter loop is left by another step than its own, if by any.
                index = scale * min(one.count, two.count)
                return index if index < min(self.length, other.length) else None
            scale *= one.count
        return None

    def heads(self, size: int) -> Nest | None:
        """The first of each ``size`` vectors, if all of them are alike; else ``None``.

        The length must be a multiple of ``size``.
        """
        if size == 1 or not self.loops or not self.length:
            return self
        *outer, inner = self.loops
        if any(inner.by) or inner.count % size:
            return None
        return Nest(self.base, (*outer, Step(inner.count // size, inner.by)))

    def cycle(self, size: int) -> Nest | None:
        """The first ``size`` vectors, if the others repeat them again and again; else ``None``.

        The length must be a positive multiple of ``size``.
        """
        outer = list(self.loops)
        inner: list[Step] = []
        while size > 1 and outer:
            if len(outer) == 1 and not any(outer[0].by):
                inner.append(Step(size, outer[0].by))
                return Nest(self.base, tuple(reversed(inner)))
            loop = outer.pop()
            if size % loop.count:
                return None
            size //= loop.count
            inner.append(loop)
        return None if any(any(loop.by) for loop in outer) else Nest(self.base, tuple(inner[::-1]))

    def every(self, size: int, first: int) -> Nest | None:
        """Each ``size``-th vector from the one at ``first`` on, if loops tell them; else ``None``.

        The length must be a multiple of ``size``, and ``first`` less than it.
        """
        if not self.length:
            return self
        loops = list(self.loops)
        base = self.at(first)
        while size > 1 and loops:
            loop = loops.pop()
            if size % loop.count and loop.count % size:
                return None
            if size < loop.count:
                by = tuple(size * step for step in loop.by)
                loops.append(Step(loop.count // size, by))
                size = 1
            else:
                size //= loop.count
        return Nest(base, tuple(loops))

    def __iter__(self) -> Iterator[Vector]:
        return _vectors(self.base, self.loops)

    def __str__(self) -> str:
        loops = " ".join(f"{loop.count}x({', '.join(map(str, loop.by))})" for loop in self.loops)
        return f"({', '.join(map(str, self.base))}){' ' if loops else ''}{loops}"


def walked(walk: Walk, cols: int) -> Nest | None:
    """Rows and columns of the pages of a walk over tiles that lie in rows of ``cols``.

    ``None`` if they are no nest: where a row ends in the midst of a loop's steps, and the loop
    cannot be split there. The walk must not leave the tensor.
    """
    loops: list[Step] = []
    covered = 0
    if walk.normal().order:
        return None
    for loop in walk.normal().loops:
        count, stride = loop.count, loop.stride
        pieces: list[Step] = []
        while count > 1:
            row, col = divmod(stride, cols)
            steps = min(count, -(-cols // col)) if col else count
            if count % steps:
                return None
            pieces.append(Step(steps, (row, col)))
            covered += (steps - 1) * col
            count, stride = count // steps, stride * steps
        loops += reversed(pieces)
    if covered >= cols:
        return None
    return Nest((0, 0), tuple(loops)) if walk.page_count else Nest((0, 0), (Step(0, (0, 0)),))


def paired(one: Nest, other: Nest) -> Nest | None:
    """Vectors of both side by side. ``None`` if those are no nest.

    Both must have the same length.
    """
    base = (*one.base, *other.base)
    if not one.length:
        return Nest(base, (Step(0, (0,) * len(base)),))
    ends = sorted({*_ends(one), *_ends(other)})
    loops: list[Step] = []
    for begin, end in pairwise(ends):
        if end % begin:
            return None
        then = (*one.at(begin), *other.at(begin))
        loops.append(Step(end // begin, tuple(b - a for a, b in zip(base, then, strict=True))))
    return Nest(base, tuple(reversed(loops)))


def _ends(nest: Nest) -> Iterator[int]:
    """After how many vectors each loop has been gone through, from the innermost on."""
    length = 1
    yield length
    for loop in reversed(nest.loops):
        length *= loop.count
        yield length


def _normal(loops: Iterable[Step]) -> tuple[Step, ...]:
    """The same order in as few loops as it takes."""
    merged: list[Step] = []
    for loop in reversed(tuple(loops)):
        if loop.count < 1:
            return (Step(0, (0,) * len(loop.by)),)
        if merged and loop.by == tuple(merged[-1].count * by for by in merged[-1].by):
            merged[-1] = Step(merged[-1].count * loop.count, merged[-1].by)
        elif loop.count > 1:
            merged.append(loop)
    return tuple(reversed(merged))


def _vectors(base: Vector, loops: tuple[Step, ...]) -> Iterator[Vector]:
    if not loops:
        yield base
        return
    outer, *inner = loops
    for steps in range(outer.count):
        begin = tuple(x + steps * by for x, by in zip(base, outer.by, strict=True))
        yield from _vectors(begin, tuple(inner))
