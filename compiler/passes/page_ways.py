"""Ways of pages: how what chips have of one page comes together, and where the whole goes.

An algorithm is a function here and an entry of :data:`HOPS`. It says for each chip but one, the
root, which chip is next on the way there: what is to be added up goes that way, and the whole comes
back from the root by the chip that :data:`RETURNS` says.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

Hop = Callable[[int, int, int], int]
"""The next chip, from an index, the index of the root, and how many chips there are."""


def _behind(index: int, root: int, count: int) -> bool:
    """Whether a chip of a ring is nearer to the root forwards than backwards."""
    return (index - root) % count > (count - 1) // 2


HOPS: dict[str, Hop] = {
    "chain": lambda index, root, count: index + (1 if index < root else -1),
    "ring": lambda index, root, count: (index + 1) % count,
    "ring-both-ways": lambda index, root, count: (
        (index + (1 if _behind(index, root, count) else -1)) % count
    ),
    "star": lambda index, root, count: root,
    "tree": lambda index, root, count: (
        (root + ((index - root) % count & ((index - root) % count - 1))) % count
    ),
}
"""By algorithm, the chip that one sends to on the way to the root."""

RETURNS: dict[str, Hop] = {**HOPS, "ring": lambda index, root, count: (index - 1) % count}
"""By algorithm, the chip from which one receives what comes from the root."""


@dataclass(frozen=True)
class PageWay:
    """How one page goes through a group of chips, by their indices in it.

    Parameters
    ----------
    owner : int
        Who has the whole first: of its own, or as the sum of all.
    sends_to : tuple of int or None
        By index, whom a chip sends its sum to; ``None`` for the owner, and for chips that have
        nothing of the page.
    copies_to : tuple of tuple of int
        By index, whom a chip sends the whole to.
    keeps : tuple of bool
        By index, whether a chip stores the whole.
    """

    owner: int
    sends_to: tuple[int | None, ...]
    copies_to: tuple[tuple[int, ...], ...]
    keeps: tuple[bool, ...]

    def gives(self, index: int) -> bool:
        """Whether a chip has something of the page of its own."""
        return index == self.owner or self.sends_to[index] is not None

    @cached_property
    def givers(self) -> int:
        """How many chips have something of the page."""
        return sum(map(self.gives, range(len(self.sends_to))))

    @cached_property
    def takes_from(self) -> tuple[tuple[int, ...], ...]:
        """By index, whose sums a chip adds to its own, in order."""
        indices = range(len(self.sends_to))
        return tuple(
            tuple(other for other in indices if self.sends_to[other] == index) for index in indices
        )

    @cached_property
    def from_the_first(self) -> list[int]:
        """All that have something of the page, each behind those whose sums it takes."""
        order = [self.owner]
        for index in order:
            order += self.takes_from[index]
        return order[::-1]

    @cached_property
    def contributions(self) -> tuple[frozenset[int], ...]:
        """By index, whose contributions are in the sum that a chip makes."""
        held: list[set[int]] = [{index} for index in range(len(self.sends_to))]
        for index in self.from_the_first:
            for other in self.takes_from[index]:
                held[index] |= held[other]
        return tuple(map(frozenset, held))


def page_way(
    algorithm: str, count: int, owner: int, receivers: Iterable[int], *, summed: bool
) -> PageWay:
    """The way of a page to its owner, if it is summed, and from there to all receivers."""
    receivers = {*receivers}
    sends: list[int | None] = [None] * count
    copies: list[set[int]] = [set() for _ in range(count)]
    for index in range(count):
        if index != owner and summed:
            sends[index] = HOPS[algorithm](index, owner, count)
        if index in receivers:
            while index != owner:
                before = RETURNS[algorithm](index, owner, count)
                copies[before].add(index)
                index = before
    return PageWay(
        owner,
        tuple(sends),
        tuple(tuple(sorted(each)) for each in copies),
        tuple(index in receivers for index in range(count)),
    )
