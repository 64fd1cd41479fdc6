"""When pages begin to repeat earlier ones."""

from array import array
from collections import deque
from hashlib import blake2b

MOST_PERIOD = 1024
"""The most pages in a period that is found; with a longer one, every page of a run is run."""


class RepeatingPages:
    """Notes what pages do, and finds out when each does what another did some pages before.

    Parameters
    ----------
    reach : int
        Pages on which what a page does depends.
    """

    def __init__(self, reach: int):
        self.reach = max(1, reach)
        self._count = 0
        self._recent: deque[bytes] = deque(maxlen=MOST_PERIOD + 1)
        self._last_seen: dict[bytes, int] = {}
        self._period = 0
        self._repeated = 0

    def period(self, times: list[int]) -> int | None:
        """Note the times of a page, from the end of the page before on.

        Returns after how many pages the last ``reach`` ones have repeated others, as soon as they
        have.
        """
        page = blake2b(array("q", times).tobytes(), digest_size=16).digest()
        self._recent.append(page)
        if self._period and self._recent[-1 - self._period] == page:
            self._repeated += 1
        else:
            ago = self._count - self._last_seen.get(page, -MOST_PERIOD - 1)
            self._period = ago if ago <= MOST_PERIOD else 0
            self._repeated = 1
        if len(self._last_seen) > 8 * MOST_PERIOD:
            self._last_seen.clear()
        self._last_seen[page] = self._count
        self._count += 1
        return self._period if self._period and self._repeated >= self.reach else None
