"""Turns: streams that are put together and taken apart, against pages that are moved one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.ir.limits import TURNS
from compiler.ir.turns import LongTurnsError, merged, shortest, split

ROUNDS = 60
"""Pages that are moved one by one: as many as any period below, several times over."""


@st.composite
def turns_of(draw, most: int = 3) -> tuple[int, ...]:
    """Turns in which each of some ports has one at least."""
    ports = draw(st.integers(1, most))
    turns = [*range(ports), *draw(st.lists(st.integers(0, ports - 1), max_size=3))]
    return tuple(draw(st.permutations(turns)))


streams = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(tuple)


def repeated(items: tuple[str, ...], count: int) -> list[str]:
    return [items[page % len(items)] for page in range(count)]


@given(turns=turns_of(), data=st.data())
def test_a_merge_takes_the_pages_of_its_inputs_in_turns(turns, data):
    inputs = [data.draw(streams) for _ in range(max(turns) + 1)]
    waiting = [iter(repeated(items, ROUNDS * len(turns))) for items in inputs]
    moved = [next(waiting[turn]) for _ in range(ROUNDS) for turn in turns]
    assert repeated(merged(turns, inputs), len(moved)) == moved


@given(turns=turns_of(), items=streams)
def test_a_split_puts_pages_into_its_outputs_in_turns(turns, items):
    outputs = [[] for _ in range(max(turns) + 1)]
    pages = iter(repeated(items, ROUNDS * len(turns)))
    for _ in range(ROUNDS):
        for turn in turns:
            outputs[turn].append(next(pages))
    for found, moved in zip(split(turns, items, len(outputs)), outputs, strict=True):
        assert repeated(found, len(moved)) == moved


@given(turns=turns_of(), data=st.data())
def test_a_split_undoes_a_merge_with_the_same_turns(turns, data):
    inputs = [data.draw(streams) for _ in range(max(turns) + 1)]
    assert split(turns, merged(turns, inputs), len(inputs)) == [*map(shortest, inputs)]


@given(st.lists(st.sampled_from("ab"), min_size=1, max_size=12).map(tuple))
def test_no_shorter_period_repeats_as_a_stream_does(items):
    found = shortest(items)
    assert repeated(found, len(items)) == [*items]
    assert len(items) % len(found) == 0
    shorter = [n for n in range(1, len(found)) if len(items) % n == 0]
    assert all(repeated(items[:n], len(items)) != [*items] for n in shorter)


def test_what_repeats_after_too_many_pages_is_not_followed():
    half = TURNS // 2
    mixed = (0, *[1] * half)
    with pytest.raises(LongTurnsError):
        merged(mixed, [("a", "b"), ("c",) * 3 + ("d",)])
    with pytest.raises(LongTurnsError):
        split(mixed, ("a", "b"), 2)
