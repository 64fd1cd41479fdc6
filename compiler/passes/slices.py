"""Slices: how an axis of the product is dealt out to the chips along an axis of the mesh."""

from itertools import pairwise

from compiler.errors import AxisNotDivisibleError, SliceNotTileAlignedError, TooFewTilesError
from compiler.ir.program import Program
from compiler.shard_plan import DIMS, ShardPlan

Slices = dict[str, tuple[range, ...]]
"""By dimension, the elements of each index along the axis that it is cut along."""


def cut_of(program: Program, plan: ShardPlan) -> Slices:
    """The slices of each dimension that a plan cuts."""
    return {
        dim: _slices_of(program, plan, dim, axis)
        for dim in DIMS
        if (axis := plan.axis_of(dim)) is not None
    }


def scattered_of(program: Program, plan: ShardPlan) -> Slices:
    """The slices of the result that chips which sum together are left with, if it is scattered."""
    dim, axis = plan.scattered, plan.axis_of("k")
    return {} if dim is None else {dim: _slices_of(program, plan, dim, str(axis))}


def _slices_of(program: Program, plan: ShardPlan, dim: str, axis: str) -> tuple[range, ...]:
    claim = program.claim
    extents = {"m": claim.m, "n": claim.n, "k": claim.k + claim.k_pad}
    chips = plan.mesh.size(axis)
    return slices(dim, extents[dim], chips=chips, tile=program.tile, uneven=plan.uneven)


def slices(dim: str, extent: int, *, chips: int, tile: int, uneven: bool) -> tuple[range, ...]:
    """The elements of each chip, in order: as many for all, or whole tiles dealt out evenly.

    Uneven slices differ by one tile at most, the first ones being the longer; the last tile of all
    may be short.

    Raises
    ------
    AxisNotDivisibleError, SliceNotTileAlignedError
        If equal slices are not possible.
    TooFewTilesError
        If a chip would have no tile.
    """
    if chips == 1:
        return (range(extent),)
    if uneven:
        tiles = -(-extent // tile)
        if tiles < chips:
            raise TooFewTilesError(axis=dim, extent=extent, chips=chips, tile=tile)
        share, longer = divmod(tiles, chips)
        ends = [
            min(extent, tile * (share * count + min(count, longer))) for count in range(chips + 1)
        ]
    else:
        if extent % chips:
            raise AxisNotDivisibleError(axis=dim, extent=extent, chips=chips)
        if extent // chips % tile:
            raise SliceNotTileAlignedError(axis=dim, extent=extent, chips=chips, tile=tile)
        ends = [extent // chips * count for count in range(chips + 1)]
    return tuple(range(begin, end) for begin, end in pairwise(ends))
