"""How many threads to use, found out while they work."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

FADING = 0.98
"""What a measured time counts for with each span in which its choice is not taken."""

WEIGHT = 0.5
"""Weight of a new measurement against those before it."""

GAIN = 1.2
"""How many times as fast more threads must be to be worth their cores."""


class Pace:
    """Chooses the number of threads of each of many equal spans of work.

    Threads that wait for each other every few cycles are a gain on idle cores and a loss on busy
    ones. So the choice that was fastest of late is taken, and the times of the others fade until
    they are tried again. Results do not depend on the choice.

    Parameters
    ----------
    choices : tuple of int
        Numbers of threads to choose from.
    """

    def __init__(self, choices: tuple[int, ...]):
        self._seconds = dict.fromkeys(sorted(choices), 0.0)
        self._untried = dict.fromkeys(self._seconds, 0)

    @contextmanager
    def measured(self) -> Iterator[int]:
        """Measure one span, which takes as many threads as this gives."""
        chosen = min(self._seconds, key=self._cost)
        begin = time.perf_counter()
        yield chosen
        self._note(chosen, time.perf_counter() - begin)

    def _cost(self, threads: int) -> float:
        fair = self._seconds[threads] * (1 if threads == 1 else GAIN)
        return fair * FADING ** self._untried[threads]

    def _note(self, chosen: int, seconds: float) -> None:
        before = self._seconds[chosen] or seconds
        self._seconds[chosen] = before + WEIGHT * (seconds - before)
        for threads in self._untried:
            self._untried[threads] += 1
        self._untried[chosen] = 0
