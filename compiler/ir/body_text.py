"""Expressions as text, and text as expressions: what ``str`` writes of a body, this reads."""

import re

from compiler.ir.body import Add, Body, Literal, Max, Operand

PIECE = re.compile(r"\s*(op[0-9]+|-?[0-9]+|max\(|[(),+])")
LONGEST_NUMBER = 24
"""Characters of an index or a literal: those of any number of 64 bits."""


def parse_body(text: str) -> Body:
    """The expression that a text says: ``((op0 + op1) + max(op2, -3))``.

    Raises
    ------
    ValueError
        If it says none; the message names the place.
    """
    done: list[Body | str] = []
    place, end = 0, len(text.rstrip())
    while place < end:
        found = PIECE.match(text, place)
        if found is None:
            raise ValueError(f"an expression cannot go on with {text[place : place + 16]!r}")
        piece, place = found[1], found.end()
        if piece in ("(", "max(", "+", ","):
            done.append(piece)
        elif piece == ")":
            done[-4:] = [_operation(done[-4:], place)]
        elif len(piece) > LONGEST_NUMBER:
            raise ValueError(f"an expression has no number of {len(piece)} characters")
        else:
            done.append(Operand(int(piece[2:])) if piece[0] == "o" else Literal(int(piece)))
    match done:
        case [Operand() | Literal() | Add() | Max() as body]:
            return body
        case _:
            raise ValueError("an expression is an operand, a literal, (x + y) or max(x, y)")


def _operation(parts: list[Body | str], place: int) -> Body:
    match parts:
        case ["(", left, "+", right] if not isinstance(left, str) and not isinstance(right, str):
            return Add(left, right)
        case ["max(", left, ",", right] if not (isinstance(left, str) or isinstance(right, str)):
            return Max(left, right)
        case _:
            raise ValueError(f"what ends at character {place} is neither (x + y) nor max(x, y)")
