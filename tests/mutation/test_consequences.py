"""What the refused programs would have done: the interpreter shows it."""

import numpy as np
import pytest

from compiler.ir.dtype import integer
from sim.interpreter import interpret
from tests.mutation.certified import PLANS, answer, certified_program, operands
from tests.mutation.consequences import SHOWN, consequence, shown
from tests.mutation.mutations import BY_NAME

PAIRS = [(name, kind) for kind, names in SHOWN.items() for name in names]
HOST_FED = "4 chips, star"


@pytest.mark.parametrize("extreme", [False, True])
@pytest.mark.parametrize("name", PLANS)
def test_nothing_becomes_of_a_program_that_holds(name, extreme):
    assert consequence(name, certified_program(name), extreme=extreme).text == ""


@pytest.mark.parametrize(("name", "kind"), PAIRS, ids=lambda value: str(value))
def test_the_damage_is_seen_on_two_programs_or_more(name, kind):
    assert len(shown(BY_NAME[name], kind)) >= 2


def test_more_than_twelve_are_shown_and_every_kind_of_damage():
    assert len({name for name, _ in PAIRS}) == len(PAIRS) >= 12
    assert all(SHOWN.values())


def run(mutation: str, *, extreme: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The operands of a star of 4 chips, and what it computes once it is broken."""
    a, b = operands(HOST_FED, extreme=extreme)
    broken = BY_NAME[mutation].apply(certified_program(HOST_FED))
    return a, b, interpret(broken, a, b).c


def test_without_its_reduction_a_program_returns_a_quarter_of_the_sum():
    """Of the right shape, fully written, and wrong."""
    a, b, result = run("the reduction is left out")
    assert np.array_equal(result, a[:, :4] @ b[:4])


def test_a_chip_that_is_left_out_is_left_out_of_every_element():
    a, b, result = run("the last chip is left out")
    assert np.array_equal(result, a[:, :12] @ b[:12])


def test_a_slice_that_is_held_twice_is_counted_twice():
    a, b, result = run("the first slice is held twice")
    assert np.array_equal(result, a[:, :12] @ b[:12] + a[:, :4] @ b[:4])


def test_the_greatest_of_the_partial_sums_is_not_their_sum():
    a, b, result = run("a fold takes the greatest operand")
    parts = [a[:, i : i + 4] @ b[i : i + 4] for i in range(0, 16, 4)]
    assert np.array_equal(result, np.max(parts, axis=0))


def test_a_map_of_one_partial_sum_is_not_a_map_of_the_sum():
    a, b, result = run("a chip maps its partial sum")
    assert np.array_equal(result, a[:, :12] @ b[:12] + np.maximum(a[:, 12:] @ b[12:], 0))


def test_a_bit_too_few_makes_the_greatest_sum_the_least():
    _, _, result = run("all sums are one bit too narrow", extreme=True)
    right = answer(HOST_FED, *operands(HOST_FED, extreme=True))
    bits = int(right.max()).bit_length()
    assert (right == 2 ** (bits - 1)).all()
    assert (result == integer(bits).low).all()
