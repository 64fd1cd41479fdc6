"""Streams in closed form are what they are for each round, beat by beat."""

import random

import pytest

from compiler.check.beat_lines import BeatLines

ROUNDS = 60


def random_stream(rng: random.Random, size: int) -> BeatLines:
    return BeatLines((), {rng.randint(1, 20): tuple(sorted(rng.sample(range(60), size)))})


def beats_of(stream: BeatLines) -> list[int]:
    return [cycle for number in range(ROUNDS) for cycle in stream.round(number)]


def spaced(cycles: list[int], gap: int) -> list[int]:
    passed: list[int] = []
    for ready in cycles:
        passed.append(max(ready, passed[-1] + gap) if passed else ready)
    return passed


@pytest.mark.parametrize("seed", range(30))
def test_spacing_and_joining(seed):
    rng = random.Random(seed)
    tile = rng.choice([1, 2, 4])
    streams = [random_stream(rng, tile) for _ in range(3)]
    gaps = [rng.randint(1, 6) for _ in range(3)]
    one, two, three = (
        stream.spaced(gap).later(gap) for stream, gap in zip(streams, gaps, strict=True)
    )
    joined = one.joined(two).spaced(2).joined(three).spaced(gaps[0])
    by_beat = [
        [cycle + gap for cycle in spaced(beats_of(stream), gap)]
        for stream, gap in zip(streams, gaps, strict=True)
    ]
    both = spaced(list(map(max, by_beat[0], by_beat[1])), 2)
    last = spaced(list(map(max, both, by_beat[2])), gaps[0])
    assert beats_of(joined) == last
    assert joined.whole(tile).round(7) == (last[8 * tile - 1],) * tile


@pytest.mark.parametrize("seed", range(30))
def test_merging_and_taking_apart_again(seed):
    """Two streams of unequal rates, put together by turns, spaced, and taken apart."""
    rng = random.Random(seed)
    sizes = [rng.choice([1, 2, 3]) for _ in range(2)]
    streams = [random_stream(rng, size).spaced(rng.randint(1, 3)) for size in sizes]
    order = [0] * sizes[0] + [1] * sizes[1]
    rng.shuffle(order)
    places = {turn: [p for p, t in enumerate(order) if t == turn] for turn in range(2)}
    queues = [iter(beats_of(stream)) for stream in streams]
    merged = [next(queues[turn]) for _ in range(ROUNDS) for turn in order]
    passed = spaced(merged, 2)
    found = BeatLines.merged(streams, places).spaced(2)
    assert beats_of(found) == passed
    for turn in range(2):
        own = [cycle for cycle, of in zip(passed, order * ROUNDS, strict=True) if of == turn]
        assert beats_of(found.at(places[turn])) == own
        again = spaced([cycle + 1 for cycle in own], 5)
        assert beats_of(found.at(places[turn]).later(1).spaced(5)) == again


@pytest.mark.parametrize("tile", [1, 2, 4])
def test_a_whole_page_is_there_with_its_own_last_beat(tile):
    """Not with that of the round, which has several pages."""
    stream = BeatLines((), {100: tuple(range(3 * tile))})
    ends = [page * tile + tile - 1 for page in range(3)]
    assert stream.whole(tile).round(0) == tuple(end for end in ends for _ in range(tile))
