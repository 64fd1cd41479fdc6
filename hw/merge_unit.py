"""The component of a Merge stage."""

from amaranth.hdl import Assert, Cat, Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hw.interfaces import lane_layout, positive
from hw.turn_counter import TurnCounter, check_turns


class MergeUnit(wiring.Component):
    """Passes the pages of several streams on over one, in turns that never change.

    Nothing is taken from an input before its turn, however long the one whose turn it is keeps the
    others waiting. Combinational from the inputs to ``o`` and back.

    Parameters
    ----------
    beat : :class:`data.ArrayLayout`
        Layout of one beat.
    inputs : :class:`int`
        Streams that come in.
    turns : tuple of :class:`int`
        Input that each page of a round comes from.
    page_beats : :class:`int`
        Beats in a page.

    Members
    -------
    start : ``In(1)``
        Asserted for one cycle when a run begins, which is at the first turn.
    i : ``In(stream.Signature(beat)).array(inputs)``
        Beats to merge.
    o : ``Out(stream.Signature(beat))``
        Beats in turns.
    turn : ``Out(range(inputs))``
        The input whose turn it is.

    Raises
    ------
    :exc:`TypeError`
        If ``beat`` is not an array layout, or a count is not a positive integer.
    :exc:`ValueError`
        If the turns leave an input out, or name one that is not there.
    """

    def __init__(
        self, beat: data.ArrayLayout, *, inputs: int, turns: tuple[int, ...], page_beats: int
    ):
        self.beat = lane_layout(beat, "Beat")
        self.inputs = positive(inputs, "Inputs")
        self.turns = check_turns(turns, inputs, "inputs")
        self.page_beats = positive(page_beats, "Page beats")
        super().__init__(
            {
                "start": In(1),
                "i": In(stream.Signature(beat)).array(inputs),
                "o": Out(stream.Signature(beat)),
                "turn": Out(range(inputs)),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.turns = turns = TurnCounter(self.turns, page_beats=self.page_beats)
        m.d.comb += turns.start.eq(self.start)
        m.d.comb += self.turn.eq(turns.turn)
        m.d.comb += turns.step.eq(self.o.valid & self.o.ready)
        with m.Switch(turns.turn):
            for index, merged in enumerate(self.i):
                with m.Case(index):
                    m.d.comb += self.o.payload.eq(merged.payload)
                    m.d.comb += self.o.valid.eq(merged.valid)
                    m.d.comb += merged.ready.eq(self.o.ready)
        early = (
            merged.valid & merged.ready & (turns.turn != index)
            for index, merged in enumerate(self.i)
        )
        m.d.sync += Assert(~Cat(early).any(), "a beat was taken from an input out of its turn")
        return m
