"""What a broken program would have done: the interpreter runs it, unchecked."""

from dataclasses import dataclass
from enum import StrEnum
from math import prod

import numpy as np

from compiler.ir.init import Pattern, Values
from compiler.ir.program import Program
from sim.errors import InterpreterDeadlockError
from sim.interpreter import Interpretation, interpret
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
        "a slice is said to be of the other operand",
        "a chip loads the slice of its neighbour",
        "two chips hold the same rows of the result",
        "the last chip is left out",
        "the last chip is left out and nobody misses it",
        "the reduction is left out",
        "a partial sum is said to be whole",
        "a chip sends its operand in place of its sum",
        "a partial sum is broadcast",
        "a partial sum is broadcast and said to be one",
        "a chip stores the partial sum that it sends",
        "two pages at a time are merged and one is split off",
        "two chips load each others operands",
        "the left operand lies and passes by rows",
        "the right operand lies and passes by columns",
        "all operands are transposed",
        "the operands of a product are swapped and transposed",
        "all sums go by columns",
        "everything goes by rows",
        "a load walks its loops in another order",
        "a store writes one tile over another",
        "a store takes columns for rows",
        "the operands of a product are swapped",
        "a fold leaves an operand out",
        "a fold adds an operand twice",
        "a fold adds an operand in place of another",
        "a fold takes the greatest operand",
        "a fold adds one",
        "two folds read each others landing buffers",
        "a chip maps its partial sum",
        "the map is left out",
        "the map is another",
        "a map is applied that nobody claims",
        "a map computes nothing",
        "the product is claimed the other way round with its values",
    ),
    Kind.DEADLOCK: (
        "a receive is left out",
        "a copy misses an output",
        "a copy fills one buffer twice",
        "an input of a merge has no turn",
        "an output of a split has no turn",
        "one input has two turns in a round",
        "one edge has two turns in a round at both ends",
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
        "a split is left out",
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
    states_its_values = isinstance(PLANS[name].spec.a, Pattern)
    try:
        result = interpret(broken, *((None, None) if states_its_values else (a, b)))
    except InterpreterDeadlockError as deadlock:
        return Consequence(frozenset({Kind.DEADLOCK}), f"deadlock: {deadlock.waits[0]}")
    kinds: set[Kind] = set()
    texts: list[str] = []
    wrong = wrong_element(result, right)
    if wrong is not None:
        where, got, wanted = wrong
        kinds.add(Kind.WRONG)
        if (got - wanted) % (1 << min(b.page.dtype.bits for b in sums(broken))) == 0:
            kinds.add(Kind.WRAP)
        texts.append(f"{where} is {got}, not {wanted}")
    left = {q.name: q.pushed - q.popped for q in result.queues.values() if q.pushed != q.popped}
    if left:
        kinds.add(Kind.LEFT)
        buffer, pages = next(iter(left.items()))
        texts.append(f"pages left over: {pages} in {buffer}")
    return Consequence(frozenset(kinds), "; ".join(texts))


def wrong_element(result: Interpretation, right: np.ndarray) -> tuple[str, int, int] | None:
    """The first element that a chip has stored wrongly, or that none has stored.

    Every tensor of the output is looked at, where it says that it stands.
    """
    program = result.program
    missing = np.ones(right.shape, dtype=bool)
    for tensor in program.tensors_of[program.claim.output]:
        row, col = tensor.part.row, tensor.part.col
        wanted = right[row : row + tensor.rows, col : col + tensor.cols]
        missing[row : row + tensor.rows, col : col + tensor.cols] = False
        if tensor.name not in result.stored:
            continue
        stored = result.stored[tensor.name][: wanted.shape[0], : wanted.shape[1]]
        for place in np.argwhere(stored != wanted)[:1]:
            got = int(stored[tuple(place)])
            where = f"element ({row + place[0]}, {col + place[1]})"
            on = f" of {tensor.name}" if program.chip_count > 1 else ""
            return f"{where}{on}", got, int(wanted[tuple(place)])
    for row, col in np.argwhere(missing)[:1]:
        return f"element ({row}, {col}), which no chip has stored,", 0, int(right[row, col])
    return None


def states_all(program: Program) -> bool:
    """Whether every tensor that lists its values lists all of them, so that a run can begin."""
    return all(
        not isinstance(tensor.init, Values)
        or len(tensor.init.values) == prod(program.real_shape(tensor))
        for tensor in program.tensors
    )


def shown(mutation: Mutation, kind: Kind) -> list[tuple[str, str]]:
    """Programs that show this damage once they are broken, each with what it was."""
    found: list[tuple[str, str]] = []
    for name in PLANS:
        broken = mutation.apply(certified_program(name))
        if broken is None or not states_all(broken):
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
