"""Edges, the hand-offs that they are made of, and the links that carry them between chips."""

from dataclasses import dataclass, field
from typing import ClassVar

from compiler.ir.choice import UNLESS_DEFAULT, Chooser


@dataclass(frozen=True)
class Fifo:
    """Local hand-off through a first-in first-out buffer."""

    crosses: ClassVar = False
    by_page: ClassVar = False

    by: Chooser = field(default=Chooser.HAND, compare=False, kw_only=True, metadata=UNLESS_DEFAULT)


@dataclass(frozen=True)
class ValidReady:
    """Local hand-off of a valid/ready stream."""

    crosses: ClassVar = False
    by_page: ClassVar = False

    by: Chooser = field(default=Chooser.HAND, compare=False, kw_only=True, metadata=UNLESS_DEFAULT)


@dataclass(frozen=True)
class Token:
    """Crossing hand-off: the receiver grants credits, the sender spends one per page."""

    crosses: ClassVar = True
    by_page: ClassVar = False

    by: Chooser = field(default=Chooser.HAND, compare=False, kw_only=True, metadata=UNLESS_DEFAULT)


@dataclass(frozen=True)
class Semaphore:
    """Crossing hand-off, page by page.

    The receiver raises ``ready`` for each free page slot; the sender waits for it, writes a page
    and raises ``valid``.
    """

    crosses: ClassVar = True
    by_page: ClassVar = True

    ready: str
    valid: str
    by: Chooser = field(default=Chooser.HAND, compare=False, kw_only=True, metadata=UNLESS_DEFAULT)


@dataclass(frozen=True)
class Barrier:
    """Crossing hand-off of a group of chips.

    A page may cross once every receiver of the group has a free slot for the page of that round.
    ``group`` names the collective that the hand-off belongs to.
    """

    crosses: ClassVar = True
    by_page: ClassVar = True

    group: str = ""
    by: Chooser = field(default=Chooser.HAND, compare=False, kw_only=True, metadata=UNLESS_DEFAULT)


Handoff = Fifo | ValidReady | Token | Semaphore | Barrier
"""Hand-offs. Each kind says whether it ``crosses`` between chips, and whether a page is there only
as a whole (``by_page``), or beat by beat."""

HANDOFFS: dict[str, type[Handoff]] = {
    kind.__name__: kind for kind in (ValidReady, Fifo, Token, Semaphore, Barrier)
}
"""Kinds of hand-offs by name, in the order in which they are preferred."""
LOCAL_HANDOFFS = tuple(name for name, kind in HANDOFFS.items() if not kind.crosses)
CROSSING_HANDOFFS = tuple(name for name, kind in HANDOFFS.items() if kind.crosses)


@dataclass(frozen=True)
class Edge:
    """Pages flow from stage ``source`` through ``buffer`` to stage ``destination``.

    An edge between chips names the buffer at the sender; the receiver is a Recv stage that owns
    a buffer of its own.

    Parameters
    ----------
    handoff : Handoff or None
        ``None`` until the handshake pass.
    link : str or None
        The link that carries an edge between chips; ``None`` until the route pass, and inside a
        chip.
    via : tuple of int
        Chips that an edge is to pass on its way. The route pass puts stages there that receive and
        send again, and leaves none.
    """

    name: str
    source: str
    buffer: str
    destination: str
    handoff: Handoff | None = None
    link: str | None = None
    via: tuple[int, ...] = ()


@dataclass(frozen=True)
class Link:
    """A one-way physical link with a credit wire in the other direction.

    A flit of ``width_bits`` holds the link for ``flit_cycles``. What is sent at either end is at
    the other ``latency_cycles`` later.
    """

    name: str
    source_chip: int
    destination_chip: int
    width_bits: int
    latency_cycles: int
    flit_cycles: int = 1
