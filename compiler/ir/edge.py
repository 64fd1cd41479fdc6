"""Edges, the hand-offs that they are made of, and the links that carry them between chips."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fifo:
    """Local hand-off through a first-in first-out buffer."""


@dataclass(frozen=True)
class ValidReady:
    """Local hand-off of a valid/ready stream."""


@dataclass(frozen=True)
class Token:
    """Crossing hand-off: the receiver grants credits, the sender spends one per page."""


@dataclass(frozen=True)
class Semaphore:
    """Crossing hand-off, page by page.

    The receiver raises ``ready`` for each free page slot; the sender waits until ``ready_count``
    receivers have done so, writes a page and raises ``valid``.
    """

    ready: str
    valid: str
    ready_count: int = 1


@dataclass(frozen=True)
class Barrier:
    """Crossing hand-off of a group of chips.

    A page may cross once every receiver of the group has a free slot for the page of that round.
    ``group`` names the collective that the hand-off belongs to.
    """

    group: str = ""


Handoff = Fifo | ValidReady | Token | Semaphore | Barrier

LOCAL_HANDOFFS = ("ValidReady", "Fifo")
CROSSING_HANDOFFS = ("Token", "Semaphore", "Barrier")


@dataclass(frozen=True)
class Edge:
    """Pages flow from stage ``source`` through ``buffer`` to stage ``destination``.

    An edge between chips names the buffer at the sender; the receiver is a Recv stage that owns
    a buffer of its own. ``handoff`` is ``None`` until the handshake pass, ``route`` until the
    route pass; a route lists link names in the order of the way, and is empty inside a chip.
    """

    name: str
    source: str
    buffer: str
    destination: str
    handoff: Handoff | None = None
    route: tuple[str, ...] | None = None


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
