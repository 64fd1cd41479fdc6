"""The steady state: from which round on a run repeats itself, and what the rounds behind it take.

A max-plus system repeats itself in the end. So rounds are timed until they do, and the rest
follows.
"""

from dataclasses import dataclass

import numpy as np

from compiler.flow.components import Component
from compiler.flow.order import sources_of
from compiler.ir.program import Program
from compiler.timing.beat_times import BeatTimes, Cycles
from compiler.timing.model import TimingModel

LEAST_WINDOW = 16
"""Rounds that are timed at first, if the run has as many."""


@dataclass(frozen=True)
class Repetition:
    """Behind the rounds that were timed, each does what the round ``period`` before it did.

    It does so ``cycles`` later.
    """

    period: int
    cycles: int

    def at(self, round: int, timed: Cycles) -> int:
        """The latest cycle of a round, from those of the rounds that were timed, one row each."""
        turns = max(0, -(-(round + 1 - len(timed)) // self.period))
        return int(timed[round - turns * self.period].max()) + turns * self.cycles


@dataclass(frozen=True)
class Followed:
    """The first rounds of a component, and how they go on."""

    part: Component
    model: TimingModel
    repetition: Repetition

    @property
    def times(self) -> BeatTimes:
        """The beats of the rounds that were timed."""
        return self.model.times

    def last(self, cycles: Cycles) -> int:
        """The latest cycle of the last round, from the cycles of pages or beats that were timed."""
        by_round = cycles.reshape(len(self.model.rounds), -1)
        return self.repetition.at(self.part.rounds - 1, by_round)

    @property
    def end(self) -> int:
        """The cycle in which the last beat is stored."""
        return max(map(self.last, self.times.stored.values()))


def follow(program: Program, part: Component) -> Followed:
    """Beat times of the first rounds of a component, and how they go on.

    More and more rounds are timed until all that a round depends on repeats itself: the last beats
    of every stage, link and operation, and the slots that the last rounds have left. Then every
    round behind them does the same, since the rules do not change from round to round.
    """
    rounds = part.rounds
    depths = {name: program.buffer_by_name[name].depth_pages or 0 for name in part.share}
    in_rounds = (-(-depth // part.share[name]) for name, depth in depths.items())
    reach = max((depth for depth in in_rounds if depth < rounds), default=0)
    window = min(rounds, max(LEAST_WINDOW, 2 * reach + 3))
    while True:
        model = TimingModel(program, part, window)
        model.solve()
        repetition = _repetition(model, max(1, reach))
        if repetition is None and window == rounds:
            repetition = Repetition(1, 0)
        if repetition is not None:
            return Followed(part, model, repetition)
        window = min(rounds, 2 * window)


def unbounded_end(program: Program, part: Component, *, interval: int = 0) -> int:
    """The cycle in which the last beat is stored, with room for every page.

    Nothing feeds back then. From some early round on, a beat passes at the latest of a few lines
    over the rounds, so what it can wait for in earlier rounds is in the first ones, or in those
    right before it: one more of each with each stage that spaces beats, and never more than there
    are beats in a round, since each of them waits for a later beat of the round before. That does
    not hold where stages feed each other in a circle: of those, all rounds are timed.
    """
    if part.goes_round(program):
        model = TimingModel(program, part, part.rounds, interval=interval, bounded=False)
        return max(int(cycles[-1]) for cycles in model.solve().stored.values())
    near = min(_longest_way(program, part), program.tile * max(part.share.values())) + 1
    first, last = np.arange(near), np.arange(max(near, part.rounds - near), part.rounds)
    rounds = np.concatenate([first, last])[: part.rounds]
    stored = TimingModel(program, part, rounds, interval=interval, bounded=False).solve().stored
    return max(int(cycles[-1]) for cycles in stored.values())


def _longest_way(program: Program, part: Component) -> int:
    """Stages that a page passes, at the most."""
    passed: dict[str, int] = {}
    for stage in part.stages:
        before = max((passed[name] for name in sources_of(program, stage)), default=0)
        passed |= dict.fromkeys(stage.outs, before + 1)
    return max(passed.values())


def _repetition(model: TimingModel, reach: int) -> Repetition | None:
    """How the last rounds repeat earlier ones, if each depends on ``reach`` rounds before it."""
    moving = [cycles.reshape(len(model.rounds), -1) for cycles in model.moving()]
    by_round = np.concatenate(moving, axis=1)
    clock = by_round[:, 0]
    known: dict[bytes, int] = {}
    since = by_round[1:] - clock[:-1, None]
    does = np.array([known.setdefault(page.tobytes(), len(known)) for page in since])
    for period in range(1, min(reach, len(does) - reach) + 1):
        end = len(does) - period
        if (does[len(does) - reach :] == does[end - reach : end]).all():
            return Repetition(period, int(clock[-1] - clock[-1 - period]))
    return None
