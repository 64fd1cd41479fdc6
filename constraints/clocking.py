"""The phase-locked loop of each family, and the clocks that it makes of a given one."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Pll:
    """Ranges of a phase-locked loop.

    The input is divided by ``reference``, the oscillator runs at the result times ``feedback``,
    and the output is the oscillator divided by ``output``. Frequencies are in hertz, each range
    from least to most. In EHXPLLL the loop is closed behind CLKOP and the chip's clock is CLKOS:
    ``reference`` is CLKI_DIV, ``feedback`` CLKOP_DIV (with a CLKFB_DIV of 1), ``output``
    CLKOS_DIV.

    Source: Lattice FPGA-TN-02200 and FPGA-DS-02012 (EHXPLLL), FPGA-TN-02052 (SB_PLL40), Xilinx
    UG472 and DS181, slowest speed grade (PLLE2_BASE).
    """

    name: str
    input_hz: tuple[int, int]
    compared_hz: tuple[int, int]
    oscillator_hz: tuple[int, int]
    output_hz: tuple[int, int]
    reference: tuple[int, ...]
    feedback: tuple[int, ...]
    output: tuple[int, ...]


@dataclass(frozen=True)
class PllSettings:
    """Dividers that make a clock; as the ranges of :class:`Pll` count them."""

    reference: int
    feedback: int
    output: int


MEGA = 1_000_000

PLLS = {
    "ecp5": Pll(
        name="EHXPLLL",
        input_hz=(8 * MEGA, 400 * MEGA),
        compared_hz=(10 * MEGA, 400 * MEGA),
        oscillator_hz=(400 * MEGA, 800 * MEGA),
        output_hz=(3_125_000, 400 * MEGA),
        reference=tuple(range(1, 129)),
        feedback=tuple(range(1, 129)),
        output=tuple(range(1, 129)),
    ),
    "ice40": Pll(
        name="SB_PLL40",
        input_hz=(10 * MEGA, 133 * MEGA),
        compared_hz=(10 * MEGA, 133 * MEGA),
        oscillator_hz=(533 * MEGA, 1066 * MEGA),
        output_hz=(16 * MEGA, 275 * MEGA),
        reference=tuple(range(1, 17)),
        feedback=tuple(range(1, 129)),
        output=tuple(2**q for q in range(1, 7)),
    ),
    "xilinx7": Pll(
        name="PLLE2_BASE",
        input_hz=(19 * MEGA, 800 * MEGA),
        compared_hz=(19 * MEGA, 450 * MEGA),
        oscillator_hz=(800 * MEGA, 1600 * MEGA),
        output_hz=(6_250_000, 464 * MEGA),
        reference=tuple(range(1, 57)),
        feedback=tuple(range(2, 65)),
        output=tuple(range(1, 129)),
    ),
}
"""The loop of each family."""


def pll_settings(family: str, source_hz: int, target_hz: int) -> PllSettings | None:
    """Dividers that make exactly ``target_hz`` of ``source_hz``, or ``None`` if none do.

    Of several, the ones with the fastest comparison are taken, then the fastest oscillator: both
    lower the jitter.
    """
    found = [
        (source_hz / s.reference, target_hz * s.output, s)
        for made_hz, s in _makes(family, source_hz)
        if made_hz == target_hz
    ]
    return max(found, key=lambda entry: entry[:2])[2] if found else None


def nearest(family: str, source_hz: int, target_hz: int) -> tuple[int, ...]:
    """The whole frequencies next to ``target_hz`` that can be had: below and above it."""
    made = {hz for hz, _ in _makes(family, source_hz)} | {source_hz}
    below = max((hz for hz in made if hz <= target_hz), default=None)
    above = min((hz for hz in made if hz >= target_hz), default=None)
    return tuple(sorted({hz for hz in (below, above) if hz is not None}))


@cache
def _makes(family: str, source_hz: int) -> tuple[tuple[int, PllSettings], ...]:
    return tuple(_settings(PLLS[family], source_hz))


def _settings(pll: Pll, source_hz: int) -> Iterator[tuple[int, PllSettings]]:
    """Every whole frequency that the loop makes, with the dividers that make it."""
    if not _within(source_hz, pll.input_hz):
        return
    for reference in pll.reference:
        if not _within(source_hz / reference, pll.compared_hz):
            continue
        for feedback in pll.feedback:
            if not _within(source_hz * feedback / reference, pll.oscillator_hz):
                continue
            for output in pll.output:
                target_hz, rest = divmod(source_hz * feedback, reference * output)
                if rest == 0 and _within(target_hz, pll.output_hz):
                    yield target_hz, PllSettings(reference, feedback, output)


def _within(value: float, ends: tuple[int, int]) -> bool:
    return ends[0] <= value <= ends[1]
