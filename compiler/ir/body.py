"""The expression that a fold computes: a closed algebra over its operands.

The interpreter, the hardware and the validator all read the same expression, so the order of a
reduction is defined and not accidental. A fold of many operands is as deep as they are many, so
whoever goes through an expression does it by :func:`fold_up`, which calls nothing within itself.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import TypeVar, cast

Result = TypeVar("Result")


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


class _Operation:
    """An expression with others within it; equal to what has the same parts in the same order."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Operation):
            return NotImplemented
        return self is other or _parts(cast("Body", self)) == _parts(cast("Body", other))

    def __hash__(self) -> int:
        return hash(_parts(cast("Body", self)))

    def __str__(self) -> str:
        return _joined(cast("Body", self), str, "({} + {})", "max({}, {})")

    def __repr__(self) -> str:
        return _joined(cast("Body", self), repr, "Add({}, {})", "Max({}, {})")


@dataclass(frozen=True, eq=False, repr=False)
class Add(_Operation):
    """Lane by lane sum."""

    left: "Body"
    right: "Body"


@dataclass(frozen=True, eq=False, repr=False)
class Max(_Operation):
    """Lane by lane maximum."""

    left: "Body"
    right: "Body"


Body = Operand | Literal | Add | Max


def in_postorder(body: Body) -> Iterator[Body]:
    """Every expression within an expression, from left to right, each behind its two sides."""
    waiting: list[tuple[Body, bool]] = [(body, False)]
    while waiting:
        part, sides_done = waiting.pop()
        if sides_done or isinstance(part, Operand | Literal):
            yield part
        else:
            waiting += [(part, True), (part.right, False), (part.left, False)]


def fold_up(
    body: Body,
    *,
    operand: Callable[[int], Result],
    literal: Callable[[int], Result],
    add: Callable[[Result, Result], Result],
    maximum: Callable[[Result, Result], Result],
) -> Result:
    """What an expression comes to, if its operands and literals, sums and maxima come to these.

    ``operand`` takes an index and ``literal`` a value; ``add`` and ``maximum`` take what the left
    and what the right side came to.
    """
    done: list[Result] = []
    for part in in_postorder(body):
        match part:
            case Operand(index):
                done.append(operand(index))
            case Literal(value):
                done.append(literal(value))
            case Add() | Max():
                right = done.pop()
                combine = add if isinstance(part, Add) else maximum
                done.append(combine(done.pop(), right))
    (result,) = done
    return result


def left_fold(count: int) -> Body:
    """``((op0 + op1) + op2) + ...`` over ``count`` operands."""
    operands: list[Body] = [Operand(index) for index in range(count)]
    return reduce(Add, operands)


def is_operation(body: Body) -> bool:
    """Whether an expression is an operation, and no operation in it is of literals alone."""
    return isinstance(body, Add | Max) and not any(
        isinstance(part.left, Literal) and isinstance(part.right, Literal)
        for part in in_postorder(body)
        if isinstance(part, Add | Max)
    )


Span = tuple[int, int]


def image(body: Body, low: int, high: int) -> Span:
    """The least and the greatest value of an expression over operands in ``low`` to ``high``."""
    return list(_images(body, low, high))[-1]


def widest_image(body: Body, low: int, high: int) -> Span:
    """The least and the greatest value of an expression and of all expressions within it."""
    images = list(_images(body, low, high))
    return min(least for least, _ in images), max(most for _, most in images)


def literals_of(body: Body) -> Iterator[int]:
    """Values of literals from left to right."""
    return (part.value for part in in_postorder(body) if isinstance(part, Literal))


def operands_of(body: Body) -> Iterator[int]:
    """Operand indices from left to right, with repetitions."""
    return (part.index for part in in_postorder(body) if isinstance(part, Operand))


def _images(body: Body, low: int, high: int) -> list[Span]:
    """The images of all expressions within one, that of the whole last."""
    images: list[Span] = []

    def noted(least: int, most: int) -> Span:
        images.append((least, most))
        return least, most

    fold_up(
        body,
        operand=lambda _: noted(low, high),
        literal=lambda value: noted(value, value),
        add=lambda left, right: noted(left[0] + right[0], left[1] + right[1]),
        maximum=lambda left, right: noted(max(left[0], right[0]), max(left[1], right[1])),
    )
    return images


def _parts(body: Body) -> tuple[Operand | Literal | type[Add] | type[Max], ...]:
    """An expression as its parts in postorder, which no other expression has."""
    return tuple(
        part if isinstance(part, Operand | Literal) else type(part) for part in in_postorder(body)
    )


def _joined(body: Body, leaf: Callable[[Body], str], added: str, greater: str) -> str:
    """An expression as text, put together from pieces: a long one is not copied at every level."""
    pieces: list[str] = []
    waiting: list[Body | str] = [body]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            pieces.append(part)
        elif isinstance(part, Operand | Literal):
            pieces.append(leaf(part))
        else:
            before, between, after = (added if isinstance(part, Add) else greater).split("{}")
            waiting += [after, part.right, between, part.left, before]
    return "".join(pieces)
