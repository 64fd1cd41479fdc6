"""The order in which a stage visits the tiles of a tensor: a nest of counted loops."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler.ir.limits import ENUMERATED_PAGES, NUMBER


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

    def visits_once(self, count: int) -> bool:
        """Whether a walk visits each of the pages ``0`` to ``count - 1`` once, and no other.

        It does if each stride, from the least one on, goes on where the loops of the lesser ones
        end, and never else: page 1 is reached by a stride of 1, and what the lesser loops do not
        reach by the next stride.
        """
        if not self.page_count:
            return count == 0
        reached = 1
        for loop in sorted(self.normal().loops, key=lambda loop: loop.stride):
            if loop.stride != reached:
                return False
            reached *= loop.count
        return reached == count == self.page_count

    def distinct(self) -> int | None:
        """How many different pages a walk visits. ``None`` if only a list of them would tell.

        Pages that lie evenly from the first to the last are counted, and so are those of strides
        that each lead beyond all that the loops of lesser ones reach.
        """
        if not self.page_count:
            return 0
        moving = [loop for loop in self.normal().loops if loop.stride]
        count, reach, step = 1, 0, 0
        for loop in sorted(moving, key=lambda loop: abs(loop.stride)):
            stride = abs(loop.stride)
            step = step or stride
            is_even = reach == (count - 1) * step
            if is_even and stride % step == 0 and stride <= reach + step:
                reach += (loop.count - 1) * stride
                count = reach // step + 1
            elif stride > reach:
                reach += (loop.count - 1) * stride
                count *= loop.count
            elif self.page_count <= ENUMERATED_PAGES and max(map(abs, self.span)) <= NUMBER:
                return len(np.unique(Walk(tuple(moving)).indices()))
            else:
                return None
        return count

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
