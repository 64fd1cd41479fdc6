"""Contributions count what counting one by one counts."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.flow.contributions import (
    Contributions,
    TooManyIntervalsError,
    added,
    contributions_of,
)
from compiler.flow.listing import listed
from compiler.flow.nest import Nest, Step
from tests.compiler.flow.sequences import nests

intervals = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 4), st.integers(1, 3)).map(
        lambda found: (found[0], found[0] + found[1], found[2])
    ),
    max_size=5,
)


def counted(spans) -> Counter:
    times = Counter()
    for begin, end, count in spans:
        times.update(dict.fromkeys(range(begin, end), count))
    return times


@given(spans=intervals)
def test_intervals_are_sorted_and_as_long_as_they_can_be(spans):
    found = added(spans)
    assert counted(found.intervals) == counted(spans)
    for (_, end, times), (begin, _, others) in pairwise(found.intervals):
        assert end < begin or (end == begin and times != others)
    assert all(begin < end for begin, end, _ in found.intervals)


@given(one=intervals, other=intervals)
def test_a_sum_adds_what_both_have_added(one, other):
    assert counted(added(one).plus(added(other)).intervals) == counted(one) + counted(other)


@given(nest=nests(1, most=4))
def test_contributions_of_blocks_are_those_that_are_counted(nest):
    expected = Counter(block for (block,) in nest)
    assert counted(contributions_of(nest).intervals) == expected
    assert contributions_of(listed(nest)) == contributions_of(nest)


@given(spans=intervals, extent=st.integers(0, 15))
def test_missing_and_repeated_blocks_are_named(spans, extent):
    found, times = added(spans), counted(spans)
    missing = [block for block in range(extent) if not times[block]]
    assert [
        block for b, e in found.missing(extent) for block in range(b, min(e, extent))
    ] == missing
    repeated = sorted(block for block, count in times.items() if count > 1)
    assert [block for begin, end in found.repeated() for block in range(begin, end)] == repeated
    assert found.first_repeated_times == (times[repeated[0]] if repeated else 1)
    once = Counter(range(extent))
    assert found.are_all_once(extent) == (times == once)


@given(spans=intervals, tile=st.integers(1, 5), extent=st.integers(0, 40))
def test_elements_are_those_before_the_end(spans, tile, extent):
    real = {block: len(range(block * tile, min(extent, (block + 1) * tile))) for block in range(20)}
    expected = sum(times * real[block] for block, times in counted(spans).items())
    assert added(spans).elements(tile, extent) == expected


def test_many_blocks_without_gaps_are_one_interval():
    blocks = Nest((3,), (Step(2, (0,)), Step(2**20, (2**20,)), Step(2**20, (-1,))))
    assert contributions_of(blocks) == Contributions(((3 - 2**20 + 1, 3 + 2**40 - 2**20 + 1, 2),))


def test_too_many_gaps_are_refused(monkeypatch):
    monkeypatch.setattr("compiler.ir.limits.INTERVALS", 8)
    gaps = Nest((0,), (Step(8, (3,)),))
    assert len(contributions_of(gaps).intervals) == 8
    with pytest.raises(TooManyIntervalsError):
        contributions_of(Nest((0,), (Step(9, (3,)),)))
    assert contributions_of(Nest((0,), (Step(9, (1,)),))) == Contributions(((0, 9, 1),))
