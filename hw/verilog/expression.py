"""Verilog expressions whose parts all have the width that they say.

Operands of an operator are as wide as its result, so no context widens or cuts anything. The one
exception is a signed product, which takes its width from what it is assigned to.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

LINE_WIDTH = 100
INVERSE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
DECIMAL_BELOW = 1 << 12


@dataclass(frozen=True)
class Number:
    """A constant."""

    value: int
    width: int


@dataclass(frozen=True)
class Name:
    """A wire or register, or a selection of its bits."""

    text: str
    width: int


@dataclass(frozen=True)
class Joined:
    """Expressions side by side, the highest bits first."""

    parts: tuple["Expression", ...]

    @property
    def width(self) -> int:
        """Bits of all parts."""
        return sum(part.width for part in self.parts)


@dataclass(frozen=True)
class Operation:
    """An operator before its operand, or between its operands."""

    operator: str
    operands: tuple["Expression", ...]
    width: int


@dataclass(frozen=True)
class Choice:
    """One expression or another."""

    condition: "Expression"
    then: "Expression"
    other: "Expression"

    @property
    def width(self) -> int:
        """Bits of either."""
        return self.then.width


Expression = Number | Name | Joined | Operation | Choice
ONE, ZERO = Number(1, 1), Number(0, 1)


def both(left: Expression, right: Expression) -> Expression:
    """Whether two conditions hold."""
    if ZERO in (left, right):
        return ZERO
    if ONE in (left, right):
        return right if left == ONE else left
    match right:
        case Operation("&", (first, second), _):
            return both(both(left, first), second)
    return Operation("&", (left, right), 1)


def either(left: Expression, right: Expression) -> Expression:
    """Whether one of two conditions holds."""
    if ONE in (left, right):
        return ONE
    if ZERO in (left, right):
        return right if left == ZERO else left
    match right:
        case Operation("|", (first, second), _):
            return either(either(left, first), second)
    return Operation("|", (left, right), 1)


def inverse(condition: Expression) -> Expression:
    """Whether a condition does not hold."""
    match condition:
        case Number(value, _):
            return Number(1 - value, 1)
        case Operation("!", (inner,), _):
            return inner
        case Operation(operator, operands, _) if operator in INVERSE:
            return Operation(INVERSE[operator], operands, 1)
        case _:
            return Operation("!", (condition,), 1)


def choice(condition: Expression, then: Expression, other: Expression) -> Expression:
    """``then`` where a condition holds, and ``other`` where it does not."""
    if then == other or condition == ONE:
        return then
    if condition == ZERO:
        return other
    if then.width == 1:
        if other == ZERO:
            return both(condition, then)
        if then == ONE:
            return either(condition, other)
        if then == ZERO:
            return both(inverse(condition), other)
        if other == ONE:
            return either(inverse(condition), then)
    match then:
        case Choice(narrower, inner, same) if same == other:
            return choice(both(condition, narrower), inner, other)
    return Choice(condition, then, other)


def operation(operator: str, *operands: Expression) -> Expression:
    """An operator between operands of one width, and of its result's where it does not compare."""
    width = 1 if operator in INVERSE else operands[0].width
    match operator, operands:
        case "&", (left, right) if width == 1:
            return both(left, right)
        case "|", (left, right) if width == 1:
            return either(left, right)
        case "~", (operand,) if width == 1:
            return inverse(operand)
    return Operation(operator, operands, width)


def flat(expression: Expression) -> str:
    """The text of an expression on one line."""
    match expression:
        case Number(value, width):
            digits = f"d{value}" if value < DECIMAL_BELOW else f"h{value:x}"
            return f"{width}'b{value}" if width == 1 else f"{width}'{digits}"
        case Name(text, _):
            return text
        case Joined(parts):
            return f"{{{', '.join(_repeated(parts))}}}"
        case Choice(condition, then, other):
            return f"{_inner(condition)} ? {_inner(then)} : {_last(other)}"
        case Operation(operator, (Number() | Name() | Joined() as operand,), _):
            return operator + flat(operand)
        case Operation(operator, (operand,), _):
            return f"{operator}({flat(operand)})"
        case Operation(operator, (left, right), _):
            return f"{_leading(left, operator)} {operator} {_inner(right)}"
        case _:
            raise TypeError(f"Expression must be known, not {expression!r}")


def broken(expression: Expression, indent: str, used: int = 0) -> str:
    """The text of an expression, on several lines where one is too long.

    Parameters
    ----------
    indent : :class:`str`
        What stands before the line that the expression begins in.
    used : :class:`int`
        Characters that stand before it in its line.
    """
    text = flat(expression)
    if used + len(text) < LINE_WIDTH:
        return text
    deeper = f"{indent}  "
    match expression:
        case Joined(parts):
            lines = f",\n{deeper}".join(_repeated(parts))
            return f"{{\n{deeper}{lines}\n{indent}}}"
        case Choice():
            return f"\n{deeper}".join(_alternatives(expression))
        case Operation(operator, (_, _), _) if operator in "&|+":
            return f"\n{deeper}{operator} ".join(map(_inner, _terms(expression, operator)))
        case _:
            return text


def _alternatives(expression: Expression) -> Iterator[str]:
    """The lines of a choice of several."""
    while isinstance(expression, Choice):
        yield f"{_inner(expression.condition)} ? {_inner(expression.then)} :"
        expression = expression.other
    yield _inner(expression)


def _terms(expression: Expression, operator: str) -> Iterator[Expression]:
    """The operands of an operator that repeats from the left."""
    if isinstance(expression, Operation) and (expression.operator, len(expression.operands)) == (
        operator,
        2,
    ):
        yield from _terms(expression.operands[0], operator)
        yield expression.operands[1]
    else:
        yield expression


def _repeated(parts: Iterable[Expression]) -> Iterator[str]:
    """The texts of parts, those that repeat as one."""
    texts = list(map(flat, parts))
    while texts:
        text = texts[0]
        count = next((i for i, other in enumerate(texts) if other != text), len(texts))
        yield text if count == 1 else f"{{{count}{{{text}}}}}"
        del texts[:count]


def _inner(expression: Expression) -> str:
    """The text of an operand: what has an operator of its own stands in parentheses."""
    single = isinstance(expression, Operation) and len(expression.operands) == 1
    if isinstance(expression, Number | Name | Joined) or single:
        return flat(expression)
    return f"({flat(expression)})"


def _leading(expression: Expression, operator: str) -> str:
    """The text of a first operand, which needs no parentheses where the operator repeats."""
    if (
        isinstance(expression, Operation)
        and len(expression.operands) == 2
        and expression.operator == operator
        and operator in "&|+"
    ):
        return flat(expression)
    return _inner(expression)


def _last(expression: Expression) -> str:
    return flat(expression) if isinstance(expression, Choice) else _inner(expression)
