"""Layouts: how a value is spread over the chips of a mesh, one placement for each axis.

The placements are those of DTensor and shard_map. A value that is ``Partial`` along an axis is a
partial sum there: right shape, fully written, wrong until it is reduced.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Replicate:
    """Every chip along the axis has the whole."""

    def __str__(self) -> str:
        return "whole"


@dataclass(frozen=True)
class Shard:
    """The chip at index i of the axis has slice i of the value along ``dim``: ``m``, ``n``, ``k``.

    Slices are whole tiles, in the order of the axis.
    """

    dim: str

    def __str__(self) -> str:
        return f"slices of {self.dim}"


@dataclass(frozen=True)
class Partial:
    """A sum of which a chip has some contributions only.

    ``of`` lists the indices along the axis whose contributions are in it, in no order. A value as a
    whole lists none: there, every chip has its own.
    """

    of: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"partial sum of {{{','.join(map(str, self.of))}}}" if self.of else "partial sums"


@dataclass(frozen=True)
class At:
    """The chip at ``index`` of the axis has the value, the others nothing."""

    index: int

    def __str__(self) -> str:
        return f"at {self.index}"


Placement = Replicate | Shard | Partial | At
Layout = tuple[Placement, ...]
"""A placement for each axis of the mesh, in the order of the axes."""


def is_whole_sum(layout: Layout) -> bool:
    """Whether no contribution is missing, along any axis."""
    return not any(isinstance(placement, Partial) for placement in layout)
