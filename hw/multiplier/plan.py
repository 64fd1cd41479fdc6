"""Which of an array's multipliers are blocks of the device, and what the rest is."""

from collections.abc import Callable
from dataclasses import dataclass

from hw.interfaces import positive
from hw.multiplier.logic import LogicMultiplier
from hw.multiplier.signature import Multiplier

MultiplierKind = Callable[[int], Multiplier]
"""Makes a multiplier of operands of a width."""


@dataclass(frozen=True)
class MultiplierPlan:
    """The multipliers of a tile unit of ``tile`` x ``tile`` of them.

    ``block_count`` of them are ``block``, spread evenly over the array; all others are ``rest``.
    """

    tile: int
    block: MultiplierKind
    block_count: int
    rest: MultiplierKind = LogicMultiplier

    def __post_init__(self) -> None:
        positive(self.tile, "Tile")
        if not 0 <= self.block_count <= self.tile**2:
            raise ValueError(
                f"Block count must be in 0 .. {self.tile**2} for tiles of {self.tile}, "
                f"not {self.block_count!r}"
            )

    @property
    def rest_count(self) -> int:
        """Multipliers that are no blocks."""
        return self.tile**2 - self.block_count

    def kind(self, row: int, lane: int) -> MultiplierKind:
        """What the multiplier at a place of the array is."""
        index = row * self.tile + lane
        before, after = (i * self.block_count // self.tile**2 for i in (index, index + 1))
        return self.block if after > before else self.rest


def plan_multipliers(tile: int, available: int, *, block: MultiplierKind) -> MultiplierPlan:
    """Take a device's blocks as far as they reach.

    Parameters
    ----------
    available : int
        Blocks that the tile unit may take.
    """
    return MultiplierPlan(tile, block, min(tile**2, available))
