import numpy as np
import pytest

from sim.errors import (
    InexactValueError,
    InnerDimensionError,
    OperandDtypeError,
    OperandMaskError,
    OperandRangeError,
    OperandShapeError,
)
from sim.operands import check_inner, matrix, random_operands

RNG = np.random.default_rng(7)
SMALL = RNG.integers(-128, 128, (5, 6))


@pytest.mark.parametrize(
    "array",
    [
        SMALL,
        SMALL.astype(np.int8),
        SMALL.astype(">i2"),
        SMALL.astype(">i8"),
        (SMALL % 128).astype(np.uint8),
        (SMALL % 128).astype(np.uint64),
        np.asfortranarray(SMALL),
        SMALL.T,
        np.repeat(np.repeat(SMALL, 2, axis=0), 3, axis=1)[::2, ::3],
        SMALL[::-1, ::-1],
        np.broadcast_to(SMALL[0], (4, 6)),
        SMALL[:0],
        SMALL.tolist(),
    ],
    ids=[
        "int64",
        "int8",
        "big-endian int16",
        "big-endian int64",
        "uint8",
        "uint64",
        "Fortran",
        "transposed",
        "strided",
        "reversed",
        "broadcast",
        "empty",
        "lists",
    ],
)
def test_any_integers_that_fit_become_a_contiguous_int8_matrix(array):
    result = matrix(array, "A")
    assert result.dtype == np.int8
    assert result.flags.c_contiguous
    assert result.tolist() == np.asarray(array).tolist()


@pytest.mark.parametrize("dtype", [bool, float, np.float16, complex, object, str, "M8[s]", "V4"])
def test_refuses_values_that_are_not_integers(dtype):
    array = np.zeros((2, 2), dtype)
    with pytest.raises(OperandDtypeError) as error:
        matrix(array, "B")
    assert str(error.value) == (
        f"operand B must hold integers, not {array.dtype}; quantise it to int8 first "
        "(for instance numpy.rint(x / scale).astype(numpy.int8))"
    )


def test_refuses_elements_under_a_mask():
    array = np.ma.masked_array(SMALL, mask=SMALL > 0)
    with pytest.raises(OperandMaskError) as error:
        matrix(array, "A")
    assert str(error.value) == (
        f"operand A has {(SMALL > 0).sum()} masked elements, and the machine has no mask; say what "
        f"stands there (numpy.ma.filled)"
    )
    assert matrix(np.ma.masked_array(SMALL), "A").tolist() == SMALL.tolist()
    assert matrix(array.filled(1), "A").max() <= 1


@pytest.mark.parametrize("span", [(-(2**15), 2**15 - 1), (-(10**30), 10**30)])
@pytest.mark.parametrize("value", [128, -129, 2**63])
def test_no_range_lets_in_what_int8_does_not_hold(span, value):
    array = np.zeros((2, 2), np.uint64 if value > 2**15 else np.int16)
    array[1, 0] = value
    with pytest.raises((InexactValueError, OperandRangeError), match=f"operand A holds {value} at"):
        matrix(array, "A", *span)
    assert matrix(np.full((1, 1), 127), "A", *span).tolist() == [[127]]


@pytest.mark.parametrize(
    ("shape", "way_out"),
    [((), "reshape it"), ((7,), "reshape it to (1, 7) or (7, 1)"), ((2, 3, 4), "reshape it")],
)
def test_refuses_other_than_two_axes(shape, way_out):
    with pytest.raises(OperandShapeError) as error:
        matrix(np.zeros(shape, np.int8), "A")
    assert str(error.value) == (
        f"operand A must be a matrix with two axes, not of shape {shape}; {way_out}"
    )


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(128, np.int16), (-129, np.int16), (2**63 - 1, np.int64), (2**64 - 1, np.uint64)],
)
def test_refuses_the_first_value_out_of_range_by_its_place(value, dtype):
    array = np.zeros((4, 3), dtype)
    array[2, 1] = array[3, 0] = value
    with pytest.raises(OperandRangeError) as error:
        matrix(array, "A")
    assert str(error.value) == (
        f"operand A holds {value} at row 2, column 1, which is outside of [-128, 127]; "
        "scale or clip it first"
    )


def test_refuses_operands_that_do_not_multiply():
    check_inner(np.zeros((2, 3)), np.zeros((3, 4)))
    with pytest.raises(InnerDimensionError) as error:
        check_inner(np.zeros((2, 3)), np.zeros((4, 5)))
    assert str(error.value) == (
        "A of shape (2, 3) and B of shape (4, 5) do not multiply: A has 3 columns and B has "
        "4 rows; they must be equal"
    )


def test_random_operands_are_the_seeds_and_cover_int8():
    a, b = random_operands(60, 70, 80, seed=1)
    assert (a.shape, b.shape) == ((60, 80), (80, 70))
    assert all(set(operand.ravel().tolist()) == set(range(-128, 128)) for operand in (a, b))
    again, other = random_operands(60, 70, 80, seed=1), random_operands(60, 70, 80, seed=2)
    assert np.array_equal(a, again[0])
    assert np.array_equal(b, again[1])
    assert not np.array_equal(a, other[0])
