"""Reduction algorithms: who sends its partial sum to whom, and in which order they are added."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Reduction:
    """Per chip, the chip that its sum goes to, and the chips whose sums it adds to its own.

    ``children`` are in the order in which a chip adds them. Chip 0 is the home and has no parent.
    """

    parent: tuple[int | None, ...]
    children: tuple[tuple[int, ...], ...]

    def held(self, chip: int) -> tuple[int, ...]:
        """The contributions in the sum that leaves ``chip``, sorted."""
        below = [index for child in self.children[chip] for index in self.held(child)]
        return tuple(sorted([chip, *below]))


def star(chips: int) -> Reduction:
    """Every partial sum goes to the home chip, which adds them in order of chip number."""
    return _from_parents(tuple(None if chip == 0 else 0 for chip in range(chips)))


def tree(chips: int) -> Reduction:
    """Binary: at distance 1, 2, 4, ... the upper chip of each pair sends to the lower one.

    A chip adds the nearest partner first, so the sum over ``2**n`` chips is the balanced tree
    ``((0 + 1) + (2 + 3)) + ...``.
    """
    return _from_parents(tuple(None if chip == 0 else chip & (chip - 1) for chip in range(chips)))


def _from_parents(parent: tuple[int | None, ...]) -> Reduction:
    children: list[list[int]] = [[] for _ in parent]
    for chip, above in enumerate(parent):
        if above is not None:
            children[above].append(chip)
    return Reduction(parent=parent, children=tuple(map(tuple, children)))
