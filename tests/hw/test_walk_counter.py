# amaranth: UnusedElaboratable=no
import itertools
import random

import pytest

from compiler.ir.walk import Loop, Walk
from hw.walk_counter import WalkCounter
from tests.hw.simulation import simulate

WALKS = {
    "no loop": [],
    "one page": [(1, 4)],
    "in order": [(6, 1)],
    "every page three times": [(5, 1), (3, 0)],
    "all pages three times": [(3, 0), (5, 1)],
    "by columns": [(4, 1), (3, 4)],
    "a block of a matrix": [(2, 8), (3, 2), (2, 1)],
    "gaps": [(3, 5)],
    "a loop of one step back": [(1, -7), (4, 2)],
}


@pytest.mark.parametrize("density", [0.3, 1.0])
@pytest.mark.parametrize("page_beats", [1, 3, 4])
@pytest.mark.parametrize("loops", WALKS.values(), ids=WALKS.keys())
def test_visits_the_words_of_each_page_in_order_and_starts_over(loops, page_beats, density):
    check(loops, page_beats=page_beats, density=density, seed=f"{loops}/{page_beats}/{density}")


@pytest.mark.parametrize("seed", range(12))
def test_visits_random_walks(seed):
    rng = random.Random(seed)
    loops = [(rng.randint(1, 4), rng.randint(0, 9)) for _ in range(rng.randint(1, 4))]
    check(
        loops, page_beats=rng.randint(1, 5), density=0.7, seed=seed, spare_words=rng.randint(0, 9)
    )


LISTS = {
    "a list alone": ([], (2, 0, 3, 1)),
    "one page of a list": ([], (5,)),
    "a list in each round": ([(3, 4)], (2, 0, 3, 1)),
    "a list that begins late": ([(2, 3), (2, 7)], (1, 2, 0)),
    "a list that a loop would tell": ([(2, 8)], (0, 2, 4, 6)),
    "steps down and up": ([(4, 1)], (12, 0, 8, 4)),
    "the same page again": ([(2, 1)], (1, 1, 0)),
    "loops that go back": ([(3, -2)], (5, 4)),
}


@pytest.mark.covers("values")
@pytest.mark.parametrize("density", [0.3, 1.0])
@pytest.mark.parametrize("page_beats", [1, 3, 4])
@pytest.mark.parametrize("name", LISTS)
def test_visits_the_listed_pages_in_each_round_of_the_loops(name, page_beats, density):
    loops, order = LISTS[name]
    check(loops, page_beats=page_beats, density=density, seed=f"{name}", order=order)


@pytest.mark.parametrize("seed", range(8))
def test_visits_random_lists(seed):
    rng = random.Random(f"list {seed}")
    loops = [(rng.randint(1, 3), rng.randint(0, 9)) for _ in range(rng.randint(0, 3))]
    order = tuple(rng.randint(0, 20) for _ in range(rng.randint(1, 9)))
    check(loops, page_beats=rng.randint(1, 5), density=0.7, seed=seed, order=order)


def check(loops, *, page_beats, density, seed, spare_words=0, order=()):
    """Step at random through three rounds, comparing every cycle."""
    rng = random.Random(seed)
    pages = [page + offset for page in pages_of(loops) for offset in order or (0,)]
    addresses = [page * page_beats + beat for page in pages for beat in range(page_beats)]
    dut = WalkCounter(
        walk_of(loops, order), page_beats=page_beats, depth_words=max(addresses) + 1 + spare_words
    )

    async def step(ctx):
        for index, address in enumerate(3 * addresses):
            is_last = (index + 1) % len(addresses) == 0
            moves = False
            while not moves:
                moves = rng.random() < density
                ctx.set(dut.step, moves)
                _, _, at, at_last = await ctx.tick().sample(dut.address, dut.last)
                assert (at, at_last) == (address, is_last)

    simulate(dut, step)


@pytest.mark.parametrize(
    ("loops", "page_beats", "depth_words", "text"),
    [
        ([(4, 1)], 3, 11, "11 words, not visit pages 0 to 3 of 3 words: 4x+1"),
        ([(2, 5), (3, 2)], 1, 9, "9 words, not visit pages 0 to 9 of 1 words: 2x+5 3x+2"),
        ([], 4, 3, "3 words, not visit pages 0 to 0 of 4 words: "),
        ([(3, 4), (2, -1)], 2, 99, "99 words, not visit pages -1 to 8 of 2 words: 3x+4 2x-1"),
    ],
)
def test_refuses_a_walk_that_leaves_the_memory(loops, page_beats, depth_words, text):
    with pytest.raises(ValueError, match="Walk") as error:
        WalkCounter(walk_of(loops), page_beats=page_beats, depth_words=depth_words)
    assert str(error.value) == f"Walk must stay within the memory's {text}"


@pytest.mark.parametrize(
    ("loops", "page_beats", "depth_words", "text"),
    [
        ([(2, 1)], 0, 8, "Page beats must be a positive integer, not 0"),
        ([(2, 1)], 4, 8.0, "Depth in words must be a positive integer, not 8.0"),
        ([(2, 1), (0, 1)], 4, 8, "Loop count must be a positive integer, not 0"),
    ],
)
def test_refuses_counts_that_are_not_positive(loops, page_beats, depth_words, text):
    with pytest.raises(TypeError) as error:
        WalkCounter(walk_of(loops), page_beats=page_beats, depth_words=depth_words)
    assert str(error.value) == text


@pytest.mark.parametrize(
    ("order", "text"),
    [
        ((0, 4), "12 words, not visit pages 0 to 4 of 3 words: 2x+0 [0,4]"),
        ((1, -1), "12 words, not visit pages -1 to 1 of 3 words: 2x+0 [1,-1]"),
    ],
)
def test_refuses_a_list_that_leaves_the_memory(order, text):
    with pytest.raises(ValueError, match="Walk") as error:
        WalkCounter(walk_of([(2, 0)], order), page_beats=3, depth_words=12)
    assert str(error.value) == f"Walk must stay within the memory's {text}"


def walk_of(loops, order=()) -> Walk:
    return Walk(tuple(Loop(count, stride) for count, stride in loops), order)


def pages_of(loops) -> list[int]:
    """Every combination of the loops' steps, the last loop fastest."""
    return [
        sum(step * stride for step, (_, stride) in zip(steps, loops, strict=True))
        for steps in itertools.product(*(range(count) for count, _ in loops))
    ]
