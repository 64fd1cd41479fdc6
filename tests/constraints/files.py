"""A board file of the tests, and edits of it."""

from pathlib import Path

from constraints.description import Board, load_board

BOARD = """\
name = "bench"
title = "a board on the bench"
family = "ecp5"
platform = "amaranth_boards.ecpix5:ECPIX585Platform"
device = "LFE5UM5G-85F-8BG554"
multipliers = 156
multiplier_style = "ecp5"
luts = 83_640
block_ram_bits = 3_833_856
memory_bytes = 65_536
tile = 4
io_standard = "LVCMOS33"
reset = "rst 0"
bitstream = true
notes = ["a note"]

[clock]
source = "clk100 0"
source_hz = 100_000_000
target_hz = 50_000_000

[uart]
resource = "uart 0"
baud = 115_200

[link]
flit_cycles = 2
latency_cycles = 8

[[links]]
name = "out0"
direction = "out"
connector = "pmod 0"
clock = "1"
valid = "2"
data = ["3", "4"]
back = "7"

[[links]]
name = "in0"
direction = "in"
connector = "pmod 7"
clock = "7"
clock_input = "GR_PCLK1_1"
valid = "8"
data = ["1", "2"]
back = "9"

[[free]]
connector = "pmod 0"
pins = ["8", "9"]
use = "a probe"
"""


def edited(*edits: tuple[str, str]) -> str:
    """The board file with texts replaced, each of which it has once."""
    text = BOARD
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def load(folder: Path, *edits: tuple[str, str]) -> Board:
    """The board of an edited file."""
    path = folder / "bench.toml"
    path.write_text(edited(*edits))
    return load_board(path)
