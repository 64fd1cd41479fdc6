"""A walk is a nest of counted loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.ir.walk import Loop, Walk

loops = st.lists(
    st.builds(Loop, count=st.integers(0, 4), stride=st.integers(-3, 9)), max_size=4
).map(tuple)


@given(nest=loops)
def test_pages_are_the_sums_of_the_loops_offsets_the_innermost_fastest(nest):
    grids = np.indices([loop.count for loop in nest])
    pages = sum(grid * loop.stride for grid, loop in zip(grids, nest, strict=True))
    expected = np.asarray(pages).ravel().tolist() if nest else [0]
    assert list(Walk(nest).pages()) == expected


@given(nest=loops)
def test_page_count_is_the_number_of_pages(nest):
    assert Walk(nest).page_count == len(list(Walk(nest).pages()))


@given(outer=loops, inner=loops)
def test_an_outer_nest_repeats_the_inner_one(outer, inner):
    expected = [a + b for a in Walk(outer).pages() for b in Walk(inner).pages()]
    assert list(Walk(outer + inner).pages()) == expected


@pytest.mark.parametrize(
    ("nest", "pages"),
    [
        ((), [0]),
        ((Loop(3, 1),), [0, 1, 2]),
        ((Loop(2, 4), Loop(2, 1)), [0, 1, 4, 5]),
        ((Loop(2, 0), Loop(3, 1)), [0, 1, 2, 0, 1, 2]),
    ],
)
def test_pages_of_small_walks(nest, pages):
    assert list(Walk(nest).pages()) == pages


def test_a_walk_prints_its_loops_from_the_outermost():
    assert str(Walk((Loop(4, 16), Loop(4, 0), Loop(16, 1)))) == "4x+16 4x+0 16x+1"
    assert str(Walk((Loop(2, -3),))) == "2x-3"


@given(nest=loops)
def test_all_indices_at_once_are_the_pages(nest):
    assert Walk(nest).indices().tolist() == list(Walk(nest).pages())


@given(nest=loops)
def test_distinct_counts_different_pages(nest):
    assert Walk(nest).distinct() == len(set(Walk(nest).pages()))


@given(nest=loops)
def test_the_span_holds_the_least_and_the_greatest_page(nest):
    pages = list(Walk(nest).pages())
    if pages:
        assert Walk(nest).span == (min(pages), max(pages))


@given(one=loops, other=loops)
def test_normal_forms_are_equal_where_orders_are(one, other):
    one, other = Walk(one), Walk(other)
    same = list(one.pages()) == list(other.pages())
    assert (one.normal() == other.normal()) == same
    assert list(one.normal().pages()) == list(one.pages())


@pytest.mark.parametrize(
    ("nest", "distinct"),
    [
        ((Loop(2**40, 1), Loop(2**40, 0)), 2**40),
        ((Loop(2**20, 2**21), Loop(2**20, 2)), 2**40),
        ((Loop(2**30, -1),), 2**30),
        ((Loop(2**20, 1), Loop(2**20, 1)), 2**21 - 1),
        ((Loop(2**20, 6), Loop(2**20, -2)), 4 * 2**20 - 3),
    ],
)
def test_regular_nests_are_counted_without_being_walked(nest, distinct):
    assert Walk(nest).distinct() == distinct
    assert Walk(nest).normal() == Walk((Loop(1, 9), *nest)).normal()


@given(nest=loops, count=st.integers(0, 40))
def test_whether_each_page_is_visited_once_is_told_from_the_loops(nest, count):
    assert Walk(nest).visits_once(count) == (sorted(Walk(nest).pages()) == [*range(count)])


@given(counts=st.lists(st.integers(1, 4), max_size=4), data=st.data())
def test_each_page_is_visited_once_in_whatever_order_the_loops_stand(counts, data):
    nest, pages = [], 1
    for count in counts:
        nest.append(Loop(count, pages))
        pages *= count
    walk = Walk(tuple(data.draw(st.permutations(nest))))
    assert walk.visits_once(pages)
    assert not walk.visits_once(pages + 1)
    assert not Walk((Loop(2, 0), *walk.loops)).visits_once(pages)


def test_pages_that_would_have_to_be_listed_are_not_counted_if_they_are_many():
    many = Walk((Loop(2**20, 3), Loop(2**20, 2)))
    assert many.distinct() is None
    assert many.visits_once(2**40) is False
    far = Walk((Loop(2**10, 3 * 2**60), Loop(2**10, 2**61)))
    assert far.distinct() is None
