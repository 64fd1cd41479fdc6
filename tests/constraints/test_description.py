"""Boards by name and from a file, and every way in which a file can be wrong."""

import re

import pytest

from compiler.errors import ShardwrightError
from constraints.description import board_names, load_board
from constraints.errors import (
    BoardError,
    BoardFileError,
    BoardValueError,
    UnknownBoardError,
    UnknownPlatformError,
    UnknownResourceError,
)
from tests.constraints.files import BOARD, edited, load


def test_a_file_says_what_a_board_is(tmp_path):
    board = load(tmp_path)
    assert (board.name, board.family, board.tile) == ("bench", "ecp5", 4)
    assert (board.memory_bytes, board.io_standard) == (65_536, "LVCMOS33")
    assert (board.clock.pin, board.clock.source_hz) == ("K23", 100_000_000)
    assert board.clock.target_hz == 50_000_000
    assert (board.uart.rx, board.uart.tx, board.uart.baud) == ("R26", "R24", 115_200)
    assert (board.reset, board.reset_pin) == ("rst 0", "AB1")
    assert (board.link.flit_cycles, board.link.latency_cycles) == (2, 8)
    assert (board.link_pins, board.link_clock_hz) == (2, 25_000_000)
    assert [port.name for port in board.ports("out")] == ["out0"]
    assert [port.name for port in board.ports("in")] == ["in0"]
    assert board.package_pin("pmod 7", "7") == "C14"
    assert board.bitstream
    assert board.notes == ("a note",)
    (free,) = board.free
    assert (free.connector, free.pins, free.use) == ("pmod 0", ("8", "9"), "a probe")


def test_the_wires_of_a_port_and_who_drives_them(tmp_path):
    board = load(tmp_path)
    sender, receiver = board.link_by_name["out0"], board.link_by_name["in0"]
    assert sender.wires == (
        ("clock", "1"),
        ("valid", "2"),
        ("data[0]", "3"),
        ("data[1]", "4"),
        ("back", "7"),
    )
    driven = {wire for wire, _ in sender.wires if sender.drives(wire)}
    assert driven == {"clock", "valid", "data[0]", "data[1]"}
    assert {wire for wire, _ in receiver.wires if receiver.drives(wire)} == {"back"}


def test_button_free_pins_and_notes_may_be_left_out(tmp_path):
    text = edited(('reset = "rst 0"\n', ""), ('notes = ["a note"]\n', ""))
    path = tmp_path / "small.toml"
    path.write_text(text[: text.index("[[free]]")])
    board = load_board(str(path))
    assert (board.reset, board.reset_pin, board.free, board.notes) == (None, "", (), ())


def test_an_unknown_name_lists_the_boards():
    with pytest.raises(UnknownBoardError) as error:
        load_board("de10")
    assert str(error.value) == (
        f"no board is named 'de10'; the boards are {', '.join(board_names())}; "
        f"a board of your own is a file whose name ends in .toml"
    )


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(BoardFileError, match=r"^board file '.*none\.toml' cannot be read: "):
        load_board(tmp_path / "none.toml")


def test_a_file_that_is_no_toml_is_refused(tmp_path):
    with pytest.raises(BoardFileError, match=r"^board file '.*bench\.toml' is no TOML: "):
        load(tmp_path, ("tile = 4", "tile = "))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("tile = 4\n", "", "field 'tile' is missing; the fields are bitstream, "),
        ("tile = 4\n", "tile = 4\ncolour = 3\n", "field 'colour' is unknown; the fields are "),
        ("baud = 115_200", "", ", uart: field 'baud' is missing; the fields are baud, resource"),
        (
            "flit_cycles = 2",
            "flit_cycles = 2\nskew = 1",
            ", link: field 'skew' is unknown; the fields are flit_cycles, latency_cycles",
        ),
        ("target_hz", "goal_hz", ", clock: field 'goal_hz' is unknown; the fields are source, "),
        ('back = "7"\n', "", ", links: field 'back' is missing; the fields are back, clock, "),
        ('use = "a probe"', "", ", free: field 'use' is missing; the fields are connector, pins, "),
    ],
)
def test_missing_and_unknown_fields_are_named(tmp_path, old, new, message):
    with pytest.raises(BoardFileError) as error:
        load(tmp_path, (old, new))
    place = f"board file '{tmp_path / 'bench.toml'}'"
    separator = "" if message.startswith(",") else ": "
    assert str(error.value).startswith(f"{place}{separator}{message}")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("clock", "clock must be a [clock] table, not 3"),
        ("links", "links must be a list of [[links]] tables, not 3"),
        ("free", "free must be a list of [[free]] tables, not 3"),
    ],
)
def test_tables_must_be_tables(tmp_path, table, message):
    """The value stands at the head of the file in place of the tables."""
    text = re.sub(rf"^\[+{table}\]+\n(?:.+\n)*", "", BOARD, flags=re.MULTILINE)
    path = tmp_path / "bench.toml"
    path.write_text(f"{table} = 3\n{text}")
    with pytest.raises(BoardValueError) as error:
        load_board(path)
    assert str(error.value) == f"board 'bench': {message}"


@pytest.mark.parametrize(
    ("platform", "why"),
    [
        ("amaranth_boards.nowhere:Board", "No module named 'amaranth_boards.nowhere'"),
        ("amaranth_boards.ecpix5:Board", "it is None"),
        ("amaranth_boards.ecpix5", "it is None"),
        (":Board", "Empty module name"),
        (
            ".foo:Bar",
            "the 'package' argument is required to perform a relative import for '.foo'",
        ),
        (
            "amaranth.vendor:LatticeECP5Platform",
            "it is of no one board, for it does not state connectors, device, package, resources, "
            "speed",
        ),
        ("pathlib:Path", "it is <class 'pathlib.Path'>"),
    ],
)
def test_a_platform_must_be_one(tmp_path, platform, why):
    with pytest.raises(UnknownPlatformError) as error:
        load(tmp_path, ("amaranth_boards.ecpix5:ECPIX585Platform", platform))
    assert str(error.value) == (
        f"board 'bench': platform {platform!r} cannot be used: {why}; it must be a class of "
        f"Amaranth's build system as 'module:Class', and Python must find the module"
    )


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('source = "clk100 0"', 'source = "clk12 0"', "clock.source is resource 'clk12 0'"),
        ('resource = "uart 0"', 'resource = "uart 1"', "uart.resource is resource 'uart 1'"),
        ('reset = "rst 0"', 'reset = "button"', "reset is resource 'button'"),
    ],
)
def test_unknown_resources_list_what_the_platform_has(tmp_path, old, new, field):
    with pytest.raises(UnknownResourceError) as error:
        load(tmp_path, (old, new))
    start, _, known = str(error.value).partition("; it has ")
    assert start == f"board 'bench': {field}, which its platform lacks"
    assert {"clk100 0", "uart 0", "rst 0"} <= set(known.split(", "))


def test_every_error_of_a_board_is_one_of_this_project():
    assert issubclass(BoardError, ShardwrightError)
