"""Parts of values: what one tensor holds of a whole, and the whole that tensors make up."""

from collections.abc import Mapping

import numpy as np

from compiler.ir.program import Program
from compiler.ir.tensor import Tensor
from sim.errors import ValueGapError


def part_of(array: np.ndarray, tensor: Tensor) -> np.ndarray:
    """The part of a whole value that a tensor holds, with zeros behind the end of the value."""
    row, col = tensor.part.row, tensor.part.col
    part = array[row : row + tensor.rows, col : col + tensor.cols]
    return np.pad(part, [(0, tensor.rows - part.shape[0]), (0, tensor.cols - part.shape[1])])


def assembled(program: Program, contents: Mapping[str, np.ndarray], value: str) -> np.ndarray:
    """A whole value, put together from the contents of its tensors, without padding.

    Where several tensors hold an element, the first of them has it.

    Parameters
    ----------
    contents : mapping
        What each tensor holds, by its name.

    Raises
    ------
    ValueGapError
        If no tensor holds an element of the value.
    """
    whole = program.graph.value_by_name[value]
    program = program.canonical
    tensors = program.tensors_of.get(value, ())
    array = np.zeros(
        (whole.rows, whole.cols),
        np.result_type(*(contents[tensor.name] for tensor in tensors)) if tensors else np.int32,
    )
    held = np.zeros(array.shape, dtype=bool)
    for tensor in reversed(tensors):
        place, (rows, cols) = place_of(program, tensor), program.real_shape(tensor)
        array[place] = contents[tensor.name][:rows, :cols]
        held[place] = True
    if not held.all():
        row, col = (int(index) for index in np.argwhere(~held)[0])
        raise ValueGapError(value=value, row=row, col=col)
    return array


def place_of(program: Program, tensor: Tensor) -> tuple[slice, slice]:
    """Where the elements of a tensor stand in its value."""
    rows, cols = program.real_shape(tensor)
    part = tensor.part
    return slice(part.row, part.row + rows), slice(part.col, part.col + cols)
