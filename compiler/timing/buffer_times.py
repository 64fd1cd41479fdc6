"""The cycles of beats on both sides of the buffers that they pass.

This is what stages have in common in the performance model: they take beats out of buffers, and
write them into buffers once there is room.
"""

import numpy as np

from compiler.flow.components import Component
from compiler.ir.program import Program
from compiler.latencies import FIFO_CYCLES
from compiler.timing.beat_times import BeatTimes, Cycles, spaced


class BufferTimes:
    """Times at the buffers of one component, and which stages have to be timed again.

    Parameters
    ----------
    program, part
        The component, and what its buffers are.
    rounds : array
        The rounds that are followed, in order.
    bounded : bool
        Whether depths count. If they do, all rounds from the first on are followed.
    """

    def __init__(self, program: Program, part: Component, rounds: Cycles, *, bounded: bool):
        self.tile = program.tile
        self.part = part
        self.rounds = rounds
        self.times = BeatTimes()
        self._depths = {
            name: program.buffer_by_name[name].depth_pages if bounded else None
            for name in part.share
        }
        self._through = {
            name: 0 if program.buffer_by_name[name].fall_through else FIFO_CYCLES
            for name in part.share
        }
        self._readers: dict[str, str] = {}
        self._fillers: dict[str, tuple[str, ...]] = {}
        self._stale = {stage.name for stage in part.stages}
        self._numbers: dict[int, Cycles] = {}

    def _in_room(self, ready: Cycles, outs: tuple[str, ...]) -> Cycles:
        """When beats that are ready pass, one by one, with room in each of some buffers."""
        for out in outs:
            space = self._space(out)
            if space is not None:
                ready = np.maximum(ready, space)
        return spaced(ready, 1, self._beats(outs[0]))

    def _write(self, buffer: str, written: Cycles) -> None:
        """Beats enter a buffer in these cycles, and can leave it in those after, or at once."""
        self.times.promised[buffer] = written[:: self.tile]
        self._fill(buffer, written, written + self._through[buffer])

    def _fill(self, buffer: str, written: Cycles, readable: Cycles) -> None:
        """Beats enter a buffer, and can leave it in other cycles; time its reader again."""
        if not same(self.times.written.get(buffer), written):
            self.times.written[buffer] = written
            self.times.readable[buffer] = readable
            self._stale.add(self._readers[buffer])

    def _take(self, buffer: str, cycles: Cycles) -> None:
        """Beats leave a buffer in these cycles; time those again that wait for room there."""
        if not same(self.times.taken.get(buffer), cycles):
            self.times.taken[buffer] = cycles
            self.times.returned[buffer] = cycles[self.tile - 1 :: self.tile] + 1
            if self._depths[buffer] is not None:
                self._stale.update(self._fillers[buffer])

    def _after_return(self, buffer: str, pages: Cycles, way_back: int = 0) -> Cycles:
        """Not before ``pages``, nor before it is known that the slot of each page is free.

        ``way_back`` is how long the news of it takes.
        """
        depth = self._depths[buffer]
        returned = self.times.returned.get(buffer)
        if depth is None or returned is None or depth >= len(pages):
            return pages
        free = returned[:-depth] + way_back
        return np.concatenate([pages[:depth], np.maximum(pages[depth:], free)])

    def _space(self, buffer: str) -> Cycles | None:
        """The first cycle in which each beat finds room, if it may ever wait for it."""
        depth = self._depths[buffer]
        taken = self.times.taken.get(buffer)
        if depth is None or taken is None or depth * self.tile >= len(taken):
            return None
        beats = depth * self.tile
        return np.concatenate([np.zeros(beats, dtype=np.int64), taken[:-beats] + 1])

    def _beats(self, buffer: str) -> Cycles:
        """The numbers of the beats that pass a buffer in the rounds that are followed."""
        return self._count(self.part.share[buffer] * self.tile)

    def _count(self, each: int) -> Cycles:
        """Numbers of all of which there are ``each`` in a round."""
        if each not in self._numbers:
            self._numbers[each] = (self.rounds[:, None] * each + np.arange(each)).ravel()
        return self._numbers[each]


def same(one: Cycles | None, other: Cycles | None) -> bool:
    """Whether two streams pass in the same cycles, or neither is known."""
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)
