"""The expression that a fold computes: a closed algebra over its operands.

The interpreter, the hardware and the validator all read the same expression, so the order of a
reduction is defined and not accidental.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce


@dataclass(frozen=True)
class Operand:
    """The beat of input stream ``index``."""

    index: int

    def __str__(self) -> str:
        return f"op{self.index}"


@dataclass(frozen=True)
class Literal:
    """The same value in every lane."""

    value: int

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True)
class Add:
    """Lane by lane sum."""

    left: "Body"
    right: "Body"

    def __str__(self) -> str:
        return f"({self.left} + {self.right})"


@dataclass(frozen=True)
class Max:
    """Lane by lane maximum."""

    left: "Body"
    right: "Body"

    def __str__(self) -> str:
        return f"max({self.left}, {self.right})"


Body = Operand | Literal | Add | Max


def left_fold(count: int) -> Body:
    """``((op0 + op1) + op2) + ...`` over ``count`` operands."""
    operands: list[Body] = [Operand(index) for index in range(count)]
    return reduce(Add, operands)


def is_operation(body: Body) -> bool:
    """Whether an expression is an operation, and no operation in it is of literals alone."""
    if isinstance(body, Operand | Literal):
        return False
    sides = (body.left, body.right)
    return any(not isinstance(side, Literal) for side in sides) and all(
        isinstance(side, Operand | Literal) or is_operation(side) for side in sides
    )


def image(body: Body, low: int, high: int) -> tuple[int, int]:
    """The least and the greatest value of an expression over operands in ``low`` to ``high``."""
    match body:
        case Operand():
            return low, high
        case Literal(value):
            return value, value
        case Add(left, right):
            (a, b), (c, d) = image(left, low, high), image(right, low, high)
            return a + c, b + d
        case Max(left, right):
            (a, b), (c, d) = image(left, low, high), image(right, low, high)
            return max(a, c), max(b, d)


def widest_image(body: Body, low: int, high: int) -> tuple[int, int]:
    """The least and the greatest value of an expression and of all expressions within it."""
    images = [image(body, low, high)]
    if isinstance(body, Add | Max):
        images += [widest_image(side, low, high) for side in (body.left, body.right)]
    return min(least for least, _ in images), max(most for _, most in images)


def literals_of(body: Body) -> Iterator[int]:
    """Values of literals from left to right."""
    match body:
        case Operand():
            return
        case Literal(value):
            yield value
        case Add(left, right) | Max(left, right):
            yield from literals_of(left)
            yield from literals_of(right)


def operands_of(body: Body) -> Iterator[int]:
    """Operand indices from left to right, with repetitions."""
    match body:
        case Operand(index):
            yield index
        case Literal():
            return
        case Add(left, right) | Max(left, right):
            yield from operands_of(left)
            yield from operands_of(right)
