# amaranth: UnusedElaboratable=no
"""The blocks of the phase-locked loops, held to the equations of their manuals."""

import pytest
from amaranth.hdl import Const, IOPort
from amaranth.lib import io

from constraints.clocking import PllSettings, pll_settings
from hw.board.pll import PhaseLockedLoop, pll_parameters

MEGA = 1_000_000


def number(value) -> float:
    return value.value if isinstance(value, Const) else value


def made_hz(family: str, source_hz: int, p: dict) -> float:
    """The frequency that a block's manual says it makes."""
    match family:
        case "ecp5":
            oscillator = source_hz / p["CLKI_DIV"] * p["CLKFB_DIV"] * p["CLKOP_DIV"]
            return oscillator / p["CLKOS_DIV"]
        case "ice40":
            return source_hz * (p["DIVF"] + 1) / (2 ** p["DIVQ"] * (p["DIVR"] + 1))
    assert p["CLKIN1_PERIOD"] == pytest.approx(1e9 / source_hz)
    return source_hz * p["CLKFBOUT_MULT"] / p["DIVCLK_DIVIDE"] / p["CLKOUT0_DIVIDE"]


@pytest.mark.parametrize(
    ("family", "source", "target"),
    [
        ("ecp5", 25, 80),
        ("ecp5", 100, 80),
        ("ecp5", 48, 75),
        ("ice40", 12, 24),
        ("ice40", 100, 25),
        ("xilinx7", 100, 125),
        ("xilinx7", 100, 60),
    ],
)
def test_the_block_makes_the_clock(family, source, target):
    settings = pll_settings(family, source * MEGA, target * MEGA)
    assert settings is not None
    parameters = pll_parameters(family, settings, source_hz=source * MEGA)
    numbers = {name: number(value) for name, value in parameters.items()}
    assert made_hz(family, source * MEGA, numbers) == target * MEGA


def test_fields_of_ice40_are_as_wide_as_the_block_has_them():
    parameters = pll_parameters("ice40", PllSettings(1, 64, 32), source_hz=12 * MEGA)
    widths = {name: len(value) for name, value in parameters.items()}
    assert widths == {"DIVR": 4, "DIVF": 7, "DIVQ": 3, "FILTER_RANGE": 3}


@pytest.mark.parametrize(
    ("compared", "filter_range"), [(12, 1), (17, 2), (26, 3), (44, 4), (66, 5), (101, 6), (133, 6)]
)
def test_the_filter_of_ice40_follows_the_compared_frequency(compared, filter_range):
    parameters = pll_parameters("ice40", PllSettings(1, 8, 1), source_hz=compared * MEGA)
    assert parameters["FILTER_RANGE"].value == filter_range


def test_edges_of_loop_and_clock_fall_together():
    """A phase of EHXPLLL counts periods of its oscillator; a divider less one is none at all."""
    parameters = pll_parameters("ecp5", PllSettings(1, 32, 10), source_hz=25 * MEGA)
    assert parameters["CLKOP_CPHASE"] == parameters["CLKOP_DIV"] - 1
    assert parameters["CLKOS_CPHASE"] == parameters["CLKOS_DIV"] - 1


def test_an_unknown_family_is_refused():
    with pytest.raises(ValueError, match=r"Family must be one of ecp5, .*, not 'max10'"):
        pll_parameters("max10", PllSettings(1, 1, 1), source_hz=MEGA)


def test_the_block_is_between_the_pin_and_the_clock():
    port = io.SingleEndedPort(IOPort(1, name="oscillator"), direction="i")
    loop = PhaseLockedLoop("ice40", port, source_hz=12 * MEGA, settings=PllSettings(1, 64, 32))
    assert len(loop.clock) == len(loop.locked) == 1
