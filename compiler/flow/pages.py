"""What the pages of a buffer hold, in the order in which they pass."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.flow.contributions import Contributions
from compiler.flow.listing import Listing
from compiler.flow.nest import Nest

Sequence = Nest | Listing
"""Index vectors in order: told by loops where there are some, else one by one."""


@dataclass(frozen=True)
class OperandPages:
    """Tiles of an operand.

    Parameters
    ----------
    side : int
        0 for the left operand of the product, 1 for the right one.
    tiles : sequence of (tile, block)
        Where each page stands in the operand as a whole, in tiles: along the axis that the result
        keeps, and along the contraction.
    """

    side: int
    tiles: Sequence


@dataclass(frozen=True)
class SumPages:
    """Sums of products, whole or partial.

    Parameters
    ----------
    tiles : sequence of (row, col)
        The tile of the output as a whole that each page belongs to.
    adds : tuple of Contributions
        What has been added into each page: one for all pages, or one for each.
    mapped : str
        The elementwise functions that have been applied, which are no sums.
    """

    tiles: Sequence
    adds: tuple[Contributions, ...]
    mapped: str = ""

    @property
    def length(self) -> int:
        """Pages of the stream."""
        return self.tiles.length

    def adds_of(self, page: int) -> Contributions:
        """What has been added into one of the pages."""
        return self.adds[page if len(self.adds) > 1 else 0]

    def first_incomplete(self, extent: int) -> int | None:
        """The first page that does not add each of ``extent`` blocks once, if there is any."""
        if not self.length:
            return None
        return next((p for p, adds in enumerate(self.adds) if not adds.are_all_once(extent)), None)


@dataclass(frozen=True)
class MergedPages:
    """Pages of several streams: page p is the next one of stream ``turns[p % len(turns)]``.

    Streams are called by the buffers that a merge took them from. None is a merged one itself:
    those are put in at their own turns.
    """

    turns: tuple[str, ...]
    streams: dict[str, SumPages]

    @property
    def length(self) -> int:
        """Pages of all streams."""
        return sum(pages.length for pages in self.streams.values())


Pages = OperandPages | SumPages | MergedPages


@dataclass(frozen=True)
class StoredPages:
    """What a store receives, and where it puts it.

    Parameters
    ----------
    stage, tensor : str
        The store, and what it writes to.
    pages : SumPages
        What arrives.
    written : sequence of (row, col)
        The tile of the output as a whole whose place each page is written to.
    misplaced : int or None
        The first page that is written to the place of another tile, if there is any.
    """

    stage: str
    tensor: str
    pages: SumPages
    written: Sequence
    misplaced: int | None


@dataclass(frozen=True)
class PageFlow:
    """What the pages of each buffer hold, and what each store receives, by name."""

    held: dict[str, Pages]
    stored: dict[str, StoredPages]
