"""The expression of a fold is read the same by all who read it."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.ir.body import (
    Add,
    Literal,
    Max,
    Operand,
    fold_up,
    image,
    is_operation,
    left_fold,
    literals_of,
    operands_of,
    widest_image,
)
from compiler.ir.body_text import parse_body

bodies = st.recursive(
    st.integers(0, 9).map(Operand),
    lambda inner: st.one_of(st.builds(Add, inner, inner), st.builds(Max, inner, inner)),
    max_leaves=12,
)


maps = st.recursive(
    st.one_of(st.just(Operand(0)), st.integers(-20, 20).map(Literal)),
    lambda inner: st.one_of(st.builds(Add, inner, inner), st.builds(Max, inner, inner)),
    max_leaves=6,
)
"""Expressions over one operand, which may stand in them never or often."""


def evaluated(body, values):
    """The value that a body stands for."""
    match body:
        case Operand(index):
            return values[index]
        case Literal(value):
            return value
        case Add(left, right):
            return evaluated(left, values) + evaluated(right, values)
        case Max(left, right):
            return max(evaluated(left, values), evaluated(right, values))


@pytest.mark.parametrize("count", range(1, 17))
def test_a_left_fold_reads_each_operand_once_from_the_left(count):
    body = left_fold(count)
    assert list(operands_of(body)) == list(range(count))
    operands = [f"op{index}" for index in range(count)]
    text = operands[0]
    for operand in operands[1:]:
        text = f"({text} + {operand})"
    assert str(body) == text


@pytest.mark.parametrize("count", range(1, 17))
def test_a_left_fold_is_the_sum(count):
    values = [3**index for index in range(count)]
    assert evaluated(left_fold(count), values) == sum(values)


def test_a_left_fold_adds_in_the_order_that_it_shows():
    """In floating point the order shows: only from the left does the small one vanish."""
    assert evaluated(left_fold(3), [1e20, -1e20, 1.0]) == 1.0
    assert evaluated(left_fold(3), [1.0, 1e20, -1e20]) == 0.0


@given(body=bodies, values=st.lists(st.integers(-100, 100), min_size=10, max_size=10))
def test_a_body_prints_as_what_it_computes(body, values):
    names = {f"op{index}": value for index, value in enumerate(values)}
    assert eval(str(body), {"max": max}, names) == evaluated(body, values)


@given(body=bodies)
def test_operands_are_listed_as_they_are_printed(body):
    printed = str(body).replace("max", "").translate(str.maketrans("()+,", "    ")).split()
    assert [f"op{index}" for index in operands_of(body)] == printed


def test_equal_bodies_are_equal():
    assert Add(Operand(0), Operand(1)) == left_fold(2)
    assert Add(Operand(1), Operand(0)) != left_fold(2)
    assert len({left_fold(4), left_fold(4), left_fold(3)}) == 2


def parts(body):
    """An expression and all expressions within it."""
    yield body
    if isinstance(body, Add | Max):
        yield from parts(body.left)
        yield from parts(body.right)


@given(body=maps, low=st.integers(-30, 30), extent=st.integers(0, 9))
def test_an_image_holds_every_value_and_ends_where_they_do(body, low, extent):
    """Sums and maxima rise with their operand, so the ends of its range give those of theirs."""
    values = [evaluated(body, [value]) for value in range(low, low + extent + 1)]
    assert image(body, low, low + extent) == (min(values), max(values))


@given(body=maps, low=st.integers(-30, 30), extent=st.integers(0, 9))
def test_the_widest_image_holds_what_an_expression_computes_on_the_way(body, low, extent):
    images = [image(part, low, low + extent) for part in parts(body)]
    least, most = widest_image(body, low, low + extent)
    assert (least, most) == (min(map(min, images)), max(map(max, images)))


@given(body=maps)
def test_an_operation_combines_something_in_each_of_its_parts(body):
    operations = [part for part in parts(body) if isinstance(part, Add | Max)]
    literals = [
        part
        for part in operations
        if isinstance(part.left, Literal) and isinstance(part.right, Literal)
    ]
    assert is_operation(body) == (bool(operations) and not literals)


def test_literals_come_from_left_to_right():
    body = Add(Max(Literal(3), Operand(0)), Add(Literal(-1), Literal(3)))
    assert list(literals_of(body)) == [3, -1, 3]
    assert list(literals_of(left_fold(3))) == []


LONG = 1024
"""Operands of a fold at a chip with as many link ports as there may be."""


@given(bodies)
def test_equal_expressions_are_those_with_the_same_parts_in_the_same_places(body):
    def same(one, other):
        match one, other:
            case (Add(), Add()) | (Max(), Max()):
                return same(one.left, other.left) and same(one.right, other.right)
            case (Add() | Max(), _) | (_, Add() | Max()):
                return False
            case _:
                return one == other

    for other in (body, Add(body, Operand(0)), Max(Operand(0), body), Operand(0), Add(*[body] * 2)):
        assert (body == other) == same(body, other)
        assert body != other or hash(body) == hash(other)


@given(bodies)
def test_an_expression_prints_as_what_makes_it(body):
    assert eval(repr(body)) == body


def test_a_fold_over_every_link_port_is_walked_without_recursion():
    """Deeper than Python's stack: printing, comparing and reading it call nothing within itself."""
    body, other = left_fold(LONG), left_fold(LONG)
    assert LONG > sys.getrecursionlimit() > 0
    assert body == other
    assert hash(body) == hash(other)
    assert body != left_fold(LONG - 1)
    assert list(operands_of(body)) == list(range(LONG))
    assert list(literals_of(body)) == []
    assert is_operation(body)
    assert image(body, -1, 2) == (-LONG, 2 * LONG)
    assert widest_image(body, -1, 2) == (-LONG, 2 * LONG)
    assert str(body).startswith("((((")
    assert str(body).endswith(f" + op{LONG - 2}) + op{LONG - 1})")
    assert repr(body).count("Add(") == LONG - 1
    assert parse_body(str(body)) == body


def test_what_an_expression_comes_to_is_put_together_from_the_left():
    body = Max(Add(Operand(1), Literal(-3)), Operand(0))
    said = fold_up(
        body,
        operand=lambda index: [f"in{index}"],
        literal=lambda value: [str(value)],
        add=lambda left, right: [*left, *right, "+"],
        maximum=lambda left, right: [*left, *right, "max"],
    )
    assert said == ["in1", "-3", "+", "in0", "max"]
