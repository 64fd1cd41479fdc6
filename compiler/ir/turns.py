"""Turns: what passes a merge and a split, page by page, in an order that repeats.

A stream is given by one period: page p is ``items[p % len(items)]``.
"""

from collections import Counter
from collections.abc import Sequence
from math import gcd, lcm
from typing import TypeVar

from compiler.ir.limits import TURNS

Item = TypeVar("Item")


class LongTurnsError(Exception):
    """What is put together repeats only after more pages than are followed."""


def merged(turns: tuple[int, ...], inputs: Sequence[tuple[Item, ...]]) -> tuple[Item, ...]:
    """The stream of a merge that takes page p from ``inputs[turns[p % len(turns)]]``.

    Raises
    ------
    LongTurnsError
        If it does not repeat within :data:`~compiler.ir.limits.TURNS` pages.
    """
    each = Counter(turns)
    rounds = lcm(*(len(items) // gcd(len(items), each[i]) for i, items in enumerate(inputs)))
    if rounds * len(turns) > TURNS:
        raise LongTurnsError
    taken = [0] * len(inputs)
    stream: list[Item] = []
    for turn in turns * rounds:
        items = inputs[turn]
        stream.append(items[taken[turn] % len(items)])
        taken[turn] += 1
    return shortest(tuple(stream))


def split(turns: tuple[int, ...], items: tuple[Item, ...], outputs: int) -> list[tuple[Item, ...]]:
    """The streams of a split that puts page p into output ``turns[p % len(turns)]``.

    Raises
    ------
    LongTurnsError
        If they do not repeat within :data:`~compiler.ir.limits.TURNS` pages.
    """
    pages = lcm(len(turns), len(items))
    if pages > TURNS:
        raise LongTurnsError
    streams: list[list[Item]] = [[] for _ in range(outputs)]
    for page in range(pages):
        streams[turns[page % len(turns)]].append(items[page % len(items)])
    return [shortest(tuple(stream)) for stream in streams]


def shortest(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """The shortest period of a stream."""
    length = len(items)
    for period in range(1, length // 2 + 1):
        if length % period == 0 and items[:-period] == items[period:]:
            return items[:period]
    return items
