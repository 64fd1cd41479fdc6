"""Stalls: what keeps the pages of a round from passing with buffers of some depths.

Pages pass in whatever order they can; which of them pass in the end does not depend on it. Every
buffer is empty between two rounds, so if one round comes to its end, all can.
"""

from collections import deque
from collections.abc import Mapping

from compiler.flow.rounds import Pass, Round, round_of
from compiler.ir.program import Program


def full_buffers(program: Program, depths: Mapping[str, int]) -> list[str]:
    """Buffers without room for a page that nobody makes room for; none if all pages can pass.

    Parameters
    ----------
    depths : mapping
        Pages that fit into each buffer, by its name; those that are not there take any number.

    Raises
    ------
    FlowError
        If the program has no rounds.
    """
    around = round_of(program)
    left = _by_stage(around)
    there: set[tuple[str, int]] = set()
    held: dict[str, int] = {}

    def has_room(name: str) -> bool:
        return name not in depths or held.get(name, 0) < depths[name]

    moved = True
    while moved:
        moved = False
        for passes in left:
            while passes:
                each = passes[0]
                if not there.issuperset(each.takes) or not all(has_room(n) for n, _ in each.fills):
                    break
                passes.popleft()
                moved = True
                for place in each.takes:
                    held[place[0]] -= 1
                for place in each.fills:
                    held[place[0]] = held.get(place[0], 0) + 1
                    there.add(place)
    waiting = (passes[0] for passes in left if passes)
    return [
        name
        for each in waiting
        if there.issuperset(each.takes)
        for name, _ in each.fills
        if not has_room(name)
    ]


def _by_stage(around: Round) -> list[deque[Pass]]:
    """The passes of each stage in order."""
    found: dict[str, deque[Pass]] = {}
    for each in around.passes:
        found.setdefault(each.stage.name, deque()).append(each)
    return list(found.values())
