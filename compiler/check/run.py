"""The token graph of a whole program: every component, run once for those that are alike."""

from dataclasses import dataclass
from functools import cached_property
from weakref import ref

from compiler.check.token_run import TokenRun
from compiler.check.unbounded_run import unbounded_end
from compiler.flow.alike import alike
from compiler.flow.components import Component, components
from compiler.ir.program import Program


@dataclass(frozen=True)
class ProgramRun:
    """A run of all components: by group of those that are alike, the run of its first one."""

    program: Program
    groups: tuple[tuple[Component, ...], ...]
    runs: tuple[TokenRun, ...]

    @property
    def end(self) -> int:
        """The cycle in which the last beat is stored."""
        return max(run.end for run in self.runs)

    @cached_property
    def unbounded_end(self) -> int:
        """The same with room for every page."""
        return max(self._unbounded_ends)

    @cached_property
    def _unbounded_ends(self) -> tuple[int, ...]:
        """The same of each group."""
        return tuple(unbounded_end(self.program, group[0]) for group in self.groups)

    @property
    def pages_run(self) -> int:
        """The most rounds of a component that were run one by one."""
        return max(run.rounds_run for run in self.runs)

    @property
    def stuck(self) -> tuple[str, ...]:
        """Who waits for what, where nobody can go on."""
        return tuple(run.stuck for run in self.runs if run.stuck)

    @property
    def waited(self) -> tuple[str, ...]:
        """Buffers whose room was waited for, in components that end late for that."""
        late = (
            run for run, end in zip(self.runs, self._unbounded_ends, strict=True) if run.end > end
        )
        return tuple(name for run in late for name in run.waited)

    @cached_property
    def sent(self) -> dict[str, tuple[int, int]]:
        """Cycles of the first and the last beat of each stage."""
        sent: dict[str, tuple[int, int]] = {}
        for run, group in zip(self.runs, self.groups, strict=True):
            names = [stage.name for stage in group[0].stages]
            for part in group:
                for stage, like in zip(part.stages, names, strict=True):
                    sent[stage.name] = run.sent[like]
        return sent


_last: list[tuple[ref[Program], ProgramRun]] = []


def run_of(program: Program) -> ProgramRun:
    """The run of a program. The last one is kept: two obligations ask for it.

    Raises
    ------
    FlowError
        If pages do not come out even.
    """
    if _last and _last[0][0]() is program:
        return _last[0][1]
    groups = tuple(map(tuple, alike(program, components(program))))
    run = ProgramRun(program, groups, tuple(TokenRun(program, g[0]).run() for g in groups))
    _last[:] = [(ref(program), run)]
    return run
