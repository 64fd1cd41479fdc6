"""Ways of pages: all sums of a page come to its owner once, and the whole to all who keep it."""

import pytest

from compiler.passes.page_ways import HOPS, PageWay, page_way


def ring(count: int, owner: int, *, to_all: bool) -> PageWay:
    receivers = range(count) if to_all else (owner,)
    return page_way("ring", count, owner, receivers, summed=True)


COUNTS = [2, 3, 5, 8, 16]
every_ring = [
    pytest.param(ring(count, owner, to_all=to_all), count, owner, to_all, id=f"{count} {owner}")
    for count in COUNTS
    for owner in (0, 1, count - 1)
    for to_all in (False, True)
]
each_ring = pytest.mark.parametrize(("way", "count", "owner", "to_all"), every_ring)


@each_ring
def test_sums_go_round_from_the_one_behind_the_owner_to_it(way, count, owner, to_all):
    chip, passed = (owner + 1) % count, []
    while way.sends_to[chip] is not None:
        passed.append(chip)
        assert way.sends_to[chip] == (chip + 1) % count
        chip = way.sends_to[chip]
    assert chip == way.owner == owner
    assert sorted([*passed, owner]) == list(range(count))


@each_ring
def test_each_sum_adds_one_more_contribution_and_the_owners_all(way, count, owner, to_all):
    for steps in range(count):
        chip = (owner + 1 + steps) % count
        held = {(owner + 1 + step) % count for step in range(steps + 1)}
        assert way.contributions[chip] == held
    assert way.contributions[owner] == set(range(count))


@each_ring
def test_the_whole_comes_once_to_each_other_chip_if_to_any(way, count, owner, to_all):
    copies = [to for ends in way.copies_to for to in ends]
    assert sorted(copies) == [chip for chip in range(count) if to_all and chip != owner]
    assert way.keeps == tuple(to_all or chip == owner for chip in range(count))
    for chip, ends in enumerate(way.copies_to):
        assert {*ends} <= {(chip + 1) % count}


@each_ring
def test_each_index_stands_behind_those_whose_sums_it_takes(way, count, owner, to_all):
    order = way.from_the_first
    assert sorted(order) == list(range(count))
    for index in order:
        assert all(order.index(other) < order.index(index) for other in way.takes_from[index])


def test_a_way_need_not_be_a_ring():
    """Three chips send to the second, which passes the whole to two of them."""
    way = PageWay(
        owner=1,
        sends_to=(1, None, 1, 0),
        copies_to=((), (0, 2), (), ()),
        keeps=(True, True, True, False),
    )
    assert [way.takes_from[index] for index in range(4)] == [(3,), (0, 2), (), ()]
    assert way.contributions == ({0, 3}, {0, 1, 2, 3}, {2}, {3})
    assert way.from_the_first[-1] == 1


COMBINED = [(algorithm, count) for algorithm in HOPS for count in (2, 3, 4, 7, 8)]


@pytest.mark.parametrize(("algorithm", "count"), COMBINED)
def test_every_algorithm_brings_all_to_each_owner_and_back(algorithm, count):
    for owner in range(count):
        way = page_way(algorithm, count, owner, range(count), summed=True)
        assert way.contributions[owner] == set(range(count))
        assert sorted(way.from_the_first) == list(range(count))
        copies = [to for ends in way.copies_to for to in ends]
        assert sorted(copies) == [chip for chip in range(count) if chip != owner]


@pytest.mark.parametrize(("algorithm", "count"), COMBINED)
def test_what_is_only_moved_passes_none_but_those_on_the_way(algorithm, count):
    for owner in range(count):
        for receiver in range(count):
            way = page_way(algorithm, count, owner, (receiver,), summed=False)
            assert way.sends_to == (None,) * count
            assert way.keeps == tuple(chip == receiver for chip in range(count))
            chip, steps = owner, 0
            while chip != receiver:
                (chip,) = way.copies_to[chip]
                steps += 1
            assert steps == sum(map(len, way.copies_to))
            bound = {"star": 1, "tree": (count - 1).bit_length(), "ring-both-ways": count // 2}
            assert steps <= bound.get(algorithm, count - 1)
