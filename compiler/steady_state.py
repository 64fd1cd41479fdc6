"""The steady state: from which page on a run repeats itself, and what the pages behind it take.

A max-plus system repeats itself in the end. So pages are timed until they do, and the rest follows.
"""

from dataclasses import dataclass

import numpy as np

from compiler.ir.program import Program
from compiler.targets import Target
from compiler.timing import BeatTimes, Cycles, TimingModel

LEAST_WINDOW = 16
"""Pages that are timed at first, if the run has as many."""


@dataclass(frozen=True)
class Repetition:
    """Behind the pages that were timed, each does what the page ``period`` before it did.

    It does so ``cycles`` later.
    """

    period: int
    cycles: int

    def at(self, page: int, timed: Cycles) -> int:
        """The cycle of a page, from those of the pages that were timed."""
        rounds = max(0, -(-(page + 1 - len(timed)) // self.period))
        return int(timed[page - rounds * self.period]) + rounds * self.cycles


def follow(program: Program, target: Target, *, pages: int) -> tuple[BeatTimes, Repetition]:
    """Beat times of the first of ``pages`` pages, and how they go on.

    More and more pages are timed until all that a page depends on repeats itself: the last beats of
    every stage, link and operation, and the slots that the last pages have left. Then every page
    behind them does the same, since the rules do not change from page to page.
    """
    depths = [buffer.depth_pages or 0 for buffer in program.buffers]
    reach = max((depth for depth in depths if depth < pages), default=0)
    window = min(pages, max(LEAST_WINDOW, 2 * reach + 3))
    while True:
        model = TimingModel(program, pages=window, target=target)
        times = model.solve()
        repetition = _repetition(model, max(1, reach))
        if repetition is not None:
            return times, repetition
        if window == pages:
            return times, Repetition(1, 0)
        window = min(pages, 2 * window)


def _repetition(model: TimingModel, reach: int) -> Repetition | None:
    """How the last pages repeat earlier ones, if each depends on ``reach`` pages before it."""
    moving = [cycles.reshape(model.pages, -1) for cycles in model.moving().values()]
    by_page = np.concatenate(moving, axis=1)
    clock = by_page[:, 0]
    known: dict[bytes, int] = {}
    since = by_page[1:] - clock[:-1, None]
    does = np.array([known.setdefault(page.tobytes(), len(known)) for page in since])
    for period in range(1, min(reach, len(does) - reach) + 1):
        end = len(does) - period
        if (does[len(does) - reach :] == does[end - reach : end]).all():
            return Repetition(period, int(clock[-1] - clock[-1 - period]))
    return None
