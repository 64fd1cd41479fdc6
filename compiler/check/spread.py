"""How a collective spreads over its chips: whether they are the star or the tree that is stated."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Spread:
    """A collective as links of a tree: each of ``children`` is a chip and the one next to the home.

    Sums go from the child, and the whole goes to it.
    """

    name: str
    kind: str
    algorithm: str
    home: int
    children: list[tuple[int, int]]


def check_spread(spread: Spread) -> Iterator[str]:
    """Every chip but the home takes part once, all are joined to the home, and as is stated."""
    does, what = ("sends", "sums") if spread.kind == "reduce" else ("receives", "copies")
    for chip, count in sorted(Counter(child for child, _ in spread.children).items()):
        most = 0 if chip == spread.home else 1
        if count > most:
            yield f"{spread.name}: chip {chip} {does} {count} {what}, and may {does[:-1]} {most}"
    parent = dict(spread.children)
    distance, lost = _distances(spread.home, parent)
    if lost:
        listed = ", ".join(map(str, sorted(lost)))
        yield (
            f"{spread.name}: the sums of chips {listed} do not come to chip {spread.home}"
            if spread.kind == "reduce"
            else f"{spread.name}: what chips {listed} receive does not come from chip {spread.home}"
        )
    yield from _algorithm(spread, parent, max(distance.values(), default=0))


def _distances(home: int, parent: dict[int, int]) -> tuple[dict[int, int], set[int]]:
    """Links between each chip and the home, and the chips of a way that does not lead there."""
    distance = {home: 0}
    for chip in parent:
        way: dict[int, None] = {}
        while chip in parent and chip not in distance and chip not in way:
            way[chip] = None
            chip = parent[chip]
        if chip not in distance:
            return distance, {*way}
        for passed in reversed(way):
            distance[passed] = distance[parent[passed]] + 1
    return distance, set()


def _algorithm(spread: Spread, parent: dict[int, int], furthest: int) -> Iterator[str]:
    """Whether what is passed goes from chip to chip as the algorithm says."""
    most = _most(parent.values())
    levels = len(parent).bit_length()
    match spread.algorithm:
        case "star":
            fits = furthest <= 1
        case "tree":
            fits = most <= levels and furthest <= levels
        case _:
            verb = "reduces" if spread.kind == "reduce" else "broadcasts"
            yield f"{spread.name} {verb} by {spread.algorithm!r}, which is not known"
            return
    if not fits:
        does, what = ("receives", "sum") if spread.kind == "reduce" else ("sends", "copy")
        several = {"sum": "sums", "copy": "copies"}[what]
        yield (
            f"{spread.name} is said to be a {spread.algorithm} of {len(parent) + 1} chips, but a "
            f"chip {does} {most} {several}, and a {what} passes {furthest} links"
        )


def _most(chips: Iterable[int]) -> int:
    return max(Counter(chips).values(), default=0)
