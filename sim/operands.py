"""Operands: from arrays and seeds to matrices of integers."""

import numpy as np

from compiler.ir.dtype import INT8, DType
from compiler.ir.tensor import ValueRange
from compiler.workload import INT8_RANGE
from sim.errors import (
    InnerDimensionError,
    OperandDtypeError,
    OperandMaskError,
    OperandRangeError,
    OperandShapeError,
)
from sim.exact import exact


def matrix(
    array: np.ndarray,
    operand: str,
    low: int = INT8.low,
    high: int = INT8.high,
    dtype: DType = INT8,
) -> np.ndarray:
    """``array`` as a contiguous matrix of ``dtype``, whatever its integer type and orders.

    Raises
    ------
    OperandDtypeError
        If it does not hold integers.
    OperandShapeError
        If it does not have two axes.
    OperandMaskError
        If elements are masked out.
    OperandRangeError
        If an element lies outside of ``low`` to ``high``.
    InexactValueError
        If that range is wider than ``dtype``, and an element lies outside of it.
    """
    if np.ma.is_masked(array):
        raise OperandMaskError(operand=operand, count=int(np.ma.count_masked(array)))
    array = np.asarray(array)
    if array.dtype.kind not in "iu":
        raise OperandDtypeError(operand=operand, dtype=str(array.dtype))
    if array.ndim != 2:
        way_out = "reshape it"
        if array.ndim == 1:
            way_out = f"reshape it to (1, {len(array)}) or ({len(array)}, 1)"
        raise OperandShapeError(
            operand=operand, shape=array.shape, wanted="a matrix with two axes", way_out=way_out
        )
    outside = (array < low) | (array > high)
    if outside.any():
        row, col = (int(index) for index in np.argwhere(outside)[0])
        raise OperandRangeError(
            operand=operand, value=int(array[row, col]), position=(row, col), low=low, high=high
        )
    return np.ascontiguousarray(exact(array, dtype, f"operand {operand}"))


def check_inner(a: np.ndarray, b: np.ndarray) -> None:
    """Check that two matrices multiply.

    Raises
    ------
    InnerDimensionError
        If they do not.
    """
    if a.shape[1] != b.shape[0]:
        raise InnerDimensionError(a=a.shape, b=b.shape)


def random_operands(
    m: int,
    n: int,
    k: int,
    seed: int,
    *,
    a_range: ValueRange = INT8_RANGE,
    b_range: ValueRange = INT8_RANGE,
) -> tuple[np.ndarray, np.ndarray]:
    """Two int8 matrices of ``m x k`` and ``k x n`` over the whole of their ranges, from a seed."""
    rng = np.random.default_rng(seed)
    return (
        rng.integers(a_range.low, a_range.high + 1, (m, k), dtype=np.int8),
        rng.integers(b_range.low, b_range.high + 1, (k, n), dtype=np.int8),
    )
