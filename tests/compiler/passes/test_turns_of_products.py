"""Turns of pages: every link has one order, in which nothing waits for what waits for it."""

from collections import defaultdict

import pytest

from compiler.passes.page_turns import Pace, Sent, turns_of_products
from compiler.passes.page_ways import PageWay, page_way

PACES = [Pace(8, 6, 4), Pace(2, 20, 16), Pace(64, 6, 2), Pace(1, 1, 1)]


def ring(count: int, owner: int, *, to_all: bool) -> PageWay:
    receivers = range(count) if to_all else (owner,)
    return page_way("ring", count, owner, receivers, summed=True)


def turns_of(ways: list[PageWay], pace: Pace) -> dict[tuple[int, int], list[Sent]]:
    return turns_of_products(ways, pace).links


OWNERS = {
    "in turn": lambda count: [page % count for page in range(3 * count)],
    "at home": lambda _: [0] * 4,
    "in blocks": lambda count: [page // 3 for page in range(3 * count)],
}
CASES = [
    pytest.param(
        [ring(count, owner, to_all=to_all) for owner in owners(count)], id=f"{count} {name}"
    )
    for count in (2, 3, 5, 8)
    for name, owners in OWNERS.items()
    for to_all in (False, True)
]
each_case = pytest.mark.parametrize("ways", CASES)
each_pace = pytest.mark.parametrize("pace", PACES)


def expected(ways: list[PageWay]) -> dict[tuple[int, int], set[Sent]]:
    """All that has to pass over each link."""
    links: defaultdict[tuple[int, int], set[Sent]] = defaultdict(set)
    for number, way in enumerate(ways):
        for chip, to in enumerate(way.sends_to):
            if to is not None:
                links[chip, to].add(Sent(number, whole=False))
            for other in way.copies_to[chip]:
                links[chip, other].add(Sent(number, whole=True))
    return links


@each_case
@each_pace
def test_every_sum_and_every_whole_passes_once(ways, pace):
    turns = turns_of(ways, pace)
    assert {link: set(sent) for link, sent in turns.items()} == expected(ways)
    assert all(len(set(sent)) == len(sent) for sent in turns.values())


@each_case
@each_pace
def test_sums_pass_in_the_order_of_pages_and_so_do_wholes(ways, pace):
    for sent in turns_of(ways, pace).values():
        for whole in (False, True):
            pages = [each.page for each in sent if each.whole is whole]
            assert pages == sorted(pages)


def unsent(ways: list[PageWay], turns: dict[tuple[int, int], list[Sent]]) -> set:
    """What is never sent by chips that each send in their turns what they have, and no more.

    A chip has its products from the start: what it waits for are the pages of others.
    """
    left = {link: list(sent) for link, sent in turns.items()}
    come: set[tuple[int, int, Sent]] = set()

    def has(chip: int, page: Sent) -> bool:
        way = ways[page.page]
        if page.whole and chip != way.owner:
            return any((source, chip, page) in come for source in range(len(way.sends_to)))
        sums = Sent(page.page, whole=False)
        return all((other, chip, sums) in come for other in way.takes_from[chip])

    moved = True
    while moved:
        moved = False
        for (source, to), sent in left.items():
            while sent and has(source, sent[0]):
                come.add((source, to, sent.pop(0)))
                moved = True
    return {(link, page) for link, sent in left.items() for page in sent}


@each_case
@each_pace
def test_all_that_chips_send_in_their_turns_gets_where_it_is_to_be(ways, pace):
    assert unsent(ways, turns_of(ways, pace)) == set()


def test_turns_that_are_exchanged_can_get_stuck():
    """All three wait for a whole that comes from behind before they send what it is made of."""
    ways = [ring(3, owner, to_all=True) for owner in range(3)]
    turns = turns_of(ways, PACES[0])
    wholes_first = {link: sorted(sent, key=lambda s: not s.whole) for link, sent in turns.items()}
    assert unsent(ways, wholes_first)


def test_a_page_takes_its_turn_when_it_would_be_there():
    """Of two chips' pages, made every 8 cycles, the first is whole before the third is made."""
    ways = [ring(2, page % 2, to_all=True) for page in range(4)]
    turns = turns_of(ways, Pace(result=8, hop=6, page=4))
    assert turns[0, 1] == [
        Sent(0, whole=True), Sent(1, whole=False), Sent(2, whole=True), Sent(3, whole=False)
    ]  # fmt: skip
    slow = turns_of(ways, Pace(result=8, hop=100, page=4))
    assert slow[0, 1] == [
        Sent(1, whole=False), Sent(3, whole=False), Sent(0, whole=True), Sent(2, whole=True)
    ]  # fmt: skip
