"""The order in which a stage visits the tiles of a tensor: a nest of counted loops."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod


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
        return prod(loop.count for loop in self.loops)

    def pages(self) -> Iterator[int]:
        """Page indices in the order of the walk."""
        return _offsets(self.loops)

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
