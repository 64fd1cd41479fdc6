"""Which chips a host starts so that every chip starts once."""

from dataclasses import replace
from random import Random

import pytest

from compiler.ir.edge import Link
from compiler.ir.mesh import mesh_of
from compiler.ir.program import Program
from host.errors import StartTwiceError
from host.starts import first_starts
from tests.programs import program_for


def linked(chips: int, *links: tuple[int, int]) -> Program:
    """A program of which nothing but its links is looked at, each from a chip to another."""
    return replace(
        program_for(4, 4, 8),
        mesh=mesh_of(chips),
        links=tuple(Link(f"c{a}->c{b}", a, b, 8, 1) for a, b in links),
    )


@pytest.mark.parametrize(
    ("chips", "links", "started"),
    [
        (1, [], (0,)),
        (3, [], (0, 1, 2)),
        (4, [(1, 0), (2, 0), (3, 2)], (0,)),
        (4, [(0, 1), (1, 2), (2, 3)], (3,)),
        (4, [(1, 0), (3, 2)], (0, 2)),
        (4, [(0, 1), (2, 3)], (1, 3)),
        (4, [(1, 0), (0, 1), (2, 0), (0, 2), (3, 2), (2, 3)], (0,)),
        (4, [(0, 3), (3, 0), (1, 2), (2, 1)], (0, 1)),
        (3, [(1, 0), (2, 1), (1, 2)], (0,)),
    ],
)
def test_a_start_goes_from_a_chip_to_those_that_send_to_it(chips, links, started):
    assert first_starts(linked(chips, *links)) == started


@pytest.mark.parametrize("seed", range(30))
def test_every_chip_starts_and_none_of_the_first_starts_another(seed):
    """Groups of chips, each a tree to a home of its own, some with cables back."""
    rng = Random(seed)
    order = rng.sample(range(12), 12)
    links: list[tuple[int, int]] = []
    homes: set[frozenset[int]] = set()
    while order:
        group = [order.pop() for _ in range(min(len(order), rng.randint(1, 5)))]
        back = rng.random() < 0.5
        for index, chip in enumerate(group[1:], start=1):
            towards = rng.choice(group[:index])
            links += [(chip, towards)] + ([(towards, chip)] if back else [])
        homes.add(frozenset(group if back else group[:1]))
    started = first_starts(linked(12, *rng.sample(links, len(links))))
    assert len(started) == len(homes)
    for home in homes:
        assert len(home & {*started}) == 1


def test_a_long_chain_needs_no_recursion():
    links = [(chip + 1, chip) for chip in range(999)]
    assert first_starts(linked(1000, *links)) == (0,)


def test_a_chip_that_two_of_the_first_would_start_is_refused():
    with pytest.raises(StartTwiceError) as error:
        first_starts(linked(3, (2, 0), (2, 1)))
    assert str(error.value) == (
        "chip 2 sends to what chips 1 and 0 start, which do not start each other, so it would be "
        "started twice; let their results meet on one chip"
    )
