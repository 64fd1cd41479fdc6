"""Slices: how an axis of the product is dealt out to the chips along an axis of the mesh."""

from itertools import pairwise

from compiler.errors import AxisNotDivisibleError, SliceNotTileAlignedError, TooFewTilesError


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
