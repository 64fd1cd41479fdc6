"""A walk is a nest of counted loops, and perhaps a list of what each round of them visits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.ir.walk import Loop, Walk

loops = st.lists(
    st.builds(Loop, count=st.integers(0, 4), stride=st.integers(-3, 9)), max_size=4
).map(tuple)

orders = st.one_of(
    st.lists(st.integers(-2, 12), min_size=1, max_size=6).map(tuple),
    st.permutations(range(6)).map(tuple),
    st.permutations([0, 1, 4, 5]).map(tuple),
)
ordered = st.builds(Walk, loops, orders)


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


# --- Lists of pages -------------------------------------------------------------------------------


@given(nest=loops, order=orders)
def test_each_round_of_the_loops_visits_the_listed_pages(nest, order):
    walk = Walk(nest, order)
    expected = [page + offset for page in Walk(nest).pages() for offset in order]
    assert list(walk.pages()) == expected
    assert walk.indices().tolist() == expected
    assert walk.page_count == len(expected)
    if expected:
        assert walk.span == (min(expected), max(expected))


@given(walk=ordered)
def test_distinct_counts_different_listed_pages(walk):
    assert walk.distinct() == len(set(walk.pages()))


@given(walk=ordered, more=st.integers(-1, 1))
def test_whether_each_listed_page_is_visited_once_is_told(walk, more):
    count = max(0, walk.page_count + more)
    assert walk.visits_once(count) == (sorted(walk.pages()) == [*range(count)])


@given(one=ordered, other=ordered)
def test_normal_forms_of_lists_are_the_same_walk(one, other):
    assert list(one.normal().pages()) == list(one.pages())
    assert one.normal().normal() == one.normal()
    if one.normal() == other.normal():
        assert list(one.pages()) == list(other.pages())


@pytest.mark.parametrize(
    ("walk", "normal"),
    [
        (Walk((Loop(3, 4),), (0, 1, 2, 3)), Walk((Loop(12, 1),))),
        (Walk((Loop(3, 4),), (0, 2)), Walk((Loop(6, 2),))),
        (Walk((Loop(3, 5),), (0,)), Walk((Loop(3, 5),))),
        (Walk((Loop(1, 5),), (0, 2, 1)), Walk((), (0, 2, 1))),
        (Walk((Loop(2, 6), Loop(2, 3)), (0, 2, 1)), Walk((Loop(4, 3),), (0, 2, 1))),
        (Walk((Loop(0, 5),), (0, 2, 1)), Walk((Loop(0, 0),))),
    ],
    ids=str,
)
def test_a_list_that_a_loop_tells_is_told_by_it(walk, normal):
    assert walk.normal() == normal


@pytest.mark.parametrize(
    ("walk", "count", "visits"),
    [
        # Two slices of rows side by side, a row of each in every round.
        (Walk((Loop(2, 4),), (0, 9, 8, 3, 2, 10, 1, 11)), 16, True),
        (Walk((Loop(2, 4),), (0, 9, 8, 3, 2, 10, 1, 12)), 16, False),
        (Walk((Loop(2, -1),), (1, 3)), 4, True),
        (Walk((Loop(2, 2),), (0, 0)), 4, False),
        (Walk((Loop(2, 2),), (1, 2)), 4, False),
        (Walk((Loop(2**30, 2),), (1, 0)), 2**31, True),
        (Walk((Loop(2**30, -2),), (2**31 - 2, 2**31 - 1)), 2**31, False),  # too long to list
        (Walk((Loop(0, 1),), (1, 0)), 0, True),
    ],
    ids=str,
)
def test_lists_may_hold_the_pages_between_those_of_loops(walk, count, visits):
    assert walk.visits_once(count) is visits


@pytest.mark.parametrize(
    ("walk", "distinct"),
    [
        (Walk((Loop(2**30, 2),), (1, 0)), 2**31),
        (Walk((Loop(2**30, 2),), (1, 0, 1)), 2**31),
        (Walk((Loop(2**30, 0),), (5, 3, 4)), 3),
        (Walk((Loop(2**30, 1),), (0, 1, 3)), None),
        (Walk((Loop(2, 2**62), Loop(2, 2**62)), (0, 1, 3)), None),
    ],
    ids=str,
)
def test_listed_pages_are_counted_by_loops_or_one_by_one_if_they_are_few(walk, distinct):
    assert walk.distinct() == distinct


def test_a_walk_prints_its_list_behind_its_loops():
    assert str(Walk((Loop(4, 16), Loop(2, 1)), (0, 2, 1))) == "4x+16 2x+1 [0,2,1]"
    assert str(Walk((), (3, -1))) == "[3,-1]"
