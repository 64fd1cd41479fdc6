"""What the phase-locked loop of each family makes, by the equations of its manual."""

import pytest

from constraints.clocking import nearest, pll_settings

MEGA = 1_000_000

OSCILLATOR = {"ecp5": (400, 800), "ice40": (533, 1066), "xilinx7": (800, 1600)}
COMPARED = {"ecp5": (10, 400), "ice40": (10, 133), "xilinx7": (19, 450)}


@pytest.mark.parametrize(
    ("family", "source", "target"),
    [
        ("ecp5", 25, 80),
        ("ecp5", 100, 80),
        ("ecp5", 25, 50),
        ("ecp5", 12, 60),
        ("ice40", 12, 18),
        ("ice40", 12, 48),
        ("xilinx7", 100, 125),
        ("xilinx7", 100, 80),
    ],
)
def test_the_dividers_make_the_clock_within_the_ranges(family, source, target):
    settings = pll_settings(family, source * MEGA, target * MEGA)
    assert settings is not None
    oscillator = source * settings.feedback / settings.reference
    assert oscillator / settings.output == target
    least, most = OSCILLATOR[family]
    assert least <= oscillator <= most
    least, most = COMPARED[family]
    assert least <= source / settings.reference <= most


@pytest.mark.parametrize(
    ("family", "source_hz", "target_hz"),
    [
        ("ice40", 12_000_000, 15_000_000),  # below what it puts out
        ("ice40", 12_000_000, 50_000_000),  # not a multiple of 12 MHz over a power of two
        ("ice40", 6_000_000, 24_000_000),  # below what it takes
        ("ecp5", 25_000_000, 500_000_000),
        ("ecp5", 25_000_000, 80_000_001),
        ("xilinx7", 12_000_000, 100_000_000),
    ],
)
def test_what_it_cannot_make_is_not_made(family, source_hz, target_hz):
    assert pll_settings(family, source_hz, target_hz) is None


def test_the_nearest_are_below_and_above():
    assert nearest("ecp5", 25_000_000, 80_000_001)[0] == 80_000_000
    below, above = nearest("ice40", 12_000_000, 50_000_000)
    assert below < 50_000_000 < above
    for hertz in (below, above):
        assert pll_settings("ice40", 12_000_000, hertz) is not None


def test_the_oscillator_itself_is_the_nearest_where_the_loop_makes_nothing():
    assert nearest("ice40", 6_000_000, 24_000_000) == (6_000_000,)
