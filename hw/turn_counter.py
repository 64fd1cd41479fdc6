"""Whose turn it is: what merges and splits of streams go by."""

from amaranth.hdl import Array, Assert, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hw.interfaces import positive


class TurnCounter(wiring.Component):
    """Counts pages, and says whose turn each of them is. A turn lasts for one page.

    A run has whole rounds of turns, so the next run finds the first turn again.

    Parameters
    ----------
    turns : tuple of :class:`int`
        Who has each turn of a round, numbered from 0.
    page_beats : :class:`int`
        Beats in a page.

    Members
    -------
    start : ``In(1)``
        Asserted for one cycle when a run begins.
    step : ``In(1)``
        Asserted for each beat that passes.
    turn : ``Out(range(max(turns) + 1))``
        Whose turn it is. It changes behind the last beat of a page.

    Raises
    ------
    :exc:`TypeError`
        If ``turns`` is empty or has anything but integers from 0 up, or ``page_beats`` is not a
        positive integer.
    """

    def __init__(self, turns: tuple[int, ...], *, page_beats: int):
        self.turns = tuple(turns)
        if not self.turns or any(type(turn) is not int or turn < 0 for turn in self.turns):
            raise TypeError(f"Turns must be integers from 0 up, one at least, not {turns!r}")
        self.page_beats = positive(page_beats, "Page beats")
        super().__init__({"start": In(1), "step": In(1), "turn": Out(range(max(turns) + 1))})

    def elaborate(self, platform) -> Module:
        m = Module()
        place = Signal(range(len(self.turns)))
        beat = Signal(range(self.page_beats))
        last_beat = beat == self.page_beats - 1
        last_place = place == len(self.turns) - 1
        m.d.comb += self.turn.eq(Array(self.turns)[place])
        with m.If(self.step):
            m.d.sync += beat.eq(Mux(last_beat, 0, beat + 1))
            with m.If(last_beat):
                m.d.sync += place.eq(Mux(last_place, 0, place + 1))
        m.d.sync += Assert(
            ~self.start | ((place == 0) & (beat == 0)), "a run began in the middle of a round"
        )
        return m


def check_turns(turns: tuple[int, ...], count: int, name: str) -> tuple[int, ...]:
    """Check that each of ``count`` streams has a turn, and nobody else, and return the turns.

    Raises
    ------
    :exc:`ValueError`
        If that is not so.
    """
    if {*turns} != {*range(count)}:
        raise ValueError(f"Turns must name each of {count} {name}, and no other, not {turns!r}")
    return tuple(turns)
