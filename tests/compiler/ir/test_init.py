"""A slice keeps the original elements at their original positions, or is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.errors import ShardError, UnsliceableFillError
from compiler.ir.init import (
    Const,
    ConstFloat,
    External,
    FloatValues,
    Init,
    Pattern,
    RandomBf16,
    Values,
    Zero,
    slice_init,
)


def whole(init: Init, shape: tuple[int, int]) -> np.ndarray:
    """All elements of a fill, from numpy."""
    flat = np.arange(shape[0] * shape[1])
    match init:
        case Zero():
            elements = np.zeros_like(flat)
        case Const(value):
            elements = np.full_like(flat, value)
        case Pattern(modulus, shift):
            elements = np.mod(flat, modulus) - shift
        case Values(values):
            elements = np.array(values)
        case ConstFloat(value):
            elements = np.full(flat.shape, value)
        case FloatValues(values):
            elements = np.array(values, dtype=float)
        case _:
            raise AssertionError(init)
    return elements.reshape(shape)


@st.composite
def filled(draw) -> tuple[Init, tuple[int, int]]:
    """A fill of each kind that has elements, and a shape for it."""
    shape = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    count = shape[0] * shape[1]
    int8 = st.integers(-128, 127)
    floats = st.floats(-8, 8, width=16)
    fills = st.one_of(
        st.just(Zero()),
        int8.map(Const),
        st.builds(Pattern, st.integers(1, 100), st.integers(-50, 50)),
        st.lists(int8, min_size=count, max_size=count).map(lambda v: Values(tuple(v))),
        floats.map(ConstFloat),
        st.lists(floats, min_size=count, max_size=count).map(lambda v: FloatValues(tuple(v))),
    )
    return draw(fills), shape


@given(fill=filled(), data=st.data())
def test_a_slice_is_what_numpy_cuts_out(fill, data):
    init, shape = fill
    rows, cols = (range(*sorted(data.draw(st.tuples(*[st.integers(0, n)] * 2)))) for n in shape)
    block = (len(rows), len(cols))
    piece = slice_init(init, tensor="a", shape=shape, rows=rows, cols=cols)
    expected = whole(init, shape)[rows.start : rows.stop, cols.start : cols.stop]
    assert np.array_equal(whole(piece, block), expected)


@given(fill=filled(), chips=st.integers(1, 4))
def test_slices_along_either_axis_make_up_the_whole(fill, chips):
    init, shape = fill
    for axis in (0, 1):
        extent = -(-shape[axis] // chips)
        pieces = []
        for chip in range(chips):
            cut = [range(shape[0]), range(shape[1])]
            ends = (min(end * extent, shape[axis]) for end in (chip, chip + 1))
            cut[axis] = range(*ends)
            piece = slice_init(init, tensor="a", shape=shape, rows=cut[0], cols=cut[1])
            pieces.append(whole(piece, (len(cut[0]), len(cut[1]))))
        joined = np.concatenate(pieces, axis=axis)
        kept = [slice(0, shape[0]), slice(0, shape[1])]
        assert np.array_equal(joined[tuple(kept)], whole(init, shape))


@pytest.mark.parametrize("init", [Zero(), External(), Const(3), ConstFloat(0.5)])
def test_what_is_the_same_everywhere_stays_as_it_is(init):
    assert slice_init(init, tensor="a", shape=(8, 8), rows=range(8), cols=range(4, 8)) == init


@given(fill=filled())
def test_the_slice_of_all_is_the_fill_itself(fill):
    init, shape = fill
    rows, cols = map(range, shape)
    assert slice_init(init, tensor="a", shape=shape, rows=rows, cols=cols) is init


def test_element_0_of_a_slice_is_the_element_at_its_offset():
    piece = slice_init(
        Pattern(1000, 3), tensor="a", shape=(4, 8), rows=range(2, 4), cols=range(4, 6)
    )
    assert piece == Values((2 * 8 + 4 - 3, 2 * 8 + 5 - 3, 3 * 8 + 4 - 3, 3 * 8 + 5 - 3))


def test_random_values_are_refused_because_they_depend_on_the_whole_shape():
    with pytest.raises(UnsliceableFillError) as refusal:
        slice_init(RandomBf16(7), tensor="a", shape=(8, 8), rows=range(8), cols=range(4))
    assert isinstance(refusal.value, ShardError)
    assert refusal.value.tensor == "a"
    assert refusal.value.why == (
        "RandomBf16 is a function of the whole tensor's shape, and a slice of it is not what it "
        "would generate for the slice's shape"
    )
    assert str(refusal.value) == (
        f"tensor 'a' cannot be sliced: {refusal.value.why}; give its values explicitly (Values), "
        "or leave it External and let the host supply each slice"
    )


@pytest.mark.parametrize("count", [0, 63, 65])
@pytest.mark.parametrize("kind", [Values, FloatValues])
def test_lists_of_another_length_than_the_tensor_are_refused(kind, count):
    init = kind(tuple(range(count)))
    with pytest.raises(UnsliceableFillError) as refusal:
        slice_init(init, tensor="b", shape=(8, 8), rows=range(4), cols=range(8))
    assert refusal.value.tensor == "b"
    assert refusal.value.why == f"it lists {count} values for 8 x 8 elements"


def test_long_lists_do_not_flood_the_text_of_a_program():
    assert repr(Values(tuple(range(1000)))) == "Values()"
    assert repr(FloatValues((0.5,) * 1000)) == "FloatValues()"
