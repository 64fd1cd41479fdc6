"""The clock of a chip on a board: from the oscillator to the ``sync`` domain, and its reset."""

from typing import Any

from amaranth.hdl import ClockDomain, ClockSignal, Const, Elaboratable, Module, Signal
from amaranth.lib import io
from amaranth.lib.cdc import FFSynchronizer, ResetSynchronizer

from constraints.board import Board
from constraints.clocking import nearest, pll_settings
from constraints.errors import UnreachableClockError
from hw.board.pll import PhaseLockedLoop

SETTLING_CYCLES = 16
"""Least time for which the reset stands after configuration, after the PLL has locked, and after
the button was let go."""
ICE40_SETTLING_SECONDS = 15e-6
"""The same on iCE40, whose block RAMs read as zero for about 3 microseconds after configuration.

Amaranth's own reset stands for as long.
"""


class ClockGenerator(Elaboratable):
    """Drives the ``sync`` domain of a board: its clock by the family's PLL, and its reset.

    The domain is the design's around it. The reset is asserted at once by the board's button and
    while the PLL has no lock, and released in step with the clock. Where the oscillator has the
    chip's frequency already, it is the clock.

    Parameters
    ----------
    board : :class:`Board`
        The board.

    Attributes
    ----------
    settings : :class:`PllSettings` or None
        Dividers of the PLL, where there is one.
    settling_cycles : int
        Cycles for which the reset stands at least.

    Raises
    ------
    UnreachableClockError
        If the PLL does not make ``clock.target_hz``.
    """

    def __init__(self, board: Board):
        self.board = board
        source_hz, target_hz = board.clock.source_hz, board.clock.target_hz
        self.settings = None
        if source_hz != target_hz:
            self.settings = pll_settings(board.family, source_hz, target_hz)
            if self.settings is None:
                raise UnreachableClockError(
                    board=board.name,
                    family=board.family,
                    source_hz=source_hz,
                    target_hz=target_hz,
                    nearest=nearest(board.family, source_hz, target_hz),
                )
        self.settling_cycles = SETTLING_CYCLES
        if board.family == "ice40":
            self.settling_cycles = max(SETTLING_CYCLES, round(ICE40_SETTLING_SECONDS * target_hz))

    def elaborate(self, platform) -> Module:
        m = Module()
        # A domain of its own for the time in which ``sync`` is in reset.
        m.domains += ClockDomain("settling", reset_less=True, local=True)
        m.d.comb += ClockSignal("settling").eq(ClockSignal("sync"))
        oscillator = request(platform, self.board.clock.source)
        if self.settings is None:
            m.submodules.oscillator = buffer = io.Buffer("i", oscillator)
            m.d.comb += ClockSignal("sync").eq(buffer.i)
            locked = steady = Const(1)
        else:
            m.submodules.pll = pll = PhaseLockedLoop(
                self.board.family,
                oscillator,
                source_hz=self.board.clock.source_hz,
                settings=self.settings,
            )
            m.d.comb += ClockSignal("sync").eq(pll.clock)
            locked, steady = pll.locked, Signal()
            m.submodules.lock = FFSynchronizer(locked, steady, o_domain="settling")
        held = Const(0)
        if self.board.reset is not None:
            m.submodules.button = button = io.Buffer("i", request(platform, self.board.reset))
            held, pressed = button.i, Signal()
            m.submodules.press = FFSynchronizer(held, pressed, o_domain="settling")
            steady &= ~pressed
        m.submodules.reset = ResetSynchronizer(
            held | ~locked | ~self._settle(m, steady), domain="sync"
        )
        return m

    def _settle(self, m: Module, steady) -> Signal:
        """Count the cycles with lock and without the button; return whether they are enough."""
        elapsed = Signal(range(self.settling_cycles + 1))
        settled = Signal()
        with m.If(~steady):
            m.d.settling += elapsed.eq(0)
            m.d.settling += settled.eq(0)
        with m.Elif(elapsed == self.settling_cycles):
            m.d.settling += settled.eq(1)
        with m.Else():
            m.d.settling += elapsed.eq(elapsed + 1)
        return settled


def request(platform, resource: str) -> Any:
    """The ports of a resource of a platform, by a name as ``"uart 0"``."""
    name, _, number = resource.partition(" ")
    return platform.request(name, int(number or 0), dir="-")
