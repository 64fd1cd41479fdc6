"""The phase-locked loop of each family, as the block of its vendor."""

from typing import Any

from amaranth.hdl import Const, Elaboratable, Instance, Module, Signal
from amaranth.lib import io

from constraints.clocking import PllSettings

EHXPLLL_OPTIONS = {
    "FEEDBK_PATH": "CLKOP",
    "CLKOP_ENABLE": "ENABLED",
    "CLKOS_ENABLE": "ENABLED",
    "OUTDIVIDER_MUXA": "DIVA",
    "OUTDIVIDER_MUXB": "DIVB",
    "PLLRST_ENA": "DISABLED",
    "INTFB_WAKE": "DISABLED",
    "STDBY_ENABLE": "DISABLED",
    "DPHASE_SOURCE": "DISABLED",
}
EHXPLLL_FILTER = {
    "ICP_CURRENT": "12",
    "LPF_RESISTOR": "8",
    "MFG_ENABLE_FILTEROPAMP": "1",
    "MFG_GMCREF_SEL": "2",
}
"""Charge pump and loop filter, as Project Trellis' ``ecppll`` sets them for every frequency."""

FILTER_LIMITS_HZ = (17_000_000, 26_000_000, 44_000_000, 66_000_000, 101_000_000)
"""Compared frequencies of SB_PLL40 at which the next setting of its filter begins.

Source: Project IceStorm, ``icepll``.
"""


def pll_parameters(family: str, settings: PllSettings, *, source_hz: int) -> dict[str, Any]:
    """Parameters of the family's block that say what it makes of ``source_hz``.

    Raises
    ------
    ValueError
        If the family is not known.
    """
    reference, feedback, output = settings.reference, settings.feedback, settings.output
    match family:
        case "ecp5":
            # CLKOP closes the loop at the compared frequency; CLKOS is the clock. A phase counts
            # from the divider of its output, so that the edges of both fall together.
            return {
                "CLKI_DIV": reference,
                "CLKFB_DIV": 1,
                "CLKOP_DIV": feedback,
                "CLKOP_CPHASE": feedback - 1,
                "CLKOS_DIV": output,
                "CLKOS_CPHASE": output - 1,
            }
        case "ice40":
            compared_hz = source_hz / reference
            return {
                "DIVR": Const(reference - 1, 4),
                "DIVF": Const(feedback - 1, 7),
                "DIVQ": Const(output.bit_length() - 1, 3),
                "FILTER_RANGE": Const(1 + sum(compared_hz >= hz for hz in FILTER_LIMITS_HZ), 3),
            }
        case "xilinx7":
            return {
                "CLKIN1_PERIOD": 1e9 / source_hz,
                "DIVCLK_DIVIDE": reference,
                "CLKFBOUT_MULT": feedback,
                "CLKOUT0_DIVIDE": output,
            }
    raise ValueError(f"Family must be one of ecp5, ice40, xilinx7, not {family!r}")


class PhaseLockedLoop(Elaboratable):
    """The family's block between the oscillator's pin and the chip's clock.

    Parameters
    ----------
    family : str
        ``ecp5``, ``ice40`` or ``xilinx7``.
    oscillator : port
        The pin of the oscillator. On ice40 it is the pad that belongs to the block.
    source_hz : int
        Frequency of the oscillator.
    settings : :class:`PllSettings`
        Dividers.

    Attributes
    ----------
    clock : Signal
        What the block makes.
    locked : Signal
        Whether it holds that; not in step with any clock.
    """

    def __init__(self, family: str, oscillator, *, source_hz: int, settings: PllSettings):
        self.family = family
        self.oscillator = oscillator
        self.parameters = {
            f"p_{name}": value
            for name, value in pll_parameters(family, settings, source_hz=source_hz).items()
        }
        self.clock = Signal()
        self.locked = Signal()

    def elaborate(self, platform) -> Module:
        m = Module()
        match self.family:
            case "ecp5":
                self._ehxplll(m)
            case "ice40":
                self._sb_pll40(m)
            case _:
                self._plle2(m)
        return m

    def _input(self, m: Module):
        m.submodules.oscillator = buffer = io.Buffer("i", self.oscillator)
        return buffer.i

    def _ehxplll(self, m: Module) -> None:
        compared = Signal()
        m.submodules.pll = Instance(
            "EHXPLLL",
            *(("a", name, value) for name, value in EHXPLLL_FILTER.items()),
            *(("p", name, value) for name, value in EHXPLLL_OPTIONS.items()),
            *(("i", name, Const(0)) for name in ("RST", "STDBY", "PHASESEL0", "PHASESEL1")),
            *(("i", name, Const(1)) for name in ("PHASEDIR", "PHASESTEP", "PHASELOADREG")),
            *(("i", name, Const(0)) for name in ("PLLWAKESYNC", "ENCLKOP", "ENCLKOS")),
            **self.parameters,
            i_CLKI=self._input(m),
            i_CLKFB=compared,
            o_CLKOP=compared,
            o_CLKOS=self.clock,
            o_LOCK=self.locked,
        )

    def _sb_pll40(self, m: Module) -> None:
        # The pad of the loop is where the oscillator is, and then SB_PLL40_CORE cannot be placed.
        m.submodules.pll = Instance(
            "SB_PLL40_PAD",
            **self.parameters,
            p_FEEDBACK_PATH="SIMPLE",
            io_PACKAGEPIN=self.oscillator.io,
            i_RESETB=Const(1),
            i_BYPASS=Const(0),
            o_PLLOUTGLOBAL=self.clock,
            o_LOCK=self.locked,
        )

    def _plle2(self, m: Module) -> None:
        loop, made = Signal(), Signal()
        m.submodules.pll = Instance(
            "PLLE2_BASE",
            **self.parameters,
            i_CLKIN1=self._input(m),
            i_CLKFBIN=loop,
            i_RST=Const(0),
            i_PWRDWN=Const(0),
            o_CLKFBOUT=loop,
            o_CLKOUT0=made,
            o_LOCKED=self.locked,
        )
        m.submodules.buffer = Instance("BUFG", i_I=made, o_O=self.clock)
