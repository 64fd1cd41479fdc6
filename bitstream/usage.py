"""What a netlist takes of a device, in all and for each component of the chip."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bitstream.build_plan import ORIGIN

KINDS: dict[str, str] = {
    "LUT4": "luts",
    "SB_LUT4": "luts",
    "CCU2C": "carries",
    "SB_CARRY": "carries",
    "TRELLIS_FF": "flip_flops",
    "TRELLIS_DPR16X4": "lut_memories",
    "MULT18X18D": "multipliers",
    "SB_MAC16": "multipliers",
    "DP16KD": "block_memories",
    "SB_RAM40_4K": "block_memories",
    "SB_SPRAM256KA": "large_memories",
}
"""What each type of cell counts as."""

COLUMNS = tuple(dict.fromkeys(KINDS.values()))

PREFIXES = {"SB_DFF": "flip_flops", "SB_RAM40_4K": "block_memories"}
"""The same for types of many variants, which begin so."""

CELL_TYPES = (
    "TRELLIS_FF|TRELLIS_DPR16X4|LUT4|CCU2C|PFUMX|L6MUX21|MULT18X18D|DP16KD"
    "|SB_LUT4|SB_CARRY|SB_DFF[A-Z]*|SB_MAC16|SB_RAM40_4K[A-Z]*|SB_SPRAM256KA"
)
BEHIND_SIGNAL = re.compile(rf"_(?:{CELL_TYPES})(?:_.*)?$")
"""What Yosys puts behind the name of a signal to name the cells around it."""
BIT = re.compile(r"\[\d+\]$")
CELL_OF_PIN = re.compile(r"(?:\.buf)?\.buf\d+(?:\$IOL|_D_OUT_0)?$")
"""What stands behind the buffer of a pin where the tools name its cell, or the register in it."""

CHIP = "chip"
BOARD = "board"
"""Names of the chip in the design of a board, and of that in the design for the tools."""
PIN = "pin_"
"""What the names of the buffers of single pins begin with."""
PINS = "pins"
TOP = "design"
"""What is in no component."""


class Names:
    """How the tools' names of a flat netlist are told in the names of the program.

    Parameters
    ----------
    netlist : dict
        The module that Yosys writes.
    chip : int
        Coordinate of the chip.
    """

    def __init__(self, netlist: dict[str, Any], chip: int):
        self.chip = chip
        self._cells, self._nets = netlist["cells"], netlist["netnames"]
        self._scopes = {n for n, cell in self._cells.items() if cell["type"] == "$scopeinfo"}
        self._drivers = {
            bit: name
            for name, cell in self._cells.items()
            for port, bits in cell["connections"].items()
            if cell.get("port_directions", {}).get(port) == "output"
            for bit in bits
        }

    def component(self, cell: str) -> str:
        """The component that a cell belongs to: ``c2.load_a`` is the chip's, others the board's.

        It is where the cell comes from, if that is known. Otherwise, it is where the signal is
        made that Yosys names the cell after.
        """
        scope = self._origin(cell)
        if scope is None:
            bits = self._nets.get(_signal(cell), {}).get("bits", [])
            drivers = (self._drivers[bit] for bit in bits if bit in self._drivers)
            scope = next((o for o in map(self._origin, drivers) if o is not None), None)
        return self._told(self._scope(cell) if scope is None else scope)

    def signal(self, cell: str) -> str:
        """The signal that a cell drives or stands next to, as ``c2.load_a.walk.loop_1``."""
        name = _signal(cell)
        chip = f"{BOARD}.{CHIP}."
        if name.startswith(chip):
            return f"c{self.chip}.{name.removeprefix(chip)}"
        return name.removeprefix(f"{BOARD}.")

    def _told(self, scope: str) -> str:
        match scope.split("."):
            case [""]:
                return TOP
            case [board, chip, *rest] if (board, chip) == (BOARD, CHIP):
                return ".".join([f"c{self.chip}", *rest[:1]])
            case [board, part, *_] if board == BOARD:
                return part
            case [part, *_]:
                return PINS if part.startswith(PIN) else part
        raise AssertionError(scope)

    def _origin(self, cell: str) -> str | None:
        """The instance that a cell was made in, where Yosys has handed that on."""
        attributes = self._cells.get(cell, {}).get("attributes", {})
        for source in attributes.get("src", "").split("|"):
            if source.startswith(ORIGIN):
                return source.removeprefix(ORIGIN)
        return None

    def _scope(self, cell: str) -> str:
        """The innermost instance that a cell is in by its name."""
        path = cell.split(".")
        scopes = (".".join(path[:end]) for end in range(len(path) - 1, 0, -1))
        return next((scope for scope in scopes if scope in self._scopes), "")


def _signal(cell: str) -> str:
    return CELL_OF_PIN.sub("", BIT.sub("", BEHIND_SIGNAL.sub("", cell)))


@dataclass(frozen=True)
class Usage:
    """Cells that a component takes.

    Parameters
    ----------
    luts : int
        Look-up tables of four inputs, without those that a family uses for carries and memories.
    carries : int
        Carry cells; one of ECP5 takes two look-up tables, one of iCE40 stands beside one.
    flip_flops, multipliers : int
        Flip-flops and multiplier blocks.
    lut_memories, block_memories, large_memories : int
        Memories of 16 words of 4 bits in look-up tables; block RAMs; single-port RAMs of iCE40.
    """

    luts: int = 0
    carries: int = 0
    flip_flops: int = 0
    lut_memories: int = 0
    multipliers: int = 0
    block_memories: int = 0
    large_memories: int = 0


def usage(cell_types: Iterable[str]) -> Usage:
    """What cells of these types take together."""
    counts = Counter(filter(None, map(_kind, cell_types)))
    return Usage(**{column: counts[column] for column in COLUMNS})


def usage_by_component(netlist: dict[str, Any], names: Names) -> dict[str, Usage]:
    """What each component takes, those of most look-up tables first.

    Of flip-flops, carries, memories and multipliers it is certain. Look-up tables are made of the
    logic of all components together; one counts for the component that makes the signal that Yosys
    names it after, the nearest one to it.
    """
    types: dict[str, list[str]] = {}
    for name, cell in netlist["cells"].items():
        if _kind(cell["type"]):
            types.setdefault(names.component(name), []).append(cell["type"])
    found = {component: usage(cells) for component, cells in types.items()}
    return dict(sorted(found.items(), key=lambda entry: (-entry[1].luts, entry[0])))


def _kind(cell_type: str) -> str | None:
    if cell_type in KINDS:
        return KINDS[cell_type]
    return next((kind for start, kind in PREFIXES.items() if cell_type.startswith(start)), None)
