"""Sequences of tiles: loops where they can be, lists where they must be."""

from compiler.flow.errors import FlowError
from compiler.flow.listing import Listing, listed, listed_walk, side_by_side
from compiler.flow.nest import Nest, paired, walked
from compiler.flow.pages import Sequence
from compiler.ir import limits
from compiler.ir.stage import Stage
from compiler.ir.walk import Walk

INDEX = 2**62
"""Index of a page that numpy still computes with."""


class Sequences:
    """Makes and compares the sequences of one program, and lists so many pages and no more.

    Parameters
    ----------
    loops : bool
        Whether sequences are told by loops where they can be. Without, all are listed.
    """

    def __init__(self, *, loops: bool):
        self._loops, self._listed_pages = loops, 0

    def walked(self, stage: Stage, walk: Walk, cols: int) -> Sequence:
        """Rows and columns of the pages of a walk over tiles that lie in rows of ``cols``."""
        tiles = walked(walk, cols) if self._loops else None
        if tiles is not None:
            return tiles
        self._count(stage, walk.page_count if walk.span[1] < INDEX else limits.WALK_PAGES)
        return listed_walk(walk, cols)

    def first_difference(self, stage: Stage, one: Sequence, other: Sequence) -> int | None:
        """The first page at which two sequences differ, within the length of the shorter one."""
        if isinstance(one, Nest) and isinstance(other, Nest):
            return one.first_difference(other)
        return self.listed(stage, one).first_difference(self.listed(stage, other))

    def paired(self, stage: Stage, one: Sequence, other: Sequence) -> Sequence:
        """Vectors of two sequences of the same length side by side."""
        if isinstance(one, Nest) and isinstance(other, Nest):
            nest = paired(one, other)
            if nest is not None:
                return nest
        return side_by_side(self.listed(stage, one), self.listed(stage, other))

    def dealt(self, stage: Stage, sequence: Sequence, size: int) -> list[Sequence]:
        """The vectors in ``size`` sequences, by turns. The length must be a multiple of it."""
        if size == 1:
            return [sequence]
        hands = [sequence.every(size, first) for first in range(size)]
        whole = [hand for hand in hands if hand is not None]
        if len(whole) == size:
            return whole
        listing = self.listed(stage, sequence)
        return [listing.every(size, first) for first in range(size)]

    def listed(self, stage: Stage, sequence: Sequence) -> Listing:
        """The vectors of a sequence one by one."""
        if isinstance(sequence, Listing):
            return sequence
        self._count(stage, sequence.length)
        return listed(sequence)

    def _count(self, stage: Stage, pages: int) -> None:
        """Refuse to list more pages than are held at a time."""
        self._listed_pages += pages
        if self._listed_pages > limits.ENUMERATED_PAGES:
            raise FlowError(
                "WorkBound",
                stage.name,
                f"the pages of stage {stage.name!r} are in an order that must be followed page by "
                f"page, and the program has over {limits.ENUMERATED_PAGES} of such pages; let each "
                f"loop of a walk go through whole rows of tiles, or stay within a row",
            )
