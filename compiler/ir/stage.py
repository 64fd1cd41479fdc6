"""Stages: what is done, and where."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from compiler.ir.body import Body
from compiler.ir.choice import UNLESS_DEFAULT, Chooser
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
    SWITCH = "switch"


@dataclass(frozen=True)
class Engine:
    """One engine of a site. A stage occupies an engine for the whole run."""

    kind: EngineKind
    index: int
    by: Chooser = field(default=Chooser.HAND, compare=False, kw_only=True, metadata=UNLESS_DEFAULT)

    def __str__(self) -> str:
        return f"{self.kind}{self.index}"


@dataclass(frozen=True)
class PortCount:
    """How many streams a kind of stage takes, or makes: ``most`` is ``None`` without an end."""

    least: int
    most: int | None

    def allows(self, count: int) -> bool:
        """Whether a stage may have so many."""
        return self.least <= count and (self.most is None or count <= self.most)


NONE, ONE, TWO = PortCount(0, 0), PortCount(1, 1), PortCount(2, 2)
SEVERAL = PortCount(2, None)


@dataclass(frozen=True)
class Load:
    """Reads the tiles of ``tensor`` in the order of ``walk``, one page per tile."""

    ins: ClassVar = NONE
    outs: ClassVar = ONE
    engine: ClassVar = EngineKind.MOVEMENT

    tensor: str
    walk: Walk | None = None

    def __str__(self) -> str:
        return f"Load {self.tensor} {self.walk or 'unwalked'}"


@dataclass(frozen=True)
class MatmulTiles:
    """Multiplies pages of A and B; one result page sums ``block_count`` pairs of them."""

    ins: ClassVar = TWO
    outs: ClassVar = ONE
    engine: ClassVar = EngineKind.COMPUTE

    block_count: int | None = None

    def __str__(self) -> str:
        count = self.block_count or 0
        return f"MatmulTiles {count} block{'' if count == 1 else 's'}"


@dataclass(frozen=True)
class Recv:
    """Puts what an inter-site edge delivers into a buffer that the receiving site owns."""

    ins: ClassVar = NONE
    outs: ClassVar = ONE
    engine: ClassVar = EngineKind.LINK

    def __str__(self) -> str:
        return "Recv"


@dataclass(frozen=True)
class Fold:
    """Combines one page of each input into one page, as ``body`` says."""

    ins: ClassVar = SEVERAL
    outs: ClassVar = ONE
    engine: ClassVar = EngineKind.COMPUTE

    body: Body

    def __str__(self) -> str:
        return f"Fold {self.body}"


@dataclass(frozen=True)
class Map:
    """Applies ``body``, an expression over one operand, to every element of a page."""

    ins: ClassVar = ONE
    outs: ClassVar = ONE
    engine: ClassVar = EngineKind.COMPUTE

    body: Body

    def __str__(self) -> str:
        return f"Map {self.body}"


@dataclass(frozen=True)
class Copy:
    """Puts each page into every one of its outputs."""

    ins: ClassVar = ONE
    outs: ClassVar = SEVERAL
    engine: ClassVar = EngineKind.SWITCH

    def __str__(self) -> str:
        return "Copy"


@dataclass(frozen=True)
class Merge:
    """Takes pages of its inputs in turns: page p comes from input ``turns[p % len(turns)]``.

    So the pages of several edges pass over one link, in an order that never changes.
    """

    ins: ClassVar = SEVERAL
    outs: ClassVar = ONE
    engine: ClassVar = EngineKind.SWITCH

    turns: tuple[int, ...]

    def __str__(self) -> str:
        return f"Merge in turns {','.join(map(str, self.turns))}"


@dataclass(frozen=True)
class Split:
    """Puts pages into its outputs in turns: page p goes to output ``turns[p % len(turns)]``."""

    ins: ClassVar = ONE
    outs: ClassVar = SEVERAL
    engine: ClassVar = EngineKind.SWITCH

    turns: tuple[int, ...]

    def __str__(self) -> str:
        return f"Split in turns {','.join(map(str, self.turns))}"


@dataclass(frozen=True)
class Store:
    """Writes pages into ``tensor`` in the order of ``walk``."""

    ins: ClassVar = ONE
    outs: ClassVar = NONE
    engine: ClassVar = EngineKind.MOVEMENT

    tensor: str
    walk: Walk | None = None

    def __str__(self) -> str:
        return f"Store {self.tensor} {self.walk or 'unwalked'}"


StageKind = Load | MatmulTiles | Recv | Fold | Map | Copy | Merge | Split | Store

KINDS: tuple[type[StageKind], ...] = (
    Load,
    MatmulTiles,
    Recv,
    Split,
    Fold,
    Map,
    Copy,
    Merge,
    Store,
)
"""Kinds of stages in the order in which data passes them on a chip."""


ON_THE_WAY = (Recv, Merge, Split)
"""Kinds that only take pages from chip to chip, as they are."""


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
    def chip(self) -> int | None:
        """The chip that the stage is on, once it has a site."""
        return None if self.site is None else self.site.chip
