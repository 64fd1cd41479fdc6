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
class StoredPages:
    """What a store receives, and where it puts it.

    Parameters
    ----------
    stage, tensor : str
        The store, and what it writes to.
    places : tuple of SumPages
        What arrives, by the places that pages have in a round.
    written : sequence of (row, col)
        The tile of the output as a whole whose place each page is written to.
    misplaced : int or None
        The first page that is written to the place of another tile, if there is any.
    """

    stage: str
    tensor: str
    places: tuple[SumPages, ...]
    written: Sequence
    misplaced: int | None

    @property
    def length(self) -> int:
        """Pages that arrive."""
        return sum(pages.length for pages in self.places)

    @property
    def mapped(self) -> tuple[str, ...]:
        """The elementwise functions that have been applied, each that occurs once."""
        return tuple(dict.fromkeys(pages.mapped for pages in self.places))

    def tile_of(self, page: int) -> tuple[int, ...]:
        """The tile of the output as a whole that one of the pages belongs to."""
        rounds, place = divmod(page, len(self.places))
        return self.places[place].tiles.at(rounds)

    def adds_of(self, page: int) -> Contributions:
        """What has been added into one of the pages."""
        rounds, place = divmod(page, len(self.places))
        return self.places[place].adds_of(rounds)

    def first_incomplete(self, extent: int) -> int | None:
        """The first page that does not add each of ``extent`` blocks once, if there is any."""
        found = (
            rounds * len(self.places) + place
            for place, pages in enumerate(self.places)
            if (rounds := pages.first_incomplete(extent)) is not None
        )
        return min(found, default=None)


@dataclass(frozen=True)
class PageFlow:
    """What the pages of buffers hold, and what each store receives, by name.

    Sums are told apart by the places that they have in a round; see
    :class:`~compiler.flow.rounds.Round`.
    """

    operands: dict[str, OperandPages]
    sums: dict[str, tuple[SumPages, ...]]
    stored: dict[str, StoredPages]
