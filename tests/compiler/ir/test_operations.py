"""An expression as a list of operations computes what the expression does."""

import random

import pytest

from compiler.ir.body import Add, Body, Literal, Max, Operand, left_fold
from compiler.ir.operations import operations_of


def random_body(rng: random.Random, depth: int) -> Body:
    if depth == 0:
        return rng.choice([Operand(rng.randrange(4)), Literal(rng.randrange(9))])
    sides = [random_body(rng, rng.randrange(depth)) for _ in range(2)]
    return rng.choice([Add, Max])(*sides)


def operands(body: Body) -> int:
    """Operands in an expression, by recursion."""
    if isinstance(body, Add | Max):
        return operands(body.left) + operands(body.right)
    return isinstance(body, Operand)


def height(body: Body) -> int:
    """Operations on the longest way through an expression, by recursion."""
    if isinstance(body, Add | Max):
        return 1 + max(height(body.left), height(body.right))
    return 0


@pytest.mark.parametrize("seed", range(40))
def test_each_stands_behind_those_that_it_takes_from_and_no_operand_is_lost(seed):
    body = random_body(random.Random(seed), 1 + seed % 6)
    found = operations_of(body)
    heights: list[int] = []
    for place, operation in enumerate(found):
        assert all(inner < place for inner in operation.inner)
        heights.append(1 + max((heights[inner] for inner in operation.inner), default=0))
    taken = [inner for operation in found for inner in operation.inner]
    assert sorted(taken) == list(range(len(found) - 1))
    assert sum(len(operation.streams) for operation in found) == operands(body)
    assert heights[-1] == height(body)


def test_operands_are_listed_from_left_to_right():
    body = Add(Max(Operand(2), Operand(0)), Add(Operand(1), Literal(3)))
    found = [(operation.streams, operation.inner) for operation in operations_of(body)]
    assert found == [((2, 0), ()), ((1,), ()), ((), (0, 1))]


def test_a_fold_of_very_many_operands_is_no_matter_of_recursion():
    found = operations_of(left_fold(5000))
    assert len(found) == 4999
    assert found[-1].streams == (4999,)
    assert found[-1].inner == (4997,)
