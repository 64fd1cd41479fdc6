"""What bounds a product: arithmetic, memory or links.

Each of the three takes a least time, and all can work at once, so the product takes at least the
longest of them. That is the roofline of Williams, Waterman and Patterson, "Roofline: an insightful
visual performance model for multicore architectures", CACM 52(4), 2009, in terms of time: work
over peak against traffic over bandwidth, with the links between chips as a third roof.

The contraction axis k is split over the chips (row parallel), so each chip multiplies ``m x k/N``
by ``k/N x n`` into a partial sum of the full shape ``m x n``, and a binary tree adds the partial
sums up at the home chip. The additions of the reduction are not counted: one per partial element
that a chip receives, against ``2 k/N`` operations for computing it.
"""

from dataclasses import dataclass

from compiler.fit.model import ELEMENT_BYTES, SUM_BYTES, Layer
from compiler.targets import MemoryTier, PlanningTarget, Target

OPERAND = "int8"
"""Element type that the tile units of a target multiply."""


@dataclass(frozen=True)
class Roofline:
    """Least times, in cycles or in seconds; ``None`` where a figure is unknown.

    ``memory_at_most`` limits an unknown memory time, because a slower memory would take that long.
    """

    compute: float | None
    memory: float | None
    link: float | None
    memory_at_most: float | None = None

    @property
    def time(self) -> float:
        """The longest of the times that are known."""
        return max((time for time in self.times.values() if time is not None), default=0)

    @property
    def bound(self) -> str | None:
        """What takes longest of what is known: the first of compute, memory, link at a tie."""
        known = {name: time for name, time in self.times.items() if time}
        return max(known, key=lambda name: known[name], default=None)

    @property
    def undecided(self) -> tuple[str, ...]:
        """What is unknown and may take longer than all that is known."""
        limits = {"memory": self.memory_at_most}
        return tuple(
            name
            for name, time in self.times.items()
            if time is None and ((limit := limits.get(name)) is None or limit > self.time)
        )

    @property
    def times(self) -> dict[str, float | None]:
        """The three times by name."""
        return {"compute": self.compute, "memory": self.memory, "link": self.link}


def tiles(extent: int, tile: int) -> int:
    """Tiles along an axis; the last one may be padded with zeros."""
    return -(-extent // tile)


def received_partials(chips: int) -> int:
    """Partial sums that the home chip of a binary tree receives: its depth, ``ceil(log2 N)``."""
    return (chips - 1).bit_length()


def in_cycles(layer: Layer, chips: int, target: Target) -> Roofline:
    """Least cycles of one product on chips of ``target``, each with one tile unit.

    compute
        A tile unit takes one outer product of T x T per cycle: result tiles x blocks of the chip's
        slice of k x T.
    memory
        Each operand has a load engine of its own, which reads one beat of T elements per cycle, and
        the store engine writes one. So it takes as long as compute, and never bounds alone.
    link
        Every chip but the home sends its whole partial sum over one link, a beat of T sums at a
        time: result tiles x T x ceil(T x bits of a sum / bits of a flit) x cycles of a flit.
    """
    tile = target.tile
    pages = tiles(layer.m, tile) * tiles(layer.n, tile)
    flits = -(-tile * SUM_BYTES * 8 // target.link_width_bits)
    link = pages * tile * flits * target.link_flit_cycles if chips > 1 else 0
    if layer.dtype != OPERAND:
        return Roofline(None, None, link)
    blocks = tiles(layer.k, tile * chips)
    return Roofline(compute=pages * blocks * tile, memory=pages * blocks * tile, link=link)


def in_seconds(
    layer: Layer, chips: int, target: PlanningTarget, tier: MemoryTier | None
) -> Roofline:
    """Least seconds of one product on chips of ``target`` that hold it in ``tier``.

    compute
        ``2 m n k/N`` operations at the peak of the element type.
    memory
        The chip's slices of weights and activations read once, its partial sum written once, at
        the rate of the tier. If that is unknown, the next slower tier whose rate is known says how
        long it takes at most.
    link
        The home chip receives ``ceil(log2 N)`` partial sums of ``m n`` at the rate of its links.
    """
    k = -(-layer.k // chips)
    element = ELEMENT_BYTES[layer.dtype]
    operations = 2 * layer.m * layer.n * k
    partial = layer.m * layer.n * SUM_BYTES
    traffic = (layer.m * k + k * layer.n) * element + partial
    crossing = received_partials(chips) * partial
    slower = target.memory[target.memory.index(tier) :] if tier else ()
    known = next((t.bytes_per_second for t in slower if t.bytes_per_second is not None), None)
    return Roofline(
        compute=_seconds(operations, target.peak(layer.dtype)),
        memory=_seconds(traffic, tier.bytes_per_second if tier else None),
        link=_seconds(crossing, target.link_bytes_per_second) if crossing else 0,
        memory_at_most=_seconds(traffic, known),
    )


def _seconds(amount: int, per_second: int | None) -> float | None:
    return None if per_second is None else amount / per_second
