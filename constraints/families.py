"""The families of devices: how each calls what a board file states."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """A family of devices.

    Parameters
    ----------
    io_attribute : str
        Attribute of a resource that selects the I/O standard.
    io_standards : tuple of (str, str)
        I/O standards by the name that board files use, each with the family's own name.
    pin_file : str
        Suffix of the file that its tool reads pins from.
    vendor : str
        Class of :mod:`amaranth.vendor` that builds for it.
    pull_up, pull_down : tuple of (str, object), or None
        Attribute of a resource that pulls a pin to a level where nothing drives it; ``None`` where
        the pins cannot.
    multiplier_blocks : bool
        Whether chips place the multipliers of the device as blocks, beside leaving them to a tool.
    open_tools : bool
        Whether open tools make bitstreams for it.
    """

    title: str
    vendor: str
    io_attribute: str
    io_standards: tuple[tuple[str, str], ...]
    pin_file: str
    pull_up: tuple[str, object]
    pull_down: tuple[str, object] | None
    multiplier_blocks: bool
    open_tools: bool


LEVELS = ("LVCMOS33", "LVCMOS25", "LVCMOS18", "LVCMOS15", "LVCMOS12")

FAMILIES = {
    "ecp5": Family(
        title="Lattice ECP5",
        vendor="LatticeECP5Platform",
        io_attribute="IO_TYPE",
        io_standards=tuple((name, name) for name in (*LEVELS, "LVTTL33")),
        pin_file=".lpf",
        pull_up=("PULLMODE", "UP"),
        pull_down=("PULLMODE", "DOWN"),
        multiplier_blocks=True,
        open_tools=True,
    ),
    "ice40": Family(
        title="Lattice iCE40",
        vendor="LatticeICE40Platform",
        io_attribute="IO_STANDARD",
        # The level is that of the bank's supply; the tool knows one name for all of them.
        io_standards=tuple((name, "SB_LVCMOS") for name in LEVELS[:3]),
        pin_file=".pcf",
        pull_up=("PULLUP", 1),
        pull_down=None,
        multiplier_blocks=True,
        open_tools=True,
    ),
    "xilinx7": Family(
        title="Xilinx 7",
        vendor="XilinxPlatform",
        io_attribute="IOSTANDARD",
        io_standards=tuple((name, name) for name in (*LEVELS, "LVTTL")),
        pin_file=".xdc",
        pull_up=("PULLUP", "TRUE"),
        pull_down=("PULLDOWN", "TRUE"),
        multiplier_blocks=False,
        open_tools=False,
    ),
}
"""Families by the name that board files use."""


def io_attributes(family: str, standard: str) -> dict[str, str]:
    """Attributes that give a resource of ``family`` the I/O standard ``standard``."""
    kind = FAMILIES[family]
    return {kind.io_attribute: dict(kind.io_standards)[standard]}
