"""What a chip's memory holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.ir.body import left_fold
from compiler.ir.dtype import DTYPES, INT8
from compiler.ir.init import External
from compiler.ir.stage import Engine, EngineKind, Fold, Load, MatmulTiles, Recv, Site, Stage, Store
from compiler.ir.tensor import SliceOf, Tensor, TensorRole, ValueRange


def tensor(rows: int, cols: int, tile: int, **rest) -> Tensor:
    return Tensor("a", TensorRole.INPUT, rows, cols, tile, INT8, ValueRange(-128, 127), **rest)


@given(rows=st.integers(1, 40), cols=st.integers(1, 40), tile=st.integers(1, 9))
def test_tiles_cover_the_tensor_and_no_tile_is_outside(rows, cols, tile):
    matrix = tensor(rows, cols, tile)
    starts = [len(range(0, extent, tile)) for extent in (rows, cols)]
    assert [matrix.row_tiles, matrix.col_tiles] == starts
    assert matrix.page_count == int(np.prod(starts))


@pytest.mark.parametrize("axis", ["rows", "cols"])
@pytest.mark.parametrize(("index", "end"), [(0, 9), (1, 9), (2, 9), (3, 9), (0, 2), (1, 0), (1, 8)])
def test_a_slice_knows_which_of_its_values_stand_behind_the_end(axis, index, end):
    """Four slices of 4 x 3 or 3 x 4 elements, numbered by where they are along the axis."""
    rows, cols = (4, 3) if axis == "rows" else (3, 4)
    piece = tensor(rows, cols, 2, slice_of=SliceOf("whole", axis, index, 4))
    row, col = np.indices((rows, cols))
    along = 4 * index + (row if axis == "rows" else col)
    before, behind = piece.split_values(tuple(along.ravel().tolist()), end)
    assert before == [place for place in along.ravel() if place < end]
    assert behind == [place for place in along.ravel() if place >= end]


def test_a_whole_tensor_has_no_values_behind_its_end():
    assert tensor(2, 2, 2).split_values((1, 2, 3, 4), 1) == ([1, 2, 3, 4], [])


def test_values_do_not_include_the_padding():
    assert tensor(8, 16, 8, pad=(0, 3)).value_shape == (8, 13)
    assert tensor(16, 8, 8, pad=(3, 0)).value_shape == (13, 8)
    assert tensor(16, 8, 8).value_shape == (16, 8)


def test_the_host_supplies_what_nobody_else_does():
    assert tensor(8, 8, 8).init == External()


@pytest.mark.parametrize(("low", "high"), [(1, 0), (127, -128)])
def test_a_range_from_high_to_low_is_refused(low, high):
    text = f"a range must have low <= high, not low {low} and high {high}"
    with pytest.raises(ValueError, match=text):
        ValueRange(low, high)


@pytest.mark.parametrize("dtype", [d for d in DTYPES.values() if d.kind == "int"], ids=str)
def test_integer_types_hold_what_numpys_hold(dtype):
    limits = np.iinfo(str(dtype))
    assert (dtype.bits, dtype.low, dtype.high) == (limits.bits, limits.min, limits.max)


def test_products_and_folds_compute_and_the_rest_moves():
    roles = {
        type(kind).__name__: str(Stage("stage", kind).role)
        for kind in (Load("a"), MatmulTiles(), Recv(), Fold(left_fold(2)), Store("c"))
    }
    assert roles == {
        "Load": "movement",
        "MatmulTiles": "compute",
        "Recv": "movement",
        "Fold": "compute",
        "Store": "movement",
    }


def test_sites_and_engines_print_shortly():
    assert str(Site(3, 1, 2)) == "(3,1,2)"
    assert str(Engine(EngineKind.LINK, 4)) == "link4"
