"""Expressions as text: what is written is read, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.ir.body import Add, Literal, Max, Operand
from compiler.ir.body_text import parse_body

bodies = st.recursive(
    st.one_of(st.integers(0, 10**6).map(Operand), st.integers(-(2**63), 2**63).map(Literal)),
    lambda inner: st.one_of(st.builds(Add, inner, inner), st.builds(Max, inner, inner)),
    max_leaves=12,
)


@given(bodies)
def test_what_is_printed_is_read_again(body):
    assert parse_body(str(body)) == body


@given(bodies)
def test_spaces_between_the_pieces_say_nothing(body):
    text = str(body)
    for piece in "(+,)":
        text = text.replace(piece, f" {piece} ")
    assert parse_body(text.replace("max (", "max(")) == body


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "an expression is an operand, a literal, (x + y) or max(x, y)"),
        ("(op0 + op1", "an expression is an operand, a literal, (x + y) or max(x, y)"),
        ("op0 op1", "an expression is an operand, a literal, (x + y) or max(x, y)"),
        ("+", "an expression is an operand, a literal, (x + y) or max(x, y)"),
        ("(op0 + )", "what ends at character 8 is neither (x + y) nor max(x, y)"),
        ("(op0)", "what ends at character 5 is neither (x + y) nor max(x, y)"),
        ("max(op0 + op1)", "what ends at character 14 is neither (x + y) nor max(x, y)"),
        ("(op0, op1)", "what ends at character 10 is neither (x + y) nor max(x, y)"),
        ("op0)", "what ends at character 4 is neither (x + y) nor max(x, y)"),
        ("op0 + op1", "an expression is an operand, a literal, (x + y) or max(x, y)"),
        ("min(op0, op1)", "an expression cannot go on with 'min(op0, op1)'"),
        ("(op0 * op1)", "an expression cannot go on with ' * op1)'"),
        ("op", "an expression cannot go on with 'op'"),
        ("op-1", "an expression cannot go on with 'op-1'"),
        ("op٣", "an expression cannot go on with 'op٣'"),
        ("--1", "an expression cannot go on with '--1'"),
        ("1" * 30, "an expression has no number of 30 characters"),
        ("op" + "1" * 30, "an expression has no number of 32 characters"),
    ],
)
def test_what_is_no_expression_is_refused_at_its_place(text, why):
    with pytest.raises(ValueError) as refusal:  # noqa: PT011
        parse_body(text)
    assert str(refusal.value) == why


@pytest.mark.parametrize("text", ["(" * 10**5, ")" * 10**5, "(op0 + " * 10**5, "1 " * 10**5])
def test_long_nonsense_is_refused_as_fast_as_it_is_read(text):
    with pytest.raises(ValueError, match=r"expression is|what ends at"):
        parse_body(text)
