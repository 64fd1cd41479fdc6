"""Which of a test's cases every run takes, and which are left to the slow tier.

A test over a grid of parameters says ``@pytest.mark.covers("values")``, or ``"pairs"``. The points
that hold, between them, each value of each parameter, or each pair of values of two parameters,
stay as they are; all others are marked ``slow``.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import pytest
from _pytest.mark import ParameterSet

TOGETHER = {"values": 1, "pairs": 2}
"""How many parameters' values must have met, by what a test says that it covers."""


def chosen(
    cases: Iterable[Any], every_run: Collection[Any], *, ids: Callable[[Any], str] = str
) -> list[ParameterSet]:
    """Parameters of which those that are not among the ones for every run are ``slow``."""
    cases = list(cases)
    unknown = [case for case in every_run if case not in cases]
    assert not unknown, f"{unknown} are no cases"
    return [
        pytest.param(case, id=ids(case), marks=() if case in every_run else pytest.mark.slow)
        for case in cases
    ]


def cover(points: Sequence[Mapping[str, int]], together: int) -> set[int]:
    """Indices of a few points in which all values of ``together`` parameters meet that ever do.

    Takes the point that brings most, then the one that brings most of what is left, and so on;
    among equals the one whose values were taken least, so that values have equal shares.
    """
    holds = [set(combinations(sorted(point.items()), together)) for point in points]
    left = set().union(*holds)
    uses: Counter[tuple[str, int]] = Counter()
    taken: set[int] = set()

    def worth(index: int) -> tuple[int, int]:
        return len(holds[index] & left), -sum(uses[value] for value in points[index].items())

    while left:
        best = max(range(len(points)), key=worth)
        taken.add(best)
        left -= holds[best]
        uses.update(points[best].items())
    return taken


def leave_to_slow_tier(items: Iterable[pytest.Item]) -> None:
    """Mark the points of every grid ``slow`` but for those that cover it."""
    grids: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("covers"):
            grids.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for grid in grids.values():
        (what,) = grid[0].get_closest_marker("covers").args
        # Not every value has a hash; points share what they share.
        points = [{name: id(v) for name, v in item.callspec.params.items()} for item in grid]
        taken = cover(points, TOGETHER[what])
        for index, item in enumerate(grid):
            if index not in taken:
                item.add_marker(pytest.mark.slow)
