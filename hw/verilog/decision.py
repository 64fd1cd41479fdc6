"""What the statements of a process decide: conditions, and the values of what they drive."""

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from hw.verilog.expression import (
    ONE,
    ZERO,
    Expression,
    Number,
    both,
    choice,
    either,
    inverse,
    operation,
)
from hw.verilog.rtlil import Assign, Case, Statement
from hw.verilog.signals import Signal, part

Reader = Callable[[Signal], Expression]
"""Gives the expression of a signal."""


def tests(subject: Signal, pattern: str) -> Iterator[tuple[Signal, int]]:
    """What a pattern compares: pieces of its subject, and the number that each must be."""
    bits = pattern[::-1]
    for piece in subject:
        wanted, bits = bits[: piece.width], bits[piece.width :]
        start = 0
        while start < piece.width:
            end = start
            while end < piece.width and (wanted[end] == "-") == (wanted[start] == "-"):
                end += 1
            if wanted[start] != "-":
                yield part((piece,), start, end - start), int(wanted[start:end][::-1], 2)
            start = end


def condition(subject: Signal, case: Case, read: Reader) -> Expression:
    """Whether a subject matches a pattern of a case; one without patterns always does."""
    if not case.patterns:
        return ONE
    result: Expression = ZERO
    for pattern in case.patterns:
        match: Expression = ONE
        for signal, number in tests(subject, pattern):
            match = both(match, _equal(read(signal), number))
        result = either(result, match)
    return result


def _equal(value: Expression, number: int) -> Expression:
    if value.width == 1:
        return value if number else inverse(value)
    return operation("==", value, Number(number, value.width))


def are_exclusive(cases: Iterable[Case]) -> bool:
    """Whether no value of a subject matches two cases, so that those that do nothing may go."""
    patterns = [pattern for case in cases for pattern in case.patterns or ("-",)]
    return len(set(patterns)) == len(patterns) and not any("-" in p for p in patterns)


def segments(body: Iterable[Statement], width: int) -> list[tuple[int, int]]:
    """Start and width of the runs of bits that statements treat as one, lowest first."""
    edges = sorted({0, width, *_edges(body)})
    return [(low, high - low) for low, high in pairwise(edges)]


def _edges(body: Iterable[Statement]) -> Iterator[int]:
    for statement in body:
        if isinstance(statement, Assign):
            yield statement.target.start
            yield statement.target.start + statement.target.width
        else:
            for case in statement.cases:
                yield from _edges(case.body)


def decided(
    body: Iterable[Statement], start: int, width: int, read: Reader, before: Expression
) -> Expression:
    """The value that statements give to a run of bits, which is ``before`` ahead of them."""
    for statement in body:
        if isinstance(statement, Assign):
            offset = start - statement.target.start
            if 0 <= offset < statement.target.width:
                before = read(part(statement.value, offset, width))
            continue
        after = before
        values = [decided(case.body, start, width, read, before) for case in statement.cases]
        exclusive = are_exclusive(statement.cases)
        for case, value in zip(reversed(statement.cases), reversed(values), strict=True):
            if not (exclusive and value == before):
                after = choice(condition(statement.subject, case, read), value, after)
        before = after
    return before
