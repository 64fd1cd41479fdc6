"""The order in which a stage visits the tiles of a tensor: a nest of counted loops."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Loop:
    """``count`` steps that each move ``stride`` pages on."""

    count: int
    stride: int


@dataclass(frozen=True)
class Walk:
    """Loops from the outermost to the innermost. A page's index is the sum of its offsets."""

    loops: tuple[Loop, ...]

    @property
    def page_count(self) -> int:
        """Pages that the walk visits."""
        return prod(max(0, loop.count) for loop in self.loops)

    @property
    def span(self) -> tuple[int, int]:
        """The least and the greatest index of the pages that a walk visits, if it visits any."""
        ends = [(loop.count - 1) * loop.stride for loop in self.loops]
        return sum(min(0, end) for end in ends), sum(max(0, end) for end in ends)

    def pages(self) -> Iterator[int]:
        """Page indices in the order of the walk."""
        return _offsets(self.loops)

    def indices(self, kind: type[np.signedinteger[Any]] = np.int64) -> NDArray[Any]:
        """All page indices in the order of the walk, at once. The type must hold the span."""
        indices = np.zeros(1, dtype=kind)
        for loop in self.loops:
            steps = (loop.stride * np.arange(loop.count, dtype=np.int64)).astype(kind)
            indices = (indices[:, None] + steps).ravel()
        return indices

    def normal(self) -> "Walk":
        """The same order in as few loops as it takes: equal orders have equal normal forms.

        The innermost loop is as long as the steps stay alike, and so is each around it.
        """
        if any(loop.count < 1 for loop in self.loops):
            return Walk((Loop(0, 0),))
        loops: list[Loop] = []
        for loop in reversed(self.loops):
            if loops and loop.stride == loops[-1].count * loops[-1].stride:
                loops[-1] = Loop(loops[-1].count * loop.count, loops[-1].stride)
            elif loop.count != 1:
                loops.append(loop)
        return Walk(tuple(reversed(loops)))

    def distinct(self) -> int:
        """How many different pages a walk visits.

        Where each stride is larger than all that the loops of smaller strides cover, no two of
        their steps meet; else the pages are looked at one by one.
        """
        if not self.page_count:
            return 0
        moving = [loop for loop in self.normal().loops if loop.stride]
        covered = 0
        for loop in sorted(moving, key=lambda loop: abs(loop.stride)):
            if abs(loop.stride) <= covered:
                return len(np.unique(Walk(tuple(moving)).indices()))
            covered += (loop.count - 1) * abs(loop.stride)
        return prod(loop.count for loop in moving)

    def __str__(self) -> str:
        return " ".join(f"{loop.count}x{loop.stride:+d}" for loop in self.loops)


def _offsets(loops: tuple[Loop, ...]) -> Iterator[int]:
    if not loops:
        yield 0
        return
    outer, *inner = loops
    for step in range(outer.count):
        for offset in _offsets(tuple(inner)):
            yield step * outer.stride + offset
