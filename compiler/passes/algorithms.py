"""Algorithms of collectives: who sends to whom, and in which order sums are added.

A new algorithm is a function here and an entry of :data:`ALGORITHMS`.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class SpanningTree:
    """The hops of a group, by index: sums go from each to its parent, wholes from parent to child.

    ``children`` are in the order in which a chip adds their sums to its own. Index 0 is the home
    and has no parent.
    """

    parent: tuple[int | None, ...]
    children: tuple[tuple[int, ...], ...]

    def contributions(self) -> tuple[tuple[int, ...], ...]:
        """By index, the contributions in the sum that leaves it, sorted."""
        below: list[set[int]] = [{index} for index in range(len(self.parent))]
        for index in self.from_the_leaves():
            above = self.parent[index]
            if above is not None:
                below[above] |= below[index]
        return tuple(tuple(sorted(held)) for held in below)

    def from_the_leaves(self) -> list[int]:
        """All indices, each behind its children."""
        order = [0]
        for index in order:
            order += self.children[index]
        return order[::-1]


def star(count: int) -> SpanningTree:
    """Every partial sum goes to the home, which adds them in order of index."""
    return _from_parents([None if index == 0 else 0 for index in range(count)])


def tree(count: int) -> SpanningTree:
    """Binary: at distance 1, 2, 4, ... the upper one of each pair sends to the lower one.

    A chip adds the nearest partner first, so the sum over ``2**n`` chips is the balanced tree
    ``((0 + 1) + (2 + 3)) + ...``.
    """
    return _from_parents([None if index == 0 else index & (index - 1) for index in range(count)])


ALGORITHMS: dict[str, Callable[[int], SpanningTree]] = {"star": star, "tree": tree}


def _from_parents(parent: list[int | None]) -> SpanningTree:
    children: list[list[int]] = [[] for _ in parent]
    for index, above in enumerate(parent):
        if above is not None:
            children[above].append(index)
    return SpanningTree(parent=tuple(parent), children=tuple(map(tuple, children)))
