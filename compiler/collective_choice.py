"""The choice of an algorithm: every one that the machine can carry, by predicted cycles."""

from dataclasses import dataclass, replace

from compiler.collective_spec import CollectiveSpec
from compiler.errors import ShardwrightError
from compiler.ir.program import Program
from compiler.passes.page_ways import HOPS
from compiler.pipeline import compile_collective
from compiler.targets import Target


@dataclass(frozen=True)
class Choice:
    """What an algorithm would take: its program, or why there is none."""

    algorithm: str
    program: Program | None = None
    refusal: ShardwrightError | None = None

    @property
    def cycles(self) -> int | None:
        """Predicted cycles, if there is a program."""
        if self.program is None or self.program.schedule is None:
            return None
        return self.program.schedule.cycles


def choices(spec: CollectiveSpec, target: Target) -> list[Choice]:
    """Every algorithm for a collective, the fastest first, those that are refused last.

    Of those that take as long as each other, the one with the fewest links comes first. The
    algorithm of ``spec`` says nothing.
    """
    found: list[Choice] = []
    for algorithm in HOPS:
        try:
            program = compile_collective(replace(spec, algorithm=algorithm), target)
            found.append(Choice(algorithm, program))
        except ShardwrightError as refusal:
            found.append(Choice(algorithm, refusal=refusal))
    return sorted(found, key=_rank)


def fastest(spec: CollectiveSpec, target: Target) -> Program:
    """The program of the algorithm that is predicted to take the fewest cycles.

    Raises
    ------
    ShardwrightError
        What speaks against the last algorithm, if all are refused.
    """
    best = choices(spec, target)[0]
    if best.program is None:
        assert best.refusal is not None
        raise best.refusal
    return best.program


def _rank(choice: Choice) -> tuple[bool, int, int]:
    if choice.program is None or choice.cycles is None:
        return True, 0, 0
    return False, choice.cycles, len(choice.program.links)
