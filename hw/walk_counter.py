"""Address generation for the stages that walk a tensor memory."""

from itertools import pairwise

from amaranth.hdl import Array, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from compiler.ir.walk import Walk
from hw.interfaces import positive


class WalkCounter(wiring.Component):
    """Counts through the word addresses of a walk, one per step, and starts over after the last.

    Parameters
    ----------
    walk : :class:`Walk`
        Loops over pages, and the order of those within.
    page_beats : :class:`int`
        Words in a page; they are visited in order.
    depth_words : :class:`int`
        Words in the memory.

    Members
    -------
    step : ``In(1)``
        Move on to the next address.
    address : ``Out(range(depth_words))``
        Word address, a register. The walk's first address after reset.
    last : ``Out(1)``
        Whether ``address`` is the last of the walk.

    Raises
    ------
    :exc:`TypeError`
        If a count is not a positive integer.
    :exc:`ValueError`
        If the walk leaves the memory.
    """

    def __init__(self, walk: Walk, *, page_beats: int, depth_words: int):
        self.walk = walk
        self.page_beats = positive(page_beats, "Page beats")
        self.depth_words = positive(depth_words, "Depth in words")
        check_walk(walk, page_beats=page_beats, depth_words=depth_words)
        self._first_word = page_beats * (walk.order[0] if walk.order else 0)
        super().__init__(
            {
                "step": In(1),
                "address": Out(range(depth_words), init=self._first_word),
                "last": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        order = [page * self.page_beats for page in self.walk.order or (0,)]
        levels = [_steps(loop.count, loop.stride * self.page_beats) for loop in self.walk.loops]
        levels.append([after - before for before, after in pairwise(order)])
        levels.append(_steps(self.page_beats, 1))
        levels = [steps for steps in levels if steps]

        # Innermost first: when a loop moves on, every loop inside of it returns to its start.
        inner_done = Const(1)
        rewind = 0
        moved = Signal.like(self.address)
        m.d.comb += moved.eq(order[0])
        for level, steps in reversed(list(enumerate(levels))):
            count = len(steps) + 1
            counter = Signal(range(count), name=f"loop_{level}")
            at_end = counter == count - 1
            step = steps[0] if len({*steps}) == 1 else Array((*steps, 0))[counter]
            with m.If(self.step & inner_done):
                m.d.sync += counter.eq(Mux(at_end, 0, counter + 1))
            with m.If(inner_done & ~at_end):
                m.d.comb += moved.eq((self.address + (step - rewind))[: len(self.address)])
            loop_done = Signal(name=f"loop_{level}_done")
            m.d.comb += loop_done.eq(inner_done & at_end)
            inner_done = loop_done
            rewind += sum(steps)

        m.d.comb += self.last.eq(inner_done)
        with m.If(self.step):
            m.d.sync += self.address.eq(moved)
        return m


def _steps(count: int, stride: int) -> list[int]:
    """What a loop adds to the address, step by step."""
    return [stride] * (count - 1)


def check_walk(walk: Walk, *, page_beats: int, depth_words: int) -> None:
    """Check that a walk stays within a memory.

    Raises
    ------
    :exc:`TypeError`
        If the count of a loop is not a positive integer.
    :exc:`ValueError`
        If the walk leaves the memory.
    """
    for loop in walk.loops:
        positive(loop.count, "Loop count")
    nearest, furthest = walk.span
    if nearest < 0 or (furthest + 1) * page_beats > depth_words:
        raise ValueError(
            f"Walk must stay within the memory's {depth_words} words, not visit pages "
            f"{nearest} to {furthest} of {page_beats} words: {walk}"
        )
