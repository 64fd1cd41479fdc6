"""Numbers become others of another type exactly, or the value that does not is named."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.errors import ShardwrightError
from compiler.ir.dtype import INT8, INT16, INT32, INT64, integer
from sim.errors import ExactError, InexactTypeError, InexactValueError
from sim.exact import exact, wrapped

NUMPY = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
TYPES = st.integers(1, 64).map(integer)


@given(
    dtype=TYPES,
    held=st.sampled_from(NUMPY),
    values=st.lists(st.integers(-(2**70), 2**70), min_size=1, max_size=6),
    swapped=st.booleans(),
)
def test_every_value_is_kept_or_the_first_that_cannot_be_is_named(dtype, held, values, swapped):
    limits = np.iinfo(held)
    kept = [min(max(value, limits.min), limits.max) for value in values]
    array = np.array(kept, held)
    if swapped:
        array = array.astype(array.dtype.newbyteorder())
    outside = [value for value in kept if not dtype.low <= value <= dtype.high]
    if not outside:
        result = exact(array, dtype, "it")
        assert result.tolist() == kept
        assert result.dtype == np.dtype(dtype.numpy_name)
        assert result.dtype.isnative
        return
    with pytest.raises(InexactValueError) as error:
        exact(array, dtype, "it")
    assert (error.value.value, error.value.position) == (outside[0], (kept.index(outside[0]),))
    assert str(error.value) == (
        f"it holds {outside[0]} at ({kept.index(outside[0])}), which {dtype} does not hold: "
        f"its values are {dtype.low} to {dtype.high}"
    )


@given(dtype=TYPES, values=st.lists(st.integers(-(2**70), 2**70), min_size=1, max_size=6))
def test_pythons_integers_are_kept_or_refused_alike(dtype, values):
    array = np.array(values, dtype=object)
    if all(dtype.low <= value <= dtype.high for value in values):
        assert exact(array, dtype, "it").tolist() == values
    else:
        with pytest.raises(InexactValueError):
            exact(array, dtype, "it")


@pytest.mark.parametrize(
    "array",
    [
        np.array([[1.0, 2.0]]),
        np.array([1.5], np.float16),
        np.array([1 + 0j]),
        np.array([True]),
        np.array([1, True], object),
        np.array([1, 2.0], object),
        np.array([None]),
        np.array(["1"]),
        np.array([1], "m8[s]"),
    ],
    ids=lambda array: str(array.dtype),
)
def test_what_is_no_integer_is_refused_by_its_type(array):
    with pytest.raises(InexactTypeError) as error:
        exact(array, INT8, "operand A")
    assert str(error.value) == (
        f"operand A holds {array.dtype}, which does not become int8: give integers"
    )


def test_both_can_be_caught_as_one():
    assert issubclass(InexactTypeError, ExactError)
    assert issubclass(InexactValueError, ExactError)
    assert issubclass(ExactError, ShardwrightError)


def test_an_empty_array_holds_nothing_that_could_change():
    assert exact(np.zeros((0, 3), np.int64), INT8, "it").shape == (0, 3)


@pytest.mark.parametrize(
    ("bits", "name"),
    [(1, "int8"), (8, "int8"), (9, "int16"), (16, "int16"), (17, "int32"), (33, "int64")],
)
def test_numpys_type_is_the_least_that_holds_all(bits, name):
    dtype = integer(bits)
    assert dtype.numpy_name == name
    assert dtype.low >= np.iinfo(name).min
    assert dtype.high <= np.iinfo(name).max


@given(bits=st.integers(2, 32), values=st.lists(st.integers(-(2**60), 2**60), min_size=1))
def test_sums_wrap_as_those_of_the_hardware_do(bits, values):
    dtype = integer(bits)
    expected = [value % 2**bits for value in values]
    expected = [value - 2**bits if value >= 2 ** (bits - 1) else value for value in expected]
    assert wrapped(np.array(values, np.int64), dtype).tolist() == expected


def test_facts_of_a_type_stand_in_one_place():
    assert [dtype.bytes for dtype in (INT8, INT16, integer(21), INT32, INT64)] == [1, 2, 3, 4, 8]
    assert [d for d in (INT8, INT16, INT32, INT64) if d.is_multiplied] == [INT8]
    assert [bits for bits in range(1, 65) if integer(bits).is_summed] == [*range(2, 33)]
