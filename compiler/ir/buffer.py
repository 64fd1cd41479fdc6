"""Buffers: where pages wait between two stages."""

from dataclasses import dataclass, field
from enum import StrEnum

from compiler.ir.choice import UNLESS_DEFAULT, Chooser
from compiler.ir.dtype import DType
from compiler.ir.layout import Layout
from compiler.ir.orientation import Orientation
from compiler.ir.stage import Site


class BufferKind(StrEnum):
    """``FIFO`` joins two stages of one chip; ``INTERM`` holds what leaves its chip."""

    FIFO = "Fifo"
    INTERM = "Interm"


@dataclass(frozen=True)
class Page:
    """One tile's worth of traffic: ``beats`` words of ``lanes`` elements.

    ``orientation`` says what a beat is of its tile.
    """

    beats: int
    lanes: int
    dtype: DType
    orientation: Orientation = Orientation.ROWS

    @property
    def beat_bits(self) -> int:
        """Bits in one beat."""
        return self.lanes * self.dtype.bits

    def __str__(self) -> str:
        along = "" if self.orientation is Orientation.ROWS else f", {self.orientation}"
        return f"{self.beats} beats x {self.lanes} {self.dtype}{along}"


@dataclass(frozen=True)
class Depth:
    """Pages that fit into a buffer."""

    pages: int
    by: Chooser = field(default=Chooser.HAND, compare=False, kw_only=True, metadata=UNLESS_DEFAULT)


@dataclass(frozen=True)
class Buffer:
    """A first-in first-out store of pages at one site.

    Parameters
    ----------
    holds : tuple of Layout
        What its pages hold of the value that they belong to, each layout once, in the order in
        which they first come: one, but for what a merge has put together.
    depth : Depth or None
        ``None`` until the buffer pass chooses it.
    fall_through : bool
        Whether a beat that finds the buffer empty can leave it in the cycle in which it enters.
        Otherwise it can in the next one.
    """

    name: str
    kind: BufferKind
    page: Page
    holds: tuple[Layout, ...]
    site: Site | None = None
    depth: Depth | None = None
    fall_through: bool = field(default=False, metadata=UNLESS_DEFAULT)

    @property
    def depth_pages(self) -> int | None:
        """Pages that fit, if that is decided."""
        return None if self.depth is None else self.depth.pages
