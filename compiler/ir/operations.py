"""An expression as a list of its operations, so that whoever goes through one need not recurse."""

from dataclasses import dataclass

from compiler.ir.body import Add, Body, Literal, Max, Operand


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
    places: list[int] = []
    todo: list[tuple[Body, bool]] = [(body, False)]
    while todo:
        at, sides_done = todo.pop()
        if not isinstance(at, Add | Max):
            continue
        sides = (at.left, at.right)
        if not sides_done:
            todo += [(at, True), *((side, False) for side in reversed(sides))]
            continue
        count = sum(not isinstance(side, Operand | Literal) for side in sides)
        inner = tuple(places[len(places) - count :])
        del places[len(places) - count :]
        streams = tuple(side.index for side in sides if isinstance(side, Operand))
        places.append(len(found))
        found.append(Operation(streams, inner))
    return tuple(found)
