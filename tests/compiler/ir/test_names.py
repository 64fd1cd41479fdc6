"""What an error says of a text is one short line, whatever the text holds."""

import pytest

from compiler.ir.names import hardware_name, is_line, quoted


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("a", "'a'"),
        ("a\nholds", r"'a\nholds'"),
        ("\ud800", r"'\ud800'"),
        ("é", r"'\xe9'"),
        ("n" * 10**6, "'" + "n" * 56 + "..."),
        (10**18, "1000000000000000000"),
    ],
)
def test_a_quotation_is_short_and_of_ascii(value, said):
    assert quoted(value) == said


def test_a_line_has_no_end_within_it():
    assert is_line("x, and y: é", 11)
    assert not is_line("x, and y: é", 10)
    for text in ("a\n", "a\x00", "\x1b[2J", "\u2028", "\u202e", "\ud800"):
        assert not is_line(text, 100)


def test_joints_are_spelled_out_in_hardware():
    assert hardware_name("c1->c0") == "c1_to_c0"
    assert hardware_name("c0.a_pages") == "c0_a_pages"
    assert hardware_name("token-mesh") == "token_mesh"
