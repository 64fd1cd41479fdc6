"""Initial values of a tensor, and how each kind slices.

A slice keeps the original elements at their original positions: element 0 of a slice is the whole
tensor's element at the slice's offset. A kind that cannot promise that is refused.
"""

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
    """The values of the block ``rows`` x ``cols`` of a tensor of ``shape``.

    Positions beyond ``shape`` are padding and hold zero.

    Raises
    ------
    UnsliceableFillError
        If the kind cannot be sliced faithfully, or lists too few or too many values.
    """
    match init:
        case Zero() | External():
            return init
        case Const() | ConstFloat() if rows.stop <= shape[0] and cols.stop <= shape[1]:
            return init
        case RandomBf16():
            raise UnsliceableFillError(
                tensor=tensor,
                why="RandomBf16 is a function of the whole tensor's shape, and a slice of it is "
                "not what it would generate for the slice's shape",
            )
        case FloatValues() | ConstFloat():
            floats = [float_element(init, p, tensor, shape) for p in _positions(shape, rows, cols)]
            return FloatValues(tuple(floats))
        case Const() | Pattern() | Values():
            return Values(
                tuple(element(init, p, tensor, shape) for p in _positions(shape, rows, cols))
            )


def element(
    init: Const | Pattern | Values, position: int | None, tensor: str, shape: tuple[int, int]
) -> int:
    """Element at row-major ``position`` of an integer fill; ``None`` is padding, which is zero."""
    if position is None:
        return 0
    match init:
        case Const(value):
            return value
        case Pattern(modulus, shift):
            return position % modulus - shift
        case Values(values):
            _check_length(len(values), tensor, shape)
            return values[position]


def float_element(
    init: ConstFloat | FloatValues, position: int | None, tensor: str, shape: tuple[int, int]
) -> float:
    """Element at row-major ``position`` of a float fill; ``None`` is padding, which is zero."""
    if position is None:
        return 0.0
    match init:
        case ConstFloat(value):
            return value
        case FloatValues(values):
            _check_length(len(values), tensor, shape)
            return values[position]


def _positions(shape: tuple[int, int], rows: range, cols: range) -> list[int | None]:
    return [
        row * shape[1] + col if row < shape[0] and col < shape[1] else None
        for row in rows
        for col in cols
    ]


def _check_length(length: int, tensor: str, shape: tuple[int, int]) -> None:
    if length != shape[0] * shape[1]:
        raise UnsliceableFillError(
            tensor=tensor,
            why=f"it lists {length} values for {shape[0]} x {shape[1]} elements",
        )
