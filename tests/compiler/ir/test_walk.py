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
