"""Statements of a process as those of a clocked block."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from textwrap import wrap

from hw.verilog.decision import Reader, are_exclusive, condition
from hw.verilog.expression import (
    LINE_WIDTH,
    ONE,
    ZERO,
    Expression,
    Number,
    both,
    broken,
    flat,
    inverse,
)
from hw.verilog.rtlil import Assign, Case, Statement, Switch
from hw.verilog.signals import Slice, width_of

Writer = Callable[[Slice], str]
"""Gives the text of what is assigned to."""


@dataclass(frozen=True)
class Set:
    """Gives a value to a register, or to a word of a memory."""

    target: str
    value: Expression


@dataclass(frozen=True)
class If:
    """Does what the first condition that holds asks for; each stands with what it asks for."""

    branches: tuple[tuple[Expression, tuple["Step", ...]], ...]


@dataclass(frozen=True)
class Select:
    """Does what stands with the number that a subject is, and else nothing."""

    subject: Expression
    branches: tuple[tuple[tuple[Number, ...], tuple["Step", ...]], ...]


Step = Set | If | Select


def register_steps(body: tuple[Statement, ...], read: Reader, written: Writer) -> tuple[Step, ...]:
    """What a process that sets a whole register does to it; the register keeps its value otherwise.

    A last statement that sets it under one condition, as a reset does, goes first, and the others
    happen without it.
    """
    if _keeps(body[0], read, written):
        body = body[1:]
    if not body:
        return ()
    *others, last = body
    match last:
        case Switch(subject, (Case(_, (Assign(),)) as case,)) if others:
            reset = (condition(subject, case, read), _steps(case.body, read, written))
            rest = _steps(others, read, written)
            return _chain([reset, (ONE, rest)] if rest else [reset])
    return _steps(body, read, written)


def _keeps(first: Statement, read: Reader, written: Writer) -> bool:
    """Whether the statement that all others override gives a register the value that it has."""
    return isinstance(first, Assign) and flat(read(first.value)) == written(first.target)


def _steps(body: Iterable[Statement], read: Reader, written: Writer) -> tuple[Step, ...]:
    """What statements do that each set the whole register: the last one overrides all before it."""
    steps: list[Step] = []
    for statement in body:
        if isinstance(statement, Assign):
            done = [Set(written(statement.target), read(statement.value))]
        else:
            done = _switched(statement, read, written)
        for step in done:
            steps = [step] if isinstance(step, Set) else [*steps, step]
    return tuple(steps)


def _switched(switch: Switch, read: Reader, written: Writer) -> Iterator[Step]:
    branches = [(case, _steps(case.body, read, written)) for case in switch.cases]
    exclusive = are_exclusive(switch.cases)
    branches = [
        (case, steps)
        for index, (case, steps) in enumerate(branches)
        if steps or not (exclusive or not any(later for _, later in branches[index:]))
    ]
    if not branches:
        return
    if exclusive and len(switch.subject) == 1 and len(branches) > 1:
        yield _selected(switch, branches, read)
        return
    yield from _chain([(condition(switch.subject, c, read), inner) for c, inner in branches])


def _selected(
    switch: Switch, branches: list[tuple[Case, tuple[Step, ...]]], read: Reader
) -> Select:
    """A choice by number; numbers that ask for the same stand together."""
    bits = width_of(switch.subject)
    together: dict[tuple[Step, ...], list[Number]] = {}
    for case, steps in branches:
        together.setdefault(steps, []).extend(Number(int(p, 2), bits) for p in case.patterns)
    return Select(
        read(switch.subject), tuple((tuple(numbers), steps) for steps, numbers in together.items())
    )


def _chain(branches: list[tuple[Expression, tuple[Step, ...]]]) -> tuple[Step, ...]:
    """A chain of branches as short as it can be; those of a chain inside of it stand in it."""
    branches = [branch for branch in branches if branch[0] != ZERO]
    certain = next((i for i, (asked, _) in enumerate(branches) if asked == ONE), len(branches))
    branches = branches[: certain + 1]
    match branches:
        case []:
            return ()
        case [(asked, inner)] if asked == ONE:
            return inner
        case [(first, (If(((second, inner),)),))]:
            return (If(((both(first, second), inner),)),)
        case [*others, (asked, (If(inner),))] if asked == ONE:
            return (If((*others, *inner)),)
        case [*others, (asked, ())]:
            return _chain(others)
        case [*others, (no, ()), (asked, inner)]:
            return _chain([*others, (both(inverse(no), asked), inner)])
    return (If(tuple(branches)),)


def block(edge: str, body: tuple[Step, ...], indent: str) -> Iterator[str]:
    """The lines of what happens at an edge; more than one statement stand in ``begin``, ``end``."""
    if len(body) == 1:
        yield f"{indent}{edge}"
        yield from _lines(body[0], f"{indent}  ")
    elif body:
        yield from _branch(edge, body, indent)


def _lines(step: Step, indent: str) -> Iterator[str]:
    match step:
        case Set():
            yield _set(step, indent)
        case If(branches):
            for index, (asked, inner) in enumerate(branches):
                head = "else" if asked == ONE else f"if ({broken(asked, indent, len(indent) + 4)})"
                if index and asked != ONE:
                    head = f"else {head}"
                yield from _branch(head, inner, indent)
        case Select(subject, branches):
            yield f"{indent}case ({flat(subject)})"
            for numbers, inner in branches:
                *earlier, last = wrap(", ".join(map(flat, numbers)), LINE_WIDTH - len(indent) - 4)
                yield from (f"{indent}  {line}" for line in earlier)
                yield from _branch(f"{last}:", inner, f"{indent}  ")
            if sum(len(numbers) for numbers, _ in branches) < 1 << subject.width:
                yield f"{indent}  default: ;"
            yield f"{indent}endcase"


def _branch(head: str, body: tuple[Step, ...], indent: str) -> Iterator[str]:
    """The lines of statements behind a head. An ``else`` must not meet the wrong ``if``."""
    match body:
        case (Set() as step,):
            line = f"{head} {_set(step, '')}"
            if len(indent) + len(line) < LINE_WIDTH:
                yield indent + line
            else:
                yield indent + head
                yield _set(step, f"{indent}  ")
        case (Select() as step,):
            yield from _behind(head, step, indent)
        case (If() as step,) if head.endswith(":"):
            yield from _behind(head, step, indent)
        case _:
            yield f"{indent}{head} begin"
            for step in body:
                yield from _lines(step, f"{indent}  ")
            yield f"{indent}end"


def _behind(head: str, step: Step, indent: str) -> Iterator[str]:
    first, *others = _lines(step, indent)
    yield f"{indent}{head} {first.lstrip()}"
    yield from others


def _set(step: Set, indent: str) -> str:
    begin = f"{indent}{step.target} <= "
    return f"{begin}{broken(step.value, indent, len(begin) + 1)};"
