import pytest

from hw.verilog.expression import (
    ONE,
    ZERO,
    Choice,
    Joined,
    Name,
    Number,
    Operation,
    both,
    broken,
    choice,
    either,
    flat,
    inverse,
    operation,
)

A, B, C = (Name(name, 1) for name in "abc")
X, Y = Name("x", 4), Name("y", 4)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (Number(1, 1), "1'b1"),
        (Number(12, 4), "4'd12"),
        (Number(0x53485244, 32), "32'h53485244"),
        (operation("+", X, Number(1, 4)), "x + 4'd1"),
        (operation("-", operation("+", X, Y), X), "(x + y) - x"),
        (operation("+", operation("+", X, Y), X), "x + y + x"),
        (operation("-", X, operation("-", Y, X)), "x - (y - x)"),
        (operation("==", operation("&", X, Y), Number(0, 4)), "(x & y) == 4'd0"),
        (operation("~", X), "~x"),
        (operation("-", operation("-", X)), "-(-x)"),
        (operation("~", operation("+", X, Y)), "~(x + y)"),
        (Operation("|", (X,), 1), "|x"),
        (Joined((A, X, Number(0, 2))), "{a, x, 2'd0}"),
        (Joined((A, A, A, B)), "{{3{a}}, b}"),
        (Joined((A, A)), "{{2{a}}}"),
        (choice(A, X, Y), "a ? x : y"),
        (choice(A, X, choice(B, Y, Number(0, 4))), "a ? x : b ? y : 4'd0"),
        (Choice(A, choice(B, X, Y), X), "a ? (b ? x : y) : x"),
        (both(both(A, B), C), "a & b & c"),
        (both(A, either(B, C)), "a & (b | c)"),
        (inverse(both(A, B)), "!(a & b)"),
        (inverse(operation("<", X, Y)), "x >= y"),
    ],
)
def test_texts(expression, text):
    assert flat(expression) == text


@pytest.mark.parametrize(
    ("expression", "equal"),
    [
        (both(A, ONE), A),
        (both(ZERO, A), ZERO),
        (either(A, ZERO), A),
        (either(ONE, A), ONE),
        (both(A, both(B, C)), both(both(A, B), C)),
        (either(A, either(B, C)), either(either(A, B), C)),
        (inverse(inverse(A)), A),
        (inverse(ONE), ZERO),
        (inverse(inverse(operation("==", X, Y))), operation("==", X, Y)),
        (choice(A, X, X), X),
        (choice(ONE, X, Y), X),
        (choice(ZERO, X, Y), Y),
        (choice(A, ONE, ZERO), A),
        (choice(A, ZERO, ONE), inverse(A)),
        (choice(A, B, ZERO), both(A, B)),
        (choice(A, ONE, B), either(A, B)),
        (choice(A, ZERO, B), both(inverse(A), B)),
        (choice(A, B, ONE), either(inverse(A), B)),
        (choice(A, choice(B, X, Y), Y), choice(both(A, B), X, Y)),
        (operation("&", A, B), both(A, B)),
        (operation("|", A, B), either(A, B)),
        (operation("~", A), inverse(A)),
    ],
)
def test_what_is_decided_already_is_left_out(expression, equal):
    assert expression == equal


@pytest.mark.parametrize(
    ("expression", "width"),
    [
        (operation("+", X, Y), 4),
        (operation("<=", X, Y), 1),
        (Joined((A, X, Y)), 9),
        (choice(A, X, Y), 4),
        (inverse(operation("==", X, Y)), 1),
    ],
)
def test_widths(expression, width):
    assert expression.width == width


def test_a_long_line_is_broken_between_parts_alternatives_and_operands():
    lanes = [Name(f"a_rather_long_name_of_lane_{index}", 8) for index in range(4)]
    begin = "a_rather_long_name_of_lane_"
    assert broken(Joined(tuple(lanes)), "  ", 10) == (
        f"{{\n    {begin}0,\n    {begin}1,\n    {begin}2,\n    {begin}3\n  }}"
    )
    chain = choice(A, lanes[0], choice(B, lanes[1], choice(C, lanes[2], lanes[3])))
    assert broken(chain, "  ", 10) == (
        f"a ? {begin}0 :\n    b ? {begin}1 :\n    c ? {begin}2 :\n    {begin}3"
    )
    added = operation("+", operation("+", operation("+", lanes[0], lanes[1]), lanes[2]), lanes[3])
    assert broken(added, "  ", 10) == f"{begin}0\n    + {begin}1\n    + {begin}2\n    + {begin}3"
    assert broken(operation("+", X, Y), "  ", 10) == "x + y"


def test_refuses_what_is_no_expression():
    with pytest.raises(TypeError, match="Expression must be known, not 'x'"):
        flat("x")
