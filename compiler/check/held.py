"""What is known of the pages in buffers during a token run."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from compiler.latencies import FIFO_CYCLES

Beats = Sequence[int]
"""A cycle for each beat of a page."""
PAGE, ROOM = "a page", "room"


class Held:
    """What is known of the pages of a buffer: those that wait, and those that have left.

    ``depth`` is in pages; ``share`` is how many pages there are in a round, of so many ``beats``.
    ``through`` is how many cycles there are from when a beat enters to when it can leave.
    """

    def __init__(
        self, name: str, depth: int, share: int, *, beats: int = 0, through: int = FIFO_CYCLES
    ):
        self.name, self.depth, self.share, self.beats = name, depth, share, beats
        self.through = through
        self.readable: deque[Beats] = deque()
        self.taken: deque[Beats] = deque(maxlen=max(1, depth, share))
        self.put_count = self.taken_count = 0

    def put(self, readable: Beats) -> None:
        """A page enters the buffer, whose beats can leave it from these cycles on."""
        self.readable.append(readable)
        self.put_count += 1

    def write(self, beats: Beats) -> None:
        """A page enters the buffer, its beats in these cycles."""
        self.put([cycle + self.through for cycle in beats])

    def take(self, beats: Beats) -> None:
        """The first page leaves the buffer."""
        self.readable.popleft()
        self.taken.append(beats)
        self.taken_count += 1

    def knows_slot(self, page: int) -> bool:
        """Whether it is known when there is a slot for a page that has not entered yet."""
        return page - self.taken_count < self.depth

    def slot(self) -> Beats | None:
        """When the beats of the page left whose slot the next one gets; none if it was never used.

        Those of the pages behind it have left after it, if they have at all.
        """
        before = self.put_count - self.depth
        return None if before < 0 else self.taken[before - self.taken_count]

    def freed(self, page: int) -> int:
        """The first cycle in which there is a slot for the whole of a page that has not entered."""
        before = page - self.depth
        return 0 if before < 0 else self.taken[before - self.taken_count][-1] + 1

    def last_taken(self) -> Iterable[Beats]:
        """The pages that left in the last round."""
        return islice(reversed(self.taken), self.share)


@dataclass(frozen=True)
class Missing:
    """A page, or room for one, that a stage waits for, and the buffer in which it does."""

    what: str
    buffer: str

    def __str__(self) -> str:
        return f"{self.what} in {self.buffer}"


@dataclass
class Waits:
    """What a run notes: first and last beats by stage, and cycles of waiting by buffer."""

    sent: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    waited: dict[str, int] = field(default_factory=dict[str, int])

    def send(self, stage: str, first: int, last: int) -> None:
        """Note that beats leave a stage."""
        known = self.sent.get(stage)
        self.sent[stage] = (known[0] if known else first, last)

    def wait(self, ready: int, room: int, buffer: str) -> int:
        """The later of the two; note that a buffer's room was waited for."""
        if room > ready:
            self.waited[buffer] = self.waited.get(buffer, 0) + room - ready
            return room
        return ready


class BarrierRounds:
    """When every receiver of a barrier has a slot for a page."""

    def __init__(self, landings: list[Held]):
        self.landings = landings
        self._freed: dict[int, int] = {}

    def waits_for(self, page: int) -> Missing | None:
        """The slot for a page that is not known of, if there is one."""
        if page not in self._freed:
            for held in self.landings:
                if not held.knows_slot(page):
                    return Missing(ROOM, held.name)
            self._freed[page] = max(held.freed(page) for held in self.landings)
            entered = min(held.put_count for held in self.landings)
            self._freed = {p: freed for p, freed in self._freed.items() if p >= entered}
        return None

    def freed(self, page: int) -> int:
        """The first cycle in which all slots for a page are free."""
        return self._freed[page]
