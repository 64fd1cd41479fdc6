import pytest

from report.units import is_number, seconds, three_digits, with_prefix


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (1234, "1.23 kB"),
        (9_600_000, "9.60 MB"),
        (16_777_216, "16.8 MB"),
        (999_400, "999 kB"),
        (999_600, "1 MB"),
        (64 * 10**9, "64 GB"),
        (2 * 10**12, "2 TB"),
        (3.2e15, "3.20 PB"),
        (12_345 * 10**15, "12300 PB"),
        (10**400, f"{1e285:.0f} PB"),
    ],
)
def test_amounts_have_three_digits_and_a_prefix(amount, text):
    assert with_prefix(amount, "B") == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "0"),
        (1.5e-9, "1.50 ns"),
        (2e-12, "0.00 ns"),
        (9.6e-6, "9.60 us"),
        (12.34e-6, "12.3 us"),
        (0.5, "500 ms"),
        (61.0, "61 s"),
        (0.9996e-6, "1 us"),
    ],
)
def test_times_have_three_digits_and_a_unit(amount, text):
    assert seconds(amount) == text


def test_three_digits_keep_integers_whole():
    assert [three_digits(amount) for amount in (1, 1.5, 15.25, 152.5)] == [
        "1",
        "1.50",
        "15.2",
        "152",
    ]


@pytest.mark.parametrize(
    ("text", "number"),
    [("12", True), ("~1.2 kB", True), ("<3 us", True), ("", False), ("no", False), ("1, 2", False)],
)
def test_a_number_begins_with_a_digit_and_is_alone(text, number):
    assert is_number(text) is number
