"""An expression as a list of its operations, each with what it takes from which others."""

from dataclasses import dataclass

from compiler.ir.body import Body, Literal, Operand, in_postorder


@dataclass(frozen=True)
class Operation:
    """One operation of an expression.

    Parameters
    ----------
    streams : tuple of int
        Input streams that it takes beats of, from left to right.
    inner : tuple of int
        Operations whose results it takes, by their places in the list.
    """

    streams: tuple[int, ...]
    inner: tuple[int, ...]


def operations_of(body: Body) -> tuple[Operation, ...]:
    """The operations of an expression, each behind those that it takes from; it is the last."""
    found: list[Operation] = []
    sides: list[Operand | Literal | int] = []
    for part in in_postorder(body):
        if isinstance(part, Operand | Literal):
            sides.append(part)
            continue
        right, left = sides.pop(), sides.pop()
        streams = tuple(side.index for side in (left, right) if isinstance(side, Operand))
        inner = tuple(side for side in (left, right) if isinstance(side, int))
        sides.append(len(found))
        found.append(Operation(streams, inner))
    return tuple(found)
