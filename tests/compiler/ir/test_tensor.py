"""What a chip's memory holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.ir.dtype import DTYPES, INT8
from compiler.ir.init import External
from compiler.ir.stage import KINDS, NONE, ONE, SEVERAL, TWO, Engine, EngineKind, Site
from compiler.ir.tensor import Part, Tensor, TensorRole, ValueRange


def tensor(rows: int, cols: int, tile: int, *, row: int = 0, col: int = 0) -> Tensor:
    span, part = ValueRange(-128, 127), Part("a", row, col)
    return Tensor("a", TensorRole.INPUT, rows, cols, tile, INT8, span, part)


@given(rows=st.integers(1, 40), cols=st.integers(1, 40), tile=st.integers(1, 9))
def test_tiles_cover_the_tensor_and_no_tile_is_outside(rows, cols, tile):
    matrix = tensor(rows, cols, tile)
    starts = [len(range(0, extent, tile)) for extent in (rows, cols)]
    assert [matrix.row_tiles, matrix.col_tiles] == starts
    assert matrix.page_count == int(np.prod(starts))


@given(
    row=st.integers(0, 12), col=st.integers(0, 12), rows=st.integers(1, 12), cols=st.integers(1, 12)
)
def test_the_real_elements_of_a_part_are_those_of_its_value(row, col, rows, cols):
    """The value has 9 x 7 elements. What stands behind is none of them."""
    part = tensor(rows, cols, 4, row=row, col=col)
    held = np.ones((9, 7))[row : row + rows, col : col + cols]
    real = part.real_shape(9, 7)
    assert real[0] * real[1] == held.size
    assert real == held.shape


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


def test_every_kind_of_stage_says_what_it_runs_on_and_how_many_streams_it_has():
    facts = {
        kind.__name__: (str(kind.engine), kind.ins.least, kind.ins.most, kind.outs.least)
        for kind in KINDS
    }
    assert facts == {
        "Load": ("movement", 0, 0, 1),
        "MatmulTiles": ("compute", 2, 2, 1),
        "Recv": ("link", 0, 0, 1),
        "Split": ("switch", 1, 1, 2),
        "Fold": ("compute", 2, None, 1),
        "Map": ("compute", 1, 1, 1),
        "Copy": ("switch", 1, 1, 2),
        "Merge": ("switch", 2, None, 1),
        "Store": ("movement", 1, 1, 0),
    }


@pytest.mark.parametrize(
    ("ports", "allowed"), [(NONE, [0]), (ONE, [1]), (TWO, [2]), (SEVERAL, [2, 3, 4, 5])]
)
def test_ports_allow_what_they_say(ports, allowed):
    assert [count for count in range(6) if ports.allows(count)] == allowed


def test_sites_and_engines_print_shortly():
    assert str(Site(3, 1, 2)) == "(3,1,2)"
    assert str(Engine(EngineKind.LINK, 4)) == "link4"
