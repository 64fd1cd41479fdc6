"""Tensors: what a chip's memory holds, and which slice of which whole that is."""

from dataclasses import dataclass, field
from enum import StrEnum

from compiler.ir.dtype import DType
from compiler.ir.init import External, Init


class TensorRole(StrEnum):
    """What the program does with a tensor."""

    INPUT = "input"
    OUTPUT = "output"


@dataclass(frozen=True)
class ValueRange:
    """A closed range that holds every element."""

    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(
                f"a range must have low <= high, not low {self.low!r} and high {self.high!r}"
            )


@dataclass(frozen=True)
class SliceOf:
    """Slice ``index`` of ``count`` equal slices of tensor ``whole`` along ``axis``.

    ``axis`` is ``rows`` or ``cols``.
    """

    whole: str
    axis: str
    index: int
    count: int


@dataclass(frozen=True)
class Tensor:
    """A matrix in the memory of one chip.

    Parameters
    ----------
    rows, cols : int
        Elements that the tensor holds, zeros that pad the contraction axis included.
    pad : tuple of int
        How many of the last rows and columns are such zeros. A slice does not say: its
        ``init`` lists them, or the host supplies them.
    tile : int
        Edge of a tile in elements. The memory holds whole tiles, row-major by tile; edge tiles
        are filled with zeros, which no one outside of the machine sees.
    slice_of : SliceOf or None
        Where the tensor stands in the whole that the user knows.
    """

    name: str
    role: TensorRole
    rows: int
    cols: int
    tile: int
    dtype: DType
    value_range: ValueRange
    pad: tuple[int, int] = (0, 0)
    chip: int = 0
    init: Init = field(default_factory=External)
    slice_of: SliceOf | None = None

    @property
    def value_shape(self) -> tuple[int, int]:
        """Rows and columns without the padding: the shape that ``init`` describes."""
        return self.rows - self.pad[0], self.cols - self.pad[1]

    def split_values(self, values: tuple[int, ...], end: int) -> tuple[list[int], list[int]]:
        """Listed values before and behind element ``end`` of the axis that this is a slice along.

        Those behind it are the zeros that pad the axis, which no value range needs to hold.
        """
        piece = self.slice_of
        if piece is None or not self.cols:
            return list(values), []
        along_rows = piece.axis == "rows"
        real = end - piece.index * (self.rows if along_rows else self.cols)
        before: list[int] = []
        behind: list[int] = []
        for position, value in enumerate(values):
            along = position // self.cols if along_rows else position % self.cols
            (before if along < real else behind).append(value)
        return before, behind

    @property
    def row_tiles(self) -> int:
        """Tiles along the rows."""
        return -(-self.rows // self.tile)

    @property
    def col_tiles(self) -> int:
        """Tiles along the columns."""
        return -(-self.cols // self.tile)

    @property
    def page_count(self) -> int:
        """Tiles in the whole tensor."""
        return self.row_tiles * self.col_tiles
