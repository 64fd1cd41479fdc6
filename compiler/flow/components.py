"""Components: stages that edges join, across chips, and the rounds in which they move pages.

Edges of a barrier join the chips that meet there as well.
"""

from dataclasses import dataclass, field
from math import gcd

from compiler.flow.counts import page_counts
from compiler.flow.order import in_flow_order, sources_of
from compiler.flow.rounds import factor_buffers
from compiler.ir.edge import Barrier
from compiler.ir.program import Program
from compiler.ir.stage import Merge, Split, Stage


@dataclass(frozen=True)
class Component:
    """Stages that edges join. What one of them does, another waits for; other components do not.

    Parameters
    ----------
    stages : tuple of Stage
        In flow order: each behind those that feed it, but for where a circle begins.
    rounds : int
        Rounds of a run. In each of them every turn of a merge or a split comes as often as in any
        other, and a buffer is given the same number of pages.
    share : dict
        Pages that each buffer of sums is given in one round, by its name. It is 1 unless merges
        are there. Operand buffers are not listed: of those, each product says how many pages
        it takes.
    """

    stages: tuple[Stage, ...]
    rounds: int
    share: dict[str, int] = field(hash=False)

    def goes_round(self, program: Program) -> bool:
        """Whether stages feed each other in a circle."""
        filled: set[str] = set()
        for stage in self.stages:
            if not filled.issuperset(sources_of(program, stage)):
                return True
            filled.update(stage.outs)
        return False


def components(program: Program) -> list[Component]:
    """The components of a program, by their first stages in flow order.

    Walks and block counts must be chosen.

    Raises
    ------
    FlowError
        If stages feed each other in a circle, or pages are left over.
    """
    order = in_flow_order(program)
    counts = page_counts(program)
    sums = counts.keys() - factor_buffers(program)
    found: list[Component] = []
    for stages in _joined(program, order):
        # Turns come whole in a round, so a round is at least one pass through each list of turns.
        passes = [counts[name] for stage in stages for name in stage.outs if name in sums]
        passes += [
            counts[name] // max(1, len(stage.kind.turns))
            for stage in stages
            if isinstance(stage.kind, Merge | Split)
            for name in (stage.outs if isinstance(stage.kind, Merge) else stage.ins)
        ]
        rounds = gcd(*passes)
        share = {
            name: counts[name] // rounds if rounds else 1
            for stage in stages
            for name in stage.outs
            if name in sums
        }
        found.append(Component(tuple(stages), rounds, share))
    return found


def _joined(program: Program, order: list[Stage]) -> list[list[Stage]]:
    """Stages in flow order, component by component."""
    above: dict[str, str] = {stage.name: stage.name for stage in order}

    def top(name: str) -> str:
        while above[name] != name:
            above[name] = above[above[name]]
            name = above[name]
        return name

    meeting: dict[Barrier, str] = {}
    for edge in program.edges:
        above[top(edge.source)] = top(edge.destination)
        if isinstance(edge.handoff, Barrier):
            other = meeting.setdefault(edge.handoff, edge.destination)
            above[top(edge.destination)] = top(other)
    groups: dict[str, list[Stage]] = {}
    for stage in order:
        groups.setdefault(top(stage.name), []).append(stage)
    return list(groups.values())
