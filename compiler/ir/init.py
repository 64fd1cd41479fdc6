"""Initial values of a tensor, and how each kind slices.

A slice keeps the original elements at their original positions: element 0 of a slice is the whole
tensor's element at the slice's offset. A kind that cannot promise that is refused.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from compiler.errors import UnsliceableFillError


@dataclass(frozen=True)
class Zero:
    """Every element is zero."""


@dataclass(frozen=True)
class Const:
    """Every element is ``value``."""

    value: int


@dataclass(frozen=True)
class Pattern:
    """Element ``p`` (row-major) is ``(p % modulus) - shift``."""

    modulus: int
    shift: int


@dataclass(frozen=True)
class Values:
    """The elements themselves, row-major."""

    values: tuple[int, ...] = field(repr=False)


@dataclass(frozen=True)
class ConstFloat:
    """Every element is the float ``value``."""

    value: float


@dataclass(frozen=True)
class FloatValues:
    """The float elements themselves, row-major."""

    values: tuple[float, ...] = field(repr=False)


@dataclass(frozen=True)
class RandomBf16:
    """Random bfloat16 values that a generator makes from ``seed`` and the whole shape."""

    seed: int


@dataclass(frozen=True)
class External:
    """The host supplies the values at run time."""


Init = Zero | Const | Pattern | Values | ConstFloat | FloatValues | RandomBf16 | External


def slice_init(
    init: Init,
    *,
    tensor: str,
    shape: tuple[int, int],
    rows: range,
    cols: range,
) -> Init:
    """The values of the block ``rows`` x ``cols`` of a tensor of ``shape``, which it lies in.

    Raises
    ------
    UnsliceableFillError
        If the kind cannot be sliced faithfully, or lists too few or too many values.
    """
    if (len(rows), len(cols)) == shape:
        return init
    match init:
        case Zero() | External() | Const() | ConstFloat():
            return init
        case RandomBf16():
            raise UnsliceableFillError(
                tensor=tensor,
                why="RandomBf16 is a function of the whole tensor's shape, and a slice of it is "
                "not what it would generate for the slice's shape",
            )
        case Pattern(modulus, shift):
            return Values(tuple(p % modulus - shift for p in _positions(shape, rows, cols)))
        case Values(values):
            _check_length(len(values), tensor, shape)
            return Values(tuple(values[p] for p in _positions(shape, rows, cols)))
        case FloatValues(floats):
            _check_length(len(floats), tensor, shape)
            return FloatValues(tuple(floats[p] for p in _positions(shape, rows, cols)))


def _positions(shape: tuple[int, int], rows: range, cols: range) -> Iterator[int]:
    """Row-major positions of a block in its tensor."""
    return (row * shape[1] + col for row in rows for col in cols)


def _check_length(length: int, tensor: str, shape: tuple[int, int]) -> None:
    if length != shape[0] * shape[1]:
        raise UnsliceableFillError(
            tensor=tensor,
            why=f"it lists {length} values for {shape[0]} x {shape[1]} elements",
        )
