"""Nests answer from their loops what a list answers by looking at every vector."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.flow.listing import listed
from compiler.flow.nest import Nest, Step, paired, walked
from compiler.ir.walk import Loop, Walk
from tests.compiler.flow.sequences import nest_of, nests, walks


@given(base=st.tuples(st.integers(-3, 3)), steps=st.lists(st.tuples(*[st.integers(0, 4)] * 2)))
def test_a_nest_is_the_sequence_of_its_loops(base, steps):
    steps = steps[:4]
    expected = [
        (base[0] + sum(i * by for i, (_, by) in zip(place, steps, strict=True)),)
        for place in product(*(range(count) for count, _ in steps))
    ]
    assert list(Nest(base, tuple(Step(count, (by,)) for count, by in steps))) == expected


@given(nest=nests())
def test_length_places_and_bounds_are_those_of_the_vectors(nest):
    vectors = list(nest)
    assert nest.length == len(vectors)
    assert [nest.at(index) for index in range(len(vectors))] == vectors
    if vectors:
        assert nest.bounds == tuple(
            tuple(map(end, zip(*vectors, strict=True))) for end in (min, max)
        )


@given(one=nests(), other=nests())
def test_nests_are_equal_if_their_sequences_are(one, other):
    assert (one == other) == (list(one) == list(other))


@given(nest=nests())
def test_the_normal_form_is_the_one_that_is_found_by_looking(nest):
    if nest.length:
        assert nest == nest_of(list(nest))


@given(nest=nests(), by=st.tuples(st.integers(-9, 9), st.integers(-9, 9)))
def test_components_and_moves_are_those_of_each_vector(nest, by):
    vectors = list(nest)
    assert list(nest.component(1)) == [(y,) for _, y in vectors]
    assert list(nest.moved(by)) == [(x + by[0], y + by[1]) for x, y in vectors]


def first_difference(one, other):
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), None)


@given(one=nests(1), other=nests(1))
def test_the_first_difference_is_found(one, other):
    expected = first_difference(list(one), list(other))
    assert one.first_difference(other) == expected
    assert listed(one).first_difference(listed(other)) == expected


@given(nest=nests(1), data=st.data())
def test_the_first_difference_to_a_longer_nest_is_found(nest, data):
    """Nests that begin alike: one loop is another, or one more is around all."""
    loops = list(nest.loops)
    if loops:
        place = data.draw(st.integers(0, len(loops) - 1))
        count = data.draw(st.integers(1, 6))
        loops[place] = Step(count, data.draw(st.sampled_from([loops[place].by, (1,)])))
    other = Nest(nest.base, (Step(2, (data.draw(st.integers(0, 5)),)), *loops))
    assert nest.first_difference(other) == first_difference(list(nest), list(other))


def groups(vectors, size):
    return [vectors[i : i + size] for i in range(0, len(vectors), size)]


@given(nest=nests(1, most=4), data=st.data())
def test_heads_and_cycles_are_those_of_groups(nest, data):
    if not nest.length:
        return
    sizes = [size for size in range(1, nest.length + 1) if nest.length % size == 0]
    size = data.draw(st.sampled_from(sizes))
    rows = groups(list(nest), size)
    heads = [row[0] for row in rows] if all(len({*row}) == 1 for row in rows) else None
    cycle = rows[0] if all(row == rows[0] for row in rows) else None
    for sequence in (nest, listed(nest)):
        found = sequence.heads(size)
        assert (None if found is None else list(found)) == heads
        found = sequence.cycle(size)
        assert (None if found is None else list(found)) == cycle


@given(nest=nests(2, most=4), data=st.data())
def test_each_one_of_so_many_is_what_is_found_by_looking(nest, data):
    """A nest says so wherever what it says is one."""
    sizes = [size for size in range(1, nest.length + 1) if nest.length % size == 0]
    size = data.draw(st.sampled_from(sizes or [1, 2, 3]))
    first = data.draw(st.integers(0, size - 1))
    expected = list(nest)[first::size]
    assert list(listed(nest).every(size, first)) == expected
    told = nest.every(size, first)
    if told is not None:
        assert list(told) == expected


@pytest.mark.parametrize(
    ("size", "first", "text"),
    [
        (1, 0, "(1, 0) 4x(2, 0) 6x(0, 1)"),
        (2, 1, "(1, 1) 4x(2, 0) 3x(0, 2)"),
        (3, 2, "(1, 2) 4x(2, 0) 2x(0, 3)"),
        (6, 4, "(1, 4) 4x(2, 0)"),
        (12, 7, "(3, 1) 2x(4, 0)"),
        (24, 23, "(7, 5)"),
        (4, 0, None),
        (8, 3, None),
    ],
)
def test_each_one_of_so_many_is_told_where_loops_come_whole(size, first, text):
    told = Nest((1, 0), (Step(4, (2, 0)), Step(6, (0, 1)))).every(size, first)
    assert (told and str(told)) == text


def test_each_one_of_so_many_of_a_long_nest_is_told_at_once():
    nest = Nest((0,), (Step(2**40, (2**20,)), Step(2**20, (1,))))
    assert nest.every(2**30, 2**20 + 3) == Nest((2**20 + 3,), (Step(2**30, (2**30,)),))


@given(one=nests(1, most=4), other=nests(1, most=4))
def test_pairs_are_a_nest_wherever_they_can_be(one, other):
    if one.length == other.length:
        expected = [(*a, *b) for a, b in zip(one, other, strict=True)]
        pairs = paired(one, other)
        if pairs is None:
            assert nest_of(expected) is None
        else:
            assert list(pairs) == expected


@given(whole=nests(2, most=4))
def test_components_pair_to_what_they_came_from(whole):
    assert paired(whole.component(0), whole.component(1)) == whole


@given(walk=walks(st.integers(0, 9) | st.sampled_from([12, 16, 24])), cols=st.integers(1, 13))
def test_walks_are_nests_of_rows_and_columns_wherever_they_can_be(walk, cols):
    expected = [divmod(page, cols) for page in walk.pages()]
    nest = walked(walk, cols)
    if nest is None:
        assert nest_of(expected) is None
    else:
        assert list(nest) == expected


@pytest.mark.parametrize(
    ("loops", "cols", "text"),
    [
        ((Loop(12, 1),), 4, "(0, 0) 3x(1, 0) 4x(0, 1)"),
        ((Loop(6, 3),), 8, "(0, 0) 2x(1, 1) 3x(0, 3)"),
        ((Loop(2, 0), Loop(3, 8)), 8, "(0, 0) 2x(0, 0) 3x(1, 0)"),
        ((), 5, "(0, 0)"),
        ((Loop(7, 3),), 8, None),
        ((Loop(2, 5), Loop(4, 1)), 8, None),
    ],
)
def test_loops_are_split_where_rows_end(loops, cols, text):
    nest = walked(Walk(loops), cols)
    assert (nest and str(nest)) == text


def test_no_pages_are_no_vectors():
    assert list(walked(Walk((Loop(0, 1), Loop(3, 1))), 2)) == []
    empty = Nest((1,), (Step(0, (5,)),))
    assert paired(empty, empty).length == 0
    assert empty.first_difference(Nest((2,))) is None


def test_questions_of_long_sequences_are_answered_from_their_loops():
    rows, cols = 2**40, 2**30
    nest = walked(Walk((Loop(rows * cols, 1),)), cols)
    assert nest.loops == (Step(rows, (1, 0)), Step(cols, (0, 1)))
    assert nest.at(3 * cols + 5) == (3, 5)
    assert nest.component(0).heads(cols).length == rows
    assert nest.component(1).cycle(cols).length == cols
    other = Nest((0, 0), (Step(rows, (1, 0)), Step(cols // 2, (0, 2)), Step(2, (0, 1))))
    assert nest == other
    skipped = Nest((0, 0), (Step(rows // 2, (3, 0)), Step(2, (1, 0)), Step(cols, (0, 1))))
    assert nest.first_difference(skipped) == 2 * cols
