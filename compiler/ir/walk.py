"""The order in which a stage visits the tiles of a tensor: a nest of counted loops, and a list."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler.ir.choice import UNLESS_DEFAULT
from compiler.ir.limits import ENUMERATED_PAGES, NUMBER


@dataclass(frozen=True)
class Loop:
    """``count`` steps that each move ``stride`` pages on."""

    count: int
    stride: int


@dataclass(frozen=True)
class Walk:
    """Loops from the outermost to the innermost. A page's index is the sum of its offsets.

    Parameters
    ----------
    loops : tuple of Loop
        Each step of a loop adds its stride.
    order : tuple of int
        Offsets of the pages that are visited in each round of all loops, in this order; one page
        without an offset, if it is empty.
    """

    loops: tuple[Loop, ...]
    order: tuple[int, ...] = field(default=(), metadata=UNLESS_DEFAULT)

    @property
    def page_count(self) -> int:
        """Pages that the walk visits."""
        return prod(max(0, loop.count) for loop in self.loops) * max(1, len(self.order))

    @property
    def span(self) -> tuple[int, int]:
        """The least and the greatest index of the pages that a walk visits, if it visits any."""
        ends = [(loop.count - 1) * loop.stride for loop in self.loops]
        low, high = min(self.order, default=0), max(self.order, default=0)
        return low + sum(min(0, end) for end in ends), high + sum(max(0, end) for end in ends)

    def pages(self) -> Iterator[int]:
        """Page indices in the order of the walk."""
        inner = self.order or (0,)
        return (page + offset for page in _offsets(self.loops) for offset in inner)

    def indices(self, kind: type[np.signedinteger[Any]] = np.int64) -> NDArray[Any]:
        """All page indices in the order of the walk, at once. The type must hold the span."""
        indices = np.zeros(1, dtype=kind)
        for loop in self.loops:
            steps = (loop.stride * np.arange(loop.count, dtype=np.int64)).astype(kind)
            indices = (indices[:, None] + steps).ravel()
        if self.order:
            indices = (indices[:, None] + np.array(self.order, dtype=kind)).ravel()
        return indices

    def normal(self) -> "Walk":
        """The same order in as few loops as it takes: equal nests have equal normal forms.

        The innermost loop is as long as the steps stay alike, and so is each around it. An order
        that a loop tells is told by it; any other is left as it is.
        """
        if self.order and (told := _told(self.order)) is not None:
            return Walk((*self.loops, told)).normal()
        if any(loop.count < 1 for loop in self.loops):
            return Walk((Loop(0, 0),))
        loops: list[Loop] = []
        for loop in reversed(self.loops):
            if loops and loop.stride == loops[-1].count * loops[-1].stride:
                loops[-1] = Loop(loops[-1].count * loop.count, loops[-1].stride)
            elif loop.count != 1:
                loops.append(loop)
        return Walk(tuple(reversed(loops)), self.order)

    def visits_once(self, count: int) -> bool:
        """Whether a walk visits each of the pages ``0`` to ``count - 1`` once, and no other.

        It does if each stride, from the least one on, goes on where the loops of the lesser ones
        end, and never else: page 1 is reached by a stride of 1, and what the lesser loops do not
        reach by the next stride. The pages of an order are taken for those of loops, if they are;
        else they are listed, and a walk that is too long for that is said not to.
        """
        if not self.page_count:
            return count == 0
        if self.order:
            if self.page_count != count or self.span != (0, count - 1):
                return False
            if (nest := _nest_of(sorted(self.order))) is not None:
                return Walk((*self.loops, *nest)).visits_once(count)
            return count <= ENUMERATED_PAGES and len(np.unique(self.indices())) == count
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
        if self.order:
            pages = sorted({*self.order})
            if (nest := _nest_of([page - pages[0] for page in pages])) is not None:
                return Walk((*self.loops, *nest)).distinct()
            few = self.page_count <= ENUMERATED_PAGES and max(map(abs, self.span)) <= NUMBER
            return len(np.unique(self.indices())) if few else None
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
        loops = " ".join(f"{loop.count}x{loop.stride:+d}" for loop in self.loops)
        return f"{loops} [{','.join(map(str, self.order))}]".lstrip() if self.order else loops


def _told(order: tuple[int, ...]) -> Loop | None:
    """The loop that goes through an order, which begins at 0, if one does."""
    step = order[1] if len(order) > 1 else 0
    loop = Loop(len(order), step)
    return loop if order == tuple(step * place for place in range(len(order))) else None


def _nest_of(pages: list[int]) -> tuple[Loop, ...] | None:
    """The loops that go through these pages, which ascend, if they begin at 0 and a nest does."""
    if pages[0] != 0:
        return None
    loops: list[Loop] = []
    while len(pages) > 1:
        step = pages[1] - pages[0]
        inner = next((at for at, page in enumerate(pages) if page != at * step), len(pages))
        starts = pages[::inner]
        if step == 0 or pages != [start + at * step for start in starts for at in range(inner)]:
            return None
        loops.insert(0, Loop(inner, step))
        pages = starts
    return tuple(loops)


def _offsets(loops: tuple[Loop, ...]) -> Iterator[int]:
    if not loops:
        yield 0
        return
    outer, *inner = loops
    for step in range(outer.count):
        for offset in _offsets(tuple(inner)):
            yield step * outer.stride + offset
