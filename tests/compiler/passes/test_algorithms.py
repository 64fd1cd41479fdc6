"""A spanning tree brings every chip's partial sum home, exactly once."""

import pytest

from compiler.passes.algorithms import star, tree

COUNTS = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 31, 64]


@pytest.mark.parametrize("algorithm", [star, tree])
@pytest.mark.parametrize("chips", COUNTS)
def test_what_comes_home_is_every_contribution_once(algorithm, chips):
    assert algorithm(chips).contributions()[0] == tuple(range(chips))


@pytest.mark.parametrize("algorithm", [star, tree])
@pytest.mark.parametrize("chips", COUNTS)
def test_every_chip_but_the_home_sends_once(algorithm, chips):
    plan = algorithm(chips)
    assert plan.parent[0] is None
    senders = [child for children in plan.children for child in children]
    assert sorted(senders) == list(range(1, chips))
    for chip in range(chips):
        for child in plan.children[chip]:
            assert plan.parent[child] == chip


@pytest.mark.parametrize("chips", COUNTS)
def test_in_a_star_all_send_home(chips):
    assert star(chips).children == (tuple(range(1, chips)), *[()] * (chips - 1))


@pytest.mark.parametrize("chips", COUNTS)
def test_a_tree_is_as_deep_as_the_number_of_its_halvings(chips):
    """Combining pairs at distance 1, 2, 4, ... one level at a time gives the same parents."""
    plan = tree(chips)
    alive, parents, distance = list(range(chips)), {}, 1
    while len(alive) > 1:
        for chip in alive:
            if chip % (2 * distance):
                parents[chip] = chip - distance
        alive = [chip for chip in alive if chip not in parents]
        distance *= 2
    assert {chip: plan.parent[chip] for chip in range(1, chips)} == parents
    deepest = max(bin(chip).count("1") for chip in range(chips))
    assert max(len(path_home(plan, chip)) for chip in range(chips)) == deepest


def path_home(plan, chip: int) -> list[int]:
    path = []
    while plan.parent[chip] is not None:
        chip = plan.parent[chip]
        path.append(chip)
    return path


@pytest.mark.parametrize("chips", COUNTS)
def test_a_chip_of_a_tree_adds_its_nearest_partner_first(chips):
    for chip, children in enumerate(tree(chips).children):
        distances = [child - chip for child in children]
        assert distances == [1 << level for level in range(len(distances))]


def test_the_sum_over_a_power_of_two_is_balanced():
    def added(chip: int) -> str:
        text = str(chip)
        for child in tree(8).children[chip]:
            text = f"({text} + {added(child)})"
        return text

    assert added(0) == "(((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)))"


@pytest.mark.parametrize("algorithm", [star, tree])
@pytest.mark.parametrize("chips", COUNTS)
def test_what_leaves_a_chip_is_its_own_contribution_and_all_that_it_takes(algorithm, chips):
    plan = algorithm(chips)
    held = plan.contributions()
    for chip, children in enumerate(plan.children):
        taken = [index for child in children for index in held[child]]
        assert held[chip] == tuple(sorted([chip, *taken]))
        assert len(set(held[chip])) == 1 + len(taken)


@pytest.mark.parametrize("algorithm", [star, tree])
@pytest.mark.parametrize("chips", COUNTS)
def test_every_chip_comes_behind_those_that_send_to_it(algorithm, chips):
    plan = algorithm(chips)
    order = plan.from_the_leaves()
    assert sorted(order) == list(range(chips))
    for chip, children in enumerate(plan.children):
        assert all(order.index(child) < order.index(chip) for child in children)
