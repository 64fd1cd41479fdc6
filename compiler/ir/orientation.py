"""Orientation: whether a beat of a tile is a row of it or a column."""

from enum import StrEnum


class Orientation(StrEnum):
    """What one beat of a page, and one word of a tensor's memory, is of its tile.

    An outer product takes columns of its left operand and rows of its right one, and makes rows.
    """

    ROWS = "rows"
    COLUMNS = "columns"
