"""The component of a Store stage."""

from amaranth.hdl import Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import WritePort
from amaranth.lib.wiring import In, Out

from compiler.ir.walk import Walk
from hw.interfaces import lane_layout, positive
from hw.walk_counter import WalkCounter, check_walk


class StoreUnit(wiring.Component):
    """Writes beats into a tensor memory in the order of a walk, one per cycle.

    Parameters
    ----------
    beat : :class:`data.ArrayLayout`
        Layout of one beat, which is one word of the memory.
    walk : :class:`Walk`
        Pages to write, in order.
    page_beats : :class:`int`
        Beats in a page.
    depth_words : :class:`int`
        Words in the memory.

    Members
    -------
    start : ``In(1)``
        Asserted for one cycle when a run begins; takes ``done`` back.
    i : ``In(stream.Signature(beat))``
        Beats. Always taken.
    memory : ``In(WritePort.Signature(...))``
        Write port of the tensor memory.
    done : ``Out(1)``
        Whether the last beat of the walk is in the memory.

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
                "i": In(stream.Signature(beat)),
                "memory": In(WritePort.Signature(addr_width=address_width, shape=beat)),
                "done": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.walk = walk = WalkCounter(
            self.walk, page_beats=self.page_beats, depth_words=self.depth_words
        )
        m.d.comb += self.i.ready.eq(1)
        m.d.comb += walk.step.eq(self.i.valid)
        m.d.comb += self.memory.addr.eq(walk.address)
        m.d.comb += self.memory.data.eq(self.i.payload)
        m.d.comb += self.memory.en.eq(self.i.valid)
        with m.If(self.i.valid & walk.last):
            m.d.sync += self.done.eq(1)
        with m.Elif(self.start):
            m.d.sync += self.done.eq(0)
        return m
