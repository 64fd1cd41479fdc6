"""Operands: from arrays and seeds to int8 matrices, and to what a program's tensors hold."""

import numpy as np

from compiler.ir.dtype import INT8, INT64
from compiler.ir.init import Const, External, Pattern, Values, Zero
from compiler.ir.program import Program
from compiler.ir.tensor import Tensor, ValueRange
from compiler.workload import INT8_RANGE
from sim.errors import (
    InnerDimensionError,
    OperandDtypeError,
    OperandMaskError,
    OperandRangeError,
    OperandShapeError,
    OperandSourceError,
)
from sim.exact import exact


def matrix(
    array: np.ndarray, operand: str, low: int = INT8.low, high: int = INT8.high
) -> np.ndarray:
    """``array`` as a contiguous int8 matrix, whatever its integer type, order and byte order.

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
        If that range is wider than int8, and an element lies outside of int8.
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
    return np.ascontiguousarray(exact(array, INT8, f"operand {operand}"))


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


def bind(program: Program, a: np.ndarray | None, b: np.ndarray | None) -> dict[str, np.ndarray]:
    """The contents of every input tensor by its name, padding of the contraction included.

    Parameters
    ----------
    a, b : array or None
        The operands of the claim, ``m x k`` and ``k x n``. ``None`` where the program holds the
        values itself.

    Raises
    ------
    OperandError
        If an operand is missing, is given twice, or does not fit the program.
    ExactError
        If the program says that an operand holds more than int8, and it does.
    """
    claim = program.claim
    given = {claim.left: ("A", a, (claim.m, claim.k)), claim.right: ("B", b, (claim.k, claim.n))}
    contents = {}
    for tensor in program.canonical.tensors:
        whole = tensor.slice_of.whole if tensor.slice_of else tensor.name
        if whole not in given:
            continue
        operand, array, shape = given[whole]
        external = isinstance(tensor.init, External)
        if external == (array is None):
            raise OperandSourceError(operand=operand, given=not external)
        if array is None:
            contents[tensor.name] = _own_values(tensor)
            continue
        checked = matrix(array, operand, tensor.value_range.low, tensor.value_range.high)
        if checked.shape != shape:
            raise OperandShapeError(
                operand=operand,
                shape=checked.shape,
                wanted=f"{shape[0]} x {shape[1]}, as the program was compiled",
                way_out="compile the program for this shape",
            )
        contents[tensor.name] = _slice(checked, tensor)
    return contents


def assembled(program: Program, contents: dict[str, np.ndarray], whole: str) -> np.ndarray:
    """A whole operand, put together from the contents of its slices."""
    pieces = [
        tensor
        for tensor in program.tensors
        if tensor.name == whole or (tensor.slice_of and tensor.slice_of.whole == whole)
    ]
    pieces.sort(key=lambda tensor: tensor.slice_of.index if tensor.slice_of else 0)
    axis = 0 if pieces[0].slice_of and pieces[0].slice_of.axis == "rows" else 1
    return np.concatenate([contents[tensor.name] for tensor in pieces], axis=axis)


def _slice(array: np.ndarray, tensor: Tensor) -> np.ndarray:
    """The part of a whole that a tensor holds, with zeros where the whole ends."""
    row = col = 0
    if tensor.slice_of:
        row = tensor.slice_of.index * tensor.rows if tensor.slice_of.axis == "rows" else 0
        col = tensor.slice_of.index * tensor.cols if tensor.slice_of.axis == "cols" else 0
    part = array[row : row + tensor.rows, col : col + tensor.cols]
    return np.pad(part, [(0, tensor.rows - part.shape[0]), (0, tensor.cols - part.shape[1])])


def _own_values(tensor: Tensor) -> np.ndarray:
    """The values that a tensor states itself."""
    rows, cols = tensor.value_shape
    match tensor.init:
        case Zero():
            values = np.zeros((rows, cols), dtype=np.int64)
        case Const(value):
            values = np.full((rows, cols), value, dtype=object)
        case Pattern(modulus, shift):
            within = np.arange(rows * cols) % min(modulus, rows * cols)
            values = (within.astype(object) - shift).reshape(rows, cols)
        case Values(listed):
            values = np.array(listed, dtype=object).reshape(rows, cols)
        case _:
            raise OperandDtypeError(operand=tensor.name, dtype=type(tensor.init).__name__)
    low, high = tensor.value_range.low, tensor.value_range.high
    if tensor.slice_of:  # it lists the zeros that pad the contraction too
        low, high = min(low, 0), max(high, 0)
    checked = matrix(exact(values, INT64, f"tensor {tensor.name!r}"), tensor.name, low, high)
    return np.pad(checked, [(0, tensor.pad[0]), (0, tensor.pad[1])])
