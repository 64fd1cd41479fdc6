"""Tensors: what a chip's memory holds, and which part of which value that is."""

from dataclasses import dataclass, field
from enum import StrEnum

from compiler.ir.dtype import DType
from compiler.ir.init import External, Init
from compiler.ir.orientation import Orientation


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
class Part:
    """Where a tensor stands in the value ``of``: the place of its first element."""

    of: str
    row: int = 0
    col: int = 0

    def __str__(self) -> str:
        return f"{self.of}[{self.row}, {self.col}]"


@dataclass(frozen=True)
class Tensor:
    """A matrix in the memory of one chip: a part of a value, or all of it.

    Parameters
    ----------
    rows, cols : int
        Elements that the tensor holds. Those behind the end of its value are zeros.
    tile : int
        Edge of a tile in elements. The memory holds whole tiles, row-major by tile; edge tiles
        are filled with zeros, which no one outside of the machine sees.
    part : Part
        Where the tensor stands in the value that the user knows.
    orientation : Orientation
        Whether a word of the memory is a row or a column of a tile.
    init : Init
        The elements of the value that it holds, without zeros behind the value's end.
    """

    name: str
    role: TensorRole
    rows: int
    cols: int
    tile: int
    dtype: DType
    value_range: ValueRange
    part: Part
    orientation: Orientation = Orientation.ROWS
    chip: int = 0
    init: Init = field(default_factory=External)

    @property
    def value(self) -> str:
        """The value that it is a part of."""
        return self.part.of

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

    def real_shape(self, rows: int, cols: int) -> tuple[int, int]:
        """Rows and columns that are elements of its value, which has ``rows`` and ``cols``."""
        return (
            max(0, min(self.rows, rows - self.part.row)),
            max(0, min(self.cols, cols - self.part.col)),
        )
