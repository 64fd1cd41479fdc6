"""What a broken program would have done: the interpreter runs it, unchecked."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from compiler.ir.init import Pattern
from compiler.ir.program import Program
from sim.errors import InterpreterDeadlockError
from sim.interpreter import interpret
from tests.mutation.certified import PLANS, answer, certified_program, operands
from tests.mutation.mutation import Mutation
from tests.mutation.mutations import BY_NAME
from tests.mutation.parts import sums


class Kind(StrEnum):
    """Kinds of damage."""

    WRONG = "wrong element"
    DEADLOCK = "deadlock"
    LEFT = "pages left over"
    WRAP = "overflow wraps"


@dataclass(frozen=True)
class Consequence:
    """What became of a run.

    Attributes
    ----------
    kinds : frozenset of Kind
        Kinds of damage that it shows; none if the run was right.
    text : str
        What it was, in words.
    """

    kinds: frozenset[Kind]
    text: str


SHOWN = {
    Kind.WRONG: (
        "the first slice is held twice",
        "slices of one operand are swapped",
        "a slice is cut along a result axis",
        "a slice stands behind the last",
        "a chip loads the slice of its neighbour",
        "the last chip is left out",
        "the reduction is left out",
        "a partial sum is said to be whole",
        "a chip sends its operand in place of its sum",
        "a load walks its loops in another order",
        "a store writes one tile over another",
        "a store takes columns for rows",
        "the operands of a product are swapped",
        "a fold leaves an operand out",
        "a fold adds an operand twice",
        "a fold adds an operand in place of another",
        "a fold takes the greatest operand",
        "a fold adds one",
        "a chip maps its partial sum",
        "the map is left out",
        "the map is another",
        "a map is applied that nobody claims",
        "a map computes nothing",
        "the product is claimed the other way round",
    ),
    Kind.DEADLOCK: (
        "a receive is left out",
        "a buffer has no room",
        "a buffer has less than no room",
        "a depth is left open",
        "a product sums a block too many",
        "a product sums no block",
        "a load stops early",
        "a load goes over its tensor twice",
    ),
    Kind.LEFT: (
        "a product sums a block too few",
        "a store stops early",
    ),
    Kind.WRAP: (
        "all sums are one bit too narrow",
        "one accumulator is one bit too narrow",
    ),
}
"""Mutations whose damage the interpreter shows, by its kind."""


def consequence(name: str, broken: Program, *, extreme: bool) -> Consequence:
    """Run what became of the program of this name, and compare with what it had to compute."""
    a, b = operands(name, extreme=extreme)
    right = answer(name, a, b)
    states_its_values = isinstance(PLANS[name][0].a, Pattern)
    try:
        result = interpret(broken, *((None, None) if states_its_values else (a, b)))
    except InterpreterDeadlockError as deadlock:
        return Consequence(frozenset({Kind.DEADLOCK}), f"deadlock: {deadlock.waits[0]}")
    kinds: set[Kind] = set()
    texts: list[str] = []
    wrong = np.argwhere(result.c != right)
    if len(wrong):
        row, col = map(int, wrong[0])
        got, wanted = int(result.c[row, col]), int(right[row, col])
        kinds.add(Kind.WRONG)
        if (got - wanted) % (1 << min(b.page.dtype.bits for b in sums(broken))) == 0:
            kinds.add(Kind.WRAP)
        texts.append(f"element ({row}, {col}) is {got}, not {wanted}")
    left = {q.name: q.pushed - q.popped for q in result.queues.values() if q.pushed != q.popped}
    if left:
        kinds.add(Kind.LEFT)
        buffer, pages = next(iter(left.items()))
        texts.append(f"pages left over: {pages} in {buffer}")
    return Consequence(frozenset(kinds), "; ".join(texts))


def shown(mutation: Mutation, kind: Kind) -> list[tuple[str, str]]:
    """Programs that show this damage once they are broken, each with what it was."""
    found: list[tuple[str, str]] = []
    for name in PLANS:
        broken = mutation.apply(certified_program(name))
        if broken is None:
            continue
        damage = consequence(name, broken, extreme=kind is Kind.WRAP)
        if kind in damage.kinds:
            found.append((name, damage.text))
    return found


def texts() -> dict[str, str]:
    """For each mutation that is shown, what the first program that shows it did."""
    return {
        name: shown(BY_NAME[name], kind)[0][1] for kind, names in SHOWN.items() for name in names
    }
