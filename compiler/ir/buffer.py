"""Buffers: where pages wait between two stages."""

from dataclasses import dataclass
from enum import StrEnum

from compiler.ir.distribution import Distribution
from compiler.ir.dtype import DType
from compiler.ir.stage import Site


class BufferKind(StrEnum):
    """``FIFO`` joins two stages of one site; ``INTERM`` holds a partial that leaves its chip."""

    FIFO = "Fifo"
    INTERM = "Interm"


@dataclass(frozen=True)
class Page:
    """One tile's worth of traffic: ``beats`` words of ``lanes`` elements."""

    beats: int
    lanes: int
    dtype: DType

    @property
    def beat_bits(self) -> int:
        """Bits in one beat."""
        return self.lanes * self.dtype.bits

    def __str__(self) -> str:
        return f"{self.beats} beats x {self.lanes} {self.dtype}"


@dataclass(frozen=True)
class Buffer:
    """A first-in first-out store of pages at one site.

    ``depth_pages`` is ``None`` until the buffer pass chooses it.
    """

    name: str
    kind: BufferKind
    page: Page
    distribution: Distribution
    site: Site | None = None
    depth_pages: int | None = None
