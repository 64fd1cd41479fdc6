"""Binding: from the inputs of a program to what each of its tensors holds."""

from collections.abc import Mapping, Sequence

import numpy as np

from compiler.ir.dtype import INT8, INT32, INT64, DType
from compiler.ir.graph import Graph, Value
from compiler.ir.init import Const, External, Pattern, Values, Zero
from compiler.ir.program import Program
from compiler.ir.tensor import Tensor
from sim.errors import (
    InputCountError,
    InputTwiceError,
    OperandDtypeError,
    OperandShapeError,
    OperandSourceError,
    UnknownInputError,
)
from sim.exact import exact
from sim.operands import matrix
from sim.parts import part_of

Inputs = Mapping[str, np.ndarray | None]
"""Arrays by the names of the values that they are."""


def bind(
    program: Program, *arrays: np.ndarray | None, inputs: Inputs | None = None
) -> dict[str, np.ndarray]:
    """The contents of every input tensor by its name, zeros behind the end of a value included.

    Parameters
    ----------
    *arrays : array or None
        Inputs in the order of ``program.graph.inputs``. ``None`` where the program holds the values
        itself, or ``inputs`` has them.
    inputs : mapping, optional
        Inputs by name.

    Raises
    ------
    OperandError
        If an input is unknown, missing or given twice, or does not fit the program.
    ExactError
        If the program says that an input holds more than int8, or int32 where it is not multiplied,
        and it does.
    """
    given = _by_name(program.graph, arrays, inputs or {})
    checked: dict[tuple[str, int, int], np.ndarray] = {}
    contents: dict[str, np.ndarray] = {}
    for tensor in program.canonical.tensors:
        name = tensor.value
        if name not in given:
            continue
        array = given[name]
        external = isinstance(tensor.init, External)
        if external == (array is None):
            raise OperandSourceError(operand=name, given=not external)
        if array is None:
            contents[tensor.name] = _own_values(program, tensor)
            continue
        low, high = tensor.value_range.low, tensor.value_range.high
        if (name, low, high) not in checked:
            value = program.graph.value_by_name[name]
            given_as = matrix(array, name, low, high, _held_as(program, tensor))
            checked[name, low, high] = _of_shape(given_as, value)
        contents[tensor.name] = part_of(checked[name, low, high], tensor)
    return contents


def _held_as(program: Program, tensor: Tensor) -> DType:
    """The type of numpy that holds the elements of a tensor: what is multiplied is int8."""
    is_multiplied = program.graph.redistribution is None
    return INT8 if is_multiplied or tensor.dtype.bits <= INT8.bits else INT32


def _by_name(
    graph: Graph, arrays: Sequence[np.ndarray | None], inputs: Inputs
) -> dict[str, np.ndarray | None]:
    """Every input by its name; ``None`` if it is not given."""
    if len(arrays) > len(graph.inputs):
        raise InputCountError(count=len(arrays), names=graph.inputs)
    for name in inputs:
        if name not in graph.inputs:
            raise UnknownInputError(name=name, names=graph.inputs)
    given: dict[str, np.ndarray | None] = dict.fromkeys(graph.inputs)
    given.update(inputs)
    for name, array in zip(graph.inputs, arrays, strict=False):
        if array is None:
            continue
        if given[name] is not None:
            raise InputTwiceError(name=name)
        given[name] = array
    return given


def _of_shape(array: np.ndarray, value: Value) -> np.ndarray:
    """An array that has the shape of a value."""
    if array.shape != (value.rows, value.cols):
        raise OperandShapeError(
            operand=value.name,
            shape=array.shape,
            wanted=f"{value.rows} x {value.cols}, as the program was compiled",
            way_out="compile the program for this shape",
        )
    return array


def _own_values(program: Program, tensor: Tensor) -> np.ndarray:
    """The values that a tensor states itself, with zeros behind the end of its value."""
    rows, cols = program.real_shape(tensor)
    match tensor.init:
        case Zero():
            values = np.zeros((rows, cols), dtype=np.int64)
        case Const(value):
            values = np.full((rows, cols), value, dtype=object)
        case Pattern(modulus, shift):
            within = np.arange(rows * cols) % min(modulus, max(1, rows * cols))
            values = (within.astype(object) - shift).reshape(rows, cols)
        case Values(listed):
            values = np.array(listed, dtype=object).reshape(rows, cols)
        case _:
            raise OperandDtypeError(operand=tensor.name, dtype=type(tensor.init).__name__)
    low, high = tensor.value_range.low, tensor.value_range.high
    stated = exact(values, INT64, f"tensor {tensor.name!r}")
    checked = matrix(stated, tensor.name, low, high, _held_as(program, tensor))
    return np.pad(checked, [(0, tensor.rows - rows), (0, tensor.cols - cols)])
