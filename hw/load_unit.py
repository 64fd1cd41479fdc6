"""The component of a Load stage."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import ReadPort
from amaranth.lib.wiring import In, Out

from compiler.ir.walk import Walk
from hw.interfaces import lane_layout, positive
from hw.walk_counter import WalkCounter, check_walk


class LoadUnit(wiring.Component):
    """Reads a tensor memory in the order of a walk and sends one beat per cycle, without bubbles.

    The first beat is on the stream one cycle after ``start``. The memory's own output register
    holds the beat until it is taken. ``memory.en`` depends combinationally on ``o.ready``.

    Parameters
    ----------
    beat : :class:`data.ArrayLayout`
        Layout of one beat, which is one word of the memory.
    walk : :class:`Walk`
        Pages to read, in order.
    page_beats : :class:`int`
        Beats in a page.
    depth_words : :class:`int`
        Words in the memory.

    Members
    -------
    start : ``In(1)``
        Asserted for one cycle to begin a walk. Ignored during a walk.
    memory : ``In(ReadPort.Signature(...))``
        Synchronous read port of the tensor memory.
    o : ``Out(stream.Signature(beat))``
        Beats.

    Raises
    ------
    :exc:`TypeError`
        If ``beat`` is not an array layout, or a count is not a positive integer.
    :exc:`ValueError`
        If the walk leaves the memory.
    """

    def __init__(self, beat: data.ArrayLayout, *, walk: Walk, page_beats: int, depth_words: int):
        self.beat = lane_layout(beat, "Beat")
        self.walk = walk
        self.page_beats = positive(page_beats, "Page beats")
        self.depth_words = positive(depth_words, "Depth in words")
        check_walk(walk, page_beats=page_beats, depth_words=depth_words)
        address_width = (depth_words - 1).bit_length()
        super().__init__(
            {
                "start": In(1),
                "memory": In(ReadPort.Signature(addr_width=address_width, shape=beat)),
                "o": Out(stream.Signature(beat)),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.walk = walk = WalkCounter(
            self.walk, page_beats=self.page_beats, depth_words=self.depth_words
        )
        walking = Signal()
        step = (walking | self.start) & (~self.o.valid | self.o.ready)

        m.d.comb += walk.step.eq(step)
        m.d.comb += self.memory.addr.eq(walk.address)
        m.d.comb += self.memory.en.eq(step)
        m.d.comb += self.o.payload.eq(self.memory.data)
        with m.If(step):
            m.d.sync += self.o.valid.eq(1)
            m.d.sync += walking.eq(~walk.last)
        with m.Else():
            with m.If(self.o.ready):
                m.d.sync += self.o.valid.eq(0)
            with m.If(self.start):
                m.d.sync += walking.eq(1)
        return m
