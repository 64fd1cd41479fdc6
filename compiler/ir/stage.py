"""Stages: what is done, and where."""

from dataclasses import dataclass
from enum import StrEnum

from compiler.ir.body import Body
from compiler.ir.walk import Walk


@dataclass(frozen=True, order=True)
class Site:
    """A place in the machine: chip, and the mesh coordinate on that chip."""

    chip: int
    x: int = 0
    y: int = 0

    def __str__(self) -> str:
        return f"({self.chip},{self.x},{self.y})"


class EngineKind(StrEnum):
    """Kinds of engine that a site offers."""

    COMPUTE = "compute"
    MOVEMENT = "movement"
    LINK = "link"


@dataclass(frozen=True, order=True)
class Engine:
    """One engine of a site. A stage occupies an engine for the whole run."""

    kind: EngineKind
    index: int

    def __str__(self) -> str:
        return f"{self.kind}{self.index}"


class StageRole(StrEnum):
    """Whether a stage computes or moves data."""

    COMPUTE = "compute"
    MOVEMENT = "movement"


@dataclass(frozen=True)
class Load:
    """Reads the tiles of ``tensor`` in the order of ``walk``, one page per tile."""

    tensor: str
    walk: Walk | None = None


@dataclass(frozen=True)
class MatmulTiles:
    """Multiplies pages of A and B; one result page sums ``block_count`` pairs of them."""

    block_count: int | None = None


@dataclass(frozen=True)
class Recv:
    """Puts what an inter-site edge delivers into a buffer that the receiving site owns."""


@dataclass(frozen=True)
class Fold:
    """Combines one page of each input into one page, as ``body`` says."""

    body: Body


@dataclass(frozen=True)
class Map:
    """Applies ``body``, an expression over one operand, to every element of a page."""

    body: Body


@dataclass(frozen=True)
class Store:
    """Writes pages into ``tensor`` in the order of ``walk``."""

    tensor: str
    walk: Walk | None = None


StageKind = Load | MatmulTiles | Recv | Fold | Map | Store


@dataclass(frozen=True)
class Stage:
    """One step of the program, which becomes one component of the hardware.

    ``ins`` and ``outs`` are buffer names in the order of the stage's ports. ``site`` and
    ``engine`` are ``None`` until the stage is placed.
    """

    name: str
    kind: StageKind
    ins: tuple[str, ...] = ()
    outs: tuple[str, ...] = ()
    site: Site | None = None
    engine: Engine | None = None

    @property
    def role(self) -> StageRole:
        """Compute for products, folds and maps, movement for the rest."""
        computes = isinstance(self.kind, MatmulTiles | Fold | Map)
        return StageRole.COMPUTE if computes else StageRole.MOVEMENT
