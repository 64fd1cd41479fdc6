from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.ir.dtype import FP32, INT8, INT16, INT32, INT64, integer
from compiler.ir.orientation import Orientation
from compiler.ir.tensor import Part, Tensor, TensorRole, ValueRange
from sim.errors import ElementTypeError, InexactTypeError, InexactValueError, MemoryImageError
from sim.images import matrix_of, words, words_for

EXTENTS = st.integers(1, 20)
TILES = st.integers(1, 8)


def tensor(rows: int, cols: int, tile: int, dtype=INT8, *, by_columns: bool = False) -> Tensor:
    return Tensor(
        name="x",
        role=TensorRole.INPUT,
        rows=rows,
        cols=cols,
        tile=tile,
        dtype=dtype,
        value_range=ValueRange(dtype.low, dtype.high),
        part=Part("x"),
        orientation=Orientation.COLUMNS if by_columns else Orientation.ROWS,
    )


def test_lane_0_is_in_the_lowest_bits_and_negative_lanes_are_twos_complement():
    array = np.array([[1, -2], [3, -128]], np.int8)
    assert words(array, tensor(2, 2, 2)) == [0xFE01, 0x8003]
    assert words(array, tensor(2, 2, 2, by_columns=True)) == [0x0301, 0x80FE]


def test_tiles_lie_row_major_and_end_in_zeros():
    array = np.arange(1, 10, dtype=np.int8).reshape(3, 3)
    by_rows = [0x0201, 0x0504, 0x0003, 0x0006, 0x0807, 0x0000, 0x0009, 0x0000]
    by_columns = [0x0401, 0x0502, 0x0603, 0x0000, 0x0007, 0x0008, 0x0009, 0x0000]
    assert words(array, tensor(3, 3, 2)) == by_rows
    assert words(array, tensor(3, 3, 2, by_columns=True)) == by_columns


@given(rows=EXTENTS, cols=EXTENTS, tile=TILES, by_columns=st.booleans(), seed=st.integers(0, 99))
def test_every_element_is_in_its_page_beat_and_lane(rows, cols, tile, by_columns, seed):
    array = np.random.default_rng(seed).integers(-128, 128, (rows, cols)).astype(np.int8)
    shape = tensor(rows, cols, tile, by_columns=by_columns)
    memory = words(array, shape)
    assert len(memory) == shape.page_count * tile
    found = np.zeros((shape.row_tiles * tile, shape.col_tiles * tile), int)
    for row, col in np.ndindex(found.shape):
        beat, lane = (col % tile, row % tile) if by_columns else (row % tile, col % tile)
        page = row // tile * shape.col_tiles + col // tile
        bits = memory[page * tile + beat] >> 8 * lane & 0xFF
        found[row, col] = bits - (bits >> 7 << 8)
    assert np.array_equal(found[:rows, :cols], array)
    assert not found[rows:].any()
    assert not found[:, cols:].any()


@given(rows=EXTENTS, cols=EXTENTS, tile=TILES, by_columns=st.booleans(), seed=st.integers(0, 99))
@pytest.mark.parametrize("dtype", [INT8, INT16, INT32], ids=str)
def test_a_matrix_comes_back_out_of_its_words(dtype, rows, cols, tile, by_columns, seed):
    rng = np.random.default_rng(seed)
    array = rng.integers(dtype.low, dtype.high, (rows, cols), np.dtype(dtype.name), endpoint=True)
    shape = tensor(rows, cols, tile, dtype, by_columns=by_columns)
    again = matrix_of(words(array, shape), shape)
    assert again.dtype == np.int32
    assert again.dtype.isnative
    assert again.flags.c_contiguous
    assert np.array_equal(again, array)


@given(rows=EXTENTS, cols=EXTENTS, tile=TILES, bits=st.integers(2, 32), seed=st.integers(0, 99))
def test_lanes_of_any_width_are_twos_complement(rows, cols, tile, bits, seed):
    shape = tensor(rows, cols, tile, integer(bits))
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    rng = np.random.default_rng(seed)
    array = rng.integers(low, high, (rows, cols), endpoint=True)
    array[rng.random((rows, cols)) < 0.2] = low
    array[rng.random((rows, cols)) < 0.2] = high
    memory = [0] * (shape.page_count * tile)
    for row, col in np.ndindex(rows, cols):
        page = row // tile * shape.col_tiles + col // tile
        lane = int(array[row, col]) % 2**bits << bits * (col % tile)
        memory[page * tile + row % tile] |= lane
    again = matrix_of(memory, shape)
    assert again.dtype == np.int32
    assert again.flags.c_contiguous
    assert np.array_equal(again, array)


def test_words_do_not_depend_on_memory_order_or_byte_order():
    array = np.random.default_rng(0).integers(-(2**15), 2**15, (5, 7))
    shape = tensor(5, 7, 4, INT16)
    expected = words(array.astype("<i2"), shape)
    for same in (array.astype(">i2"), np.asfortranarray(array.astype("<i2"))):
        assert words(same, shape) == expected


@given(rows=EXTENTS, cols=EXTENTS, tile=TILES, bits=st.integers(2, 32), seed=st.integers(0, 99))
def test_words_have_the_bits_of_the_type_whatever_numpys_is(rows, cols, tile, bits, seed):
    shape = tensor(rows, cols, tile, integer(bits))
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    array = np.random.default_rng(seed).integers(low, high, (rows, cols), endpoint=True)
    memory = words(array, shape)
    assert all(0 <= word < 1 << bits * tile for word in memory)
    assert np.array_equal(matrix_of(memory, shape), array)


@pytest.mark.parametrize(("value", "dtype"), [(128, INT8), (-129, INT8), (2**20, integer(21))])
def test_an_element_that_the_type_does_not_hold_is_named(value, dtype):
    array = np.zeros((3, 3), np.int64)
    array[2, 1] = value
    with pytest.raises(InexactValueError, match=rf"x holds {value} at \(2, 1\), which {dtype} do"):
        words(array, tensor(3, 3, 2, dtype, by_columns=True))


def test_elements_that_are_no_integers_are_refused():
    with pytest.raises(InexactTypeError, match="x holds float64, which does not become int8"):
        words(np.zeros((2, 2)), tensor(2, 2, 2))


@pytest.mark.parametrize("dtype", [integer(1), integer(33), INT64, FP32], ids=str)
def test_a_result_is_read_only_as_a_type_that_the_machine_sums_in(dtype):
    shape = replace(tensor(2, 2, 2), dtype=dtype)
    with pytest.raises(ElementTypeError, match=f"tensor 'x' holds {dtype}, which the machine doe"):
        matrix_of([0] * 2, shape)


def test_words_that_do_not_fit_a_memory_are_refused():
    shape = tensor(3, 3, 2)
    assert words_for({}, shape) == ()
    assert words_for({"x": [0xFFFF] * 8}, shape) == [0xFFFF] * 8
    for held, why in (
        ([0] * 9, "they are 9, and it has 8"),
        ([0, 0x10000], "word 1 is 0x10000, and a word has 16 bits"),
        ([-1], "word 0 is -0x1, and a word has 16 bits"),
    ):
        with pytest.raises(MemoryImageError) as error:
            words_for({"x": held}, shape)
        assert str(error.value) == f"the words for tensor 'x' do not fit its memory: {why}"
