"""Repetition is found as soon as it lasts long enough, and not where it only seems to begin."""

import random

import pytest

from compiler.check.repeating_pages import MOST_PERIOD, RepeatingPages


def found(pages: list[int], reach: int) -> tuple[int, int] | None:
    """After how many pages a period is found, and which."""
    repeating = RepeatingPages(reach)
    for index, page in enumerate(pages):
        period = repeating.period([page])
        if period is not None:
            return index + 1, period
    return None


@pytest.mark.parametrize("reach", [1, 2, 7])
@pytest.mark.parametrize("period", [1, 2, 5, 30])
@pytest.mark.parametrize("before", [0, 1, 40])
def test_a_period_is_found_once_as_many_pages_repeat_as_a_page_depends_on(before, period, reach):
    pages = [-1 - page for page in range(before)] + [page % period for page in range(200)]
    assert found(pages, reach) == (before + period + reach, period)


def test_pages_that_are_alike_for_a_while_are_no_period():
    assert found([0, 0, 1, 0, 0, 1, 0, 0, 1], reach=3) == (8, 3)
    assert found([0, 0, 0, 1, 0, 0, 0, 2], reach=4) is None
    assert found(list(range(3000)), reach=1) is None


@pytest.mark.parametrize(("period", "there"), [(MOST_PERIOD, True), (MOST_PERIOD + 1, False)])
def test_a_period_that_is_too_long_is_not_found(period, there):
    pages = [page % period for page in range(3 * period)]
    assert (found(pages, reach=1) is not None) == there


@pytest.mark.parametrize("seed", range(20))
def test_what_is_found_is_the_case(seed):
    rng = random.Random(seed)
    pages, reach = [rng.randrange(3) for _ in range(2000)], rng.randint(1, 8)
    answer = found(pages, reach)
    if answer is not None:
        end, period = answer
        assert pages[end - reach : end] == pages[end - period - reach : end - period]
