"""Turns of pages: each passes every hop of its way once, and nothing waits in a circle."""

from collections import Counter, deque
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.passes.page_turns import Pace, Sent, Turns, turns_of_loads, turns_of_products
from compiler.passes.page_ways import HOPS, PageWay, page_way

PACE = Pace(result=0, hop=14, page=4)


@st.composite
def ways(draw) -> list[PageWay]:
    """Pages of one collective: of any owners, to one or some or all."""
    count = draw(st.integers(2, 9))
    algorithm = draw(st.sampled_from(sorted(HOPS)))
    summed = draw(st.booleans())
    chips = st.integers(0, count - 1)
    receivers = draw(st.sampled_from(["owner", "all", "any"]))
    found = []
    for owner in draw(st.lists(chips, min_size=1, max_size=12)):
        to = {"owner": {owner}, "all": range(count), "any": draw(st.sets(chips, min_size=1))}
        found.append(page_way(algorithm, count, owner, to[receivers], summed=summed))
    return found


paces = st.builds(Pace, result=st.just(0), hop=st.integers(1, 40), page=st.integers(1, 9))


def hops(pages: Sequence[PageWay]) -> Counter[tuple[int, int, Sent]]:
    """Every hop of every page, as its way says."""
    found = Counter[tuple[int, int, Sent]]()
    for number, way in enumerate(pages):
        for index, to in enumerate(way.sends_to):
            if to is not None:
                found[index, to, Sent(number, whole=False)] += 1
            for receiver in way.copies_to[index]:
                found[index, receiver, Sent(number, whole=True)] += 1
    return found


def left_waiting(pages: Sequence[PageWay], turns: Turns) -> list[str]:
    """What never comes to pass if every chip keeps to its turns, and has room for all pages."""
    links = {link: deque(sent) for link, sent in turns.links.items()}
    own = [deque(numbers) for numbers in turns.own]
    kept = [deque(numbers) for numbers in turns.kept]
    arrived = Counter[tuple[int, int]]()
    sums: set[tuple[int, int]] = set()
    wholes: set[tuple[int, int]] = set()
    moves = True
    while moves:
        moves = False
        for index, numbers in enumerate(own):
            if numbers:
                page = numbers[0], index
                if arrived[page] == len(pages[page[0]].takes_from[index]):
                    moves = bool(numbers.popleft() + 1)
                    (wholes if pages[page[0]].owner == index else sums).add(page)
        for (source, to), sent in links.items():
            if sent and (sent[0].page, source) in (wholes if sent[0].whole else sums):
                page, moves = sent.popleft(), True
                if page.whole:
                    wholes.add((page.page, to))
                else:
                    arrived[page.page, to] += 1
        for index, numbers in enumerate(kept):
            if numbers and (numbers[0], index) in wholes:
                moves = bool(numbers.popleft() + 1)
    return [
        *(f"{link}: {sent[0]}" for link, sent in links.items() if sent),
        *(f"own of {index}: {numbers[0]}" for index, numbers in enumerate(own) if numbers),
        *(f"kept by {index}: {numbers[0]}" for index, numbers in enumerate(kept) if numbers),
    ]


@given(pages=ways(), pace=paces)
def test_every_page_passes_each_hop_of_its_way_once(pages, pace):
    turns = turns_of_loads(pages, pace)
    passed = Counter((*link, sent) for link, sents in turns.links.items() for sent in sents)
    assert passed == hops(pages)


@given(pages=ways(), pace=paces)
def test_own_and_kept_are_all_that_a_chip_gives_and_keeps_each_once(pages, pace):
    turns = turns_of_loads(pages, pace)
    for index in range(len(pages[0].keeps)):
        numbers = range(len(pages))
        assert sorted(turns.own[index]) == [n for n in numbers if pages[n].gives(index)]
        assert sorted(turns.kept[index]) == [n for n in numbers if pages[n].keeps[index]]


@given(pages=ways(), pace=paces)
def test_nothing_waits_for_what_waits_for_it(pages, pace):
    assert left_waiting(pages, turns_of_loads(pages, pace)) == []


@given(pages=ways(), pace=paces)
def test_the_same_pages_have_the_same_turns(pages, pace):
    assert turns_of_loads(pages, pace) == turns_of_loads(pages, pace)


def test_what_waits_in_a_circle_is_found():
    """Two links that each send first what takes what the other one sends second."""
    pages = [page_way("ring", 2, owner, range(2), summed=True) for owner in (0, 1)]
    turns = turns_of_loads(pages, PACE)
    assert left_waiting(pages, turns) == []
    wrong = {link: sent[::-1] for link, sent in turns.links.items()}
    waiting = left_waiting(pages, Turns(wrong, turns.own, turns.kept))
    assert {"(0, 1): Sent(page=0, whole=True)", "(1, 0): Sent(page=1, whole=True)"} <= {*waiting}


@pytest.mark.parametrize("count", [2, 3, 5, 8])
def test_a_ring_sends_what_it_has_longest(count):
    """One page of each owner: every link passes each sum, and then each whole, in turn."""
    pages = [page_way("ring", count, owner, range(count), summed=True) for owner in range(count)]
    turns = turns_of_loads(pages, PACE)
    for index in range(count):
        sent = turns.links[index, (index + 1) % count]
        assert len(sent) == 2 * (count - 1)
        assert [each.whole for each in sent] == [False] * (count - 1) + [True] * (count - 1)
        # First the page whose owner is furthest: it has the longest way to go.
        first = [each.page for each in sent if not each.whole]
        assert first == [(index - 1 - step) % count for step in range(count - 1)]


@pytest.mark.parametrize("algorithm", sorted(HOPS))
def test_pages_that_are_made_in_order_are_brought_in_so(algorithm):
    pages = [page_way(algorithm, 4, owner, range(4), summed=True) for owner in (0, 1, 2, 3)]
    turns = turns_of_products(pages, Pace(result=6, hop=14, page=4))
    assert turns.own == (tuple(range(4)),) * 4
    assert left_waiting(pages, turns) == []
