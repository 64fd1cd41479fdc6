"""The component of a Split stage."""

from amaranth.hdl import Assert, Cat, Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hw.interfaces import lane_layout, positive
from hw.turn_counter import TurnCounter, check_turns


class SplitUnit(wiring.Component):
    """Deals the pages of one stream out to several, in turns that never change.

    A page waits until the output whose turn it is has room, whatever room the others have.
    Combinational from ``i`` to the outputs and back.

    Parameters
    ----------
    beat : :class:`data.ArrayLayout`
        Layout of one beat.
    outputs : :class:`int`
        Streams that come out.
    turns : tuple of :class:`int`
        Output that each page of a round goes to.
    page_beats : :class:`int`
        Beats in a page.

    Members
    -------
    start : ``In(1)``
        Asserted for one cycle when a run begins, which is at the first turn.
    i : ``In(stream.Signature(beat))``
        Beats in turns.
    o : ``Out(stream.Signature(beat)).array(outputs)``
        Beats, dealt out.
    turn : ``Out(range(outputs))``
        The output whose turn it is.

    Raises
    ------
    :exc:`TypeError`
        If ``beat`` is not an array layout, or a count is not a positive integer.
    :exc:`ValueError`
        If the turns leave an output out, or name one that is not there.
    """

    def __init__(
        self, beat: data.ArrayLayout, *, outputs: int, turns: tuple[int, ...], page_beats: int
    ):
        self.beat = lane_layout(beat, "Beat")
        self.outputs = positive(outputs, "Outputs")
        self.turns = check_turns(turns, outputs, "outputs")
        self.page_beats = positive(page_beats, "Page beats")
        super().__init__(
            {
                "start": In(1),
                "i": In(stream.Signature(beat)),
                "o": Out(stream.Signature(beat)).array(outputs),
                "turn": Out(range(outputs)),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.turns = turns = TurnCounter(self.turns, page_beats=self.page_beats)
        m.d.comb += turns.start.eq(self.start)
        m.d.comb += self.turn.eq(turns.turn)
        m.d.comb += turns.step.eq(self.i.valid & self.i.ready)
        for output in self.o:
            m.d.comb += output.payload.eq(self.i.payload)
        with m.Switch(turns.turn):
            for index, output in enumerate(self.o):
                with m.Case(index):
                    m.d.comb += output.valid.eq(self.i.valid)
                    m.d.comb += self.i.ready.eq(output.ready)
        early = (
            output.valid & output.ready & (turns.turn != index)
            for index, output in enumerate(self.o)
        )
        m.d.sync += Assert(~Cat(early).any(), "a beat was given to an output out of its turn")
        return m
