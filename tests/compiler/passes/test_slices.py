"""An axis is dealt out whole: as much for all, or tiles as evenly as numpy deals them out."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.errors import (
    AxisNotDivisibleError,
    ShardError,
    SliceNotTileAlignedError,
    TooFewTilesError,
)
from compiler.passes.slices import slices

EXTENTS, CHIPS, TILES = st.integers(1, 400), st.integers(1, 17), st.sampled_from([1, 2, 3, 4, 8])


def dealt(extent: int, chips: int, tile: int) -> list[list[int]]:
    """Elements by chip, where numpy deals out the tiles."""
    tiles = np.arange(-(-extent // tile))
    return [
        [e for t in share for e in range(t * tile, min((t + 1) * tile, extent))]
        for share in np.array_split(tiles, chips)
    ]


@given(extent=EXTENTS, chips=CHIPS, tile=TILES)
def test_uneven_slices_are_those_of_array_split_on_tiles(extent, chips, tile):
    share = dealt(extent, chips, tile)
    if all(share):
        found = slices("m", extent, chips=chips, tile=tile, uneven=True)
        assert [list(elements) for elements in found] == share
    else:
        with pytest.raises(TooFewTilesError):
            slices("m", extent, chips=chips, tile=tile, uneven=True)


@given(share=st.integers(1, 20), chips=CHIPS, tile=TILES, uneven=st.booleans())
def test_where_the_axis_divides_all_chips_get_as_much_either_way(share, chips, tile, uneven):
    extent = share * tile * chips
    found = slices("n", extent, chips=chips, tile=tile, uneven=uneven)
    assert [list(elements) for elements in found] == [
        list(piece) for piece in np.split(np.arange(extent), chips)
    ]


@given(extent=EXTENTS, chips=st.integers(2, 17), tile=TILES)
def test_equal_slices_are_whole_tiles_or_refused(extent, chips, tile):
    if extent % chips:
        refusal = AxisNotDivisibleError
    elif (extent // chips) % tile:
        refusal = SliceNotTileAlignedError
    else:
        assert len(slices("k", extent, chips=chips, tile=tile, uneven=False)) == chips
        return
    with pytest.raises(refusal) as error:
        slices("k", extent, chips=chips, tile=tile, uneven=False)
    assert isinstance(error.value, ShardError)
    assert (error.value.axis, error.value.extent, error.value.chips) == ("k", extent, chips)


@given(extent=EXTENTS, tile=TILES, uneven=st.booleans())
def test_one_chip_has_all_however_short_the_last_tile(extent, tile, uneven):
    assert slices("m", extent, chips=1, tile=tile, uneven=uneven) == (range(extent),)


@pytest.mark.parametrize(
    ("dim", "way_out"),
    [
        ("k", "pad it with zeros (--pad-k), or let slices differ by a tile (--uneven)"),
        ("m", "let slices differ by a tile (--uneven)"),
        ("n", "let slices differ by a tile (--uneven)"),
    ],
)
def test_what_does_not_divide_is_said_with_the_ways_out(dim, way_out):
    with pytest.raises(
        AxisNotDivisibleError,
        match=re.escape(
            f"axis {dim} of 50 does not divide over 4 chips (2 left over); choose a chip count "
            f"that divides it, or {way_out}"
        ),
    ):
        slices(dim, 50, chips=4, tile=8, uneven=False)
    with pytest.raises(
        SliceNotTileAlignedError,
        match=re.escape(
            f"axis {dim} of 48 over 4 chips gives slices of 12, which is not a multiple of the "
            f"tile 8; choose a smaller tile or fewer chips, or {way_out}"
        ),
    ):
        slices(dim, 48, chips=4, tile=8, uneven=False)


@pytest.mark.parametrize(
    ("dim", "extent", "tiles", "way_out"),
    [
        ("m", 17, "3 tiles", ""),
        ("n", 8, "1 tile", ""),
        ("k", 17, "3 tiles", ", or pad it with zeros (--pad-k)"),
    ],
)
def test_chips_without_a_tile_are_refused(dim, extent, tiles, way_out):
    with pytest.raises(TooFewTilesError) as refusal:
        slices(dim, extent, chips=4, tile=8, uneven=True)
    assert str(refusal.value) == (
        f"axis {dim} of {extent} has {tiles} of 8, fewer than the 4 chips that are to share them; "
        f"choose fewer chips or a smaller tile{way_out}"
    )
