import json
import re

import pytest

from constraints.description import board_names, load_board
from tests.constraints.files import BOARD
from tests.shardwright.command import invoke, last_line

TABLE = """\
boards = ["ulx3s-85f", "ulx3s-85f"]

[[wires]]
from = "c1.out0"
to = "c0.in2"
"""


def test_it_lists_every_board():
    lines = invoke("boards").output.splitlines()
    cells = [re.split(r" {2,}", line) for line in lines]
    assert [row[0] for row in cells] == ["board", *board_names()]
    for name, row in zip(board_names(), cells[1:], strict=True):
        board = load_board(name)
        assert row[1] == board.device
        assert row[2] == f"{board.clock.target_hz // 1_000_000} MHz"
        out, into = len(board.ports("out")), len(board.ports("in"))
        assert row[3] == f"{out} out + {into} in, {board.link_pins} data pins"
        assert row[4] == str(board.tile)
        assert row[6] == str(sum(len(free.pins) for free in board.free))
        assert row[7] == ("bitstream" if board.bitstream else "vendor project")


@pytest.mark.parametrize("name", board_names())
def test_one_board_with_the_package_pin_of_every_wire(name):
    board = load_board(name)
    head, _, table = invoke(f"boards {name}").output.partition("\n\n")
    assert head.startswith(f"{name}: {board.title}\n")
    assert all(note in head for note in board.notes)
    rows = [re.split(r" {2,}", line) for line in table.splitlines()]
    assert rows[0][:3] == ["port", "wire", "here"]
    wires = [(port, wire, pin) for port in board.links for wire, pin in port.wires]
    for (port, wire, pin), row in zip(wires, rows[1:], strict=True):
        sends = (port.direction == "out") != (wire == "back")
        assert row[:3] == [port.name, wire, "driven" if sends else "read"]
        assert row[3:6] == [port.connector, pin, board.package_pin(port.connector, pin)]
        is_clock_input = wire == "clock" and port.direction == "in"
        assert row[6:] == ([port.clock_input or "ordinary pin"] if is_clock_input else [])


def test_a_board_without_a_button_and_free_pins(tmp_path):
    text = BOARD.replace('reset = "rst 0"\n', "")
    (tmp_path / "mine.toml").write_text(text[: text.index("[[free]]")])
    lines = invoke("boards", tmp_path / "mine.toml").output.splitlines()
    assert "  reset     none" in lines
    assert not [line for line in lines if line.startswith("  free")]


def test_the_cables_of_a_star():
    lines = invoke("boards ulx3s-85f --chips 3 --reduce star").output.splitlines()
    assert lines[:4] == [
        "c0: ulx3s-85f, in0, in1",
        "c1: ulx3s-85f, out0",
        "c2: ulx3s-85f, out0",
        "",
    ]
    rows = [re.split(r" {2,}", line) for line in lines[4:]]
    assert rows[0] == ["cable", "wire", "driven at", "read at"]
    assert rows[1] == [
        "c1.out0->c0.in0",
        "clock",
        "c1 gpio 0 pin 19+ (F17)",
        "c0 gpio 0 pin 0+ (B11)",
    ]
    assert rows[11] == [
        "c1.out0->c0.in0",
        "back",
        "c0 gpio 0 pin 6+ (C6)",
        "c1 gpio 0 pin 24+ (C16)",
    ]
    assert len(rows) == 1 + 2 * 11


def test_a_tree_is_the_default():
    tree = invoke("boards ulx3s-85f --chips 4 --reduce tree").output
    assert invoke("boards ulx3s-85f --chips 4").output == tree
    assert "c3.out0->c2.in0" in tree


def test_one_chip_has_no_table():
    assert invoke("boards icebreaker --chips 1").output == "c0: icebreaker, no link\n"


def test_a_table_of_cables(tmp_path):
    (tmp_path / "cables.toml").write_text(TABLE)
    text = invoke("boards --cabling", tmp_path / "cables.toml").output
    assert text.startswith("c0: ulx3s-85f, in2\nc1: ulx3s-85f, out0\n")
    assert "c1.out0->c0.in2" in text


def test_json_has_every_field():
    records = json.loads(invoke("boards --json").output)
    assert [record["name"] for record in records] == list(board_names())
    one = json.loads(invoke("boards icebreaker --json").output)
    assert one in records
    assert one["clock"] == {
        "source": "clk12 0",
        "source_hz": 12_000_000,
        "target_hz": 24_000_000,
        "pin": "35",
    }
    assert one["uart"] == {"resource": "uart 0", "baud": 1_000_000, "rx": "6", "tx": "9"}
    out0, in0 = one["links"]
    assert out0["package_pins"]["clock"] == "28"
    assert in0["package_pins"] == {
        "clock": "44",
        "valid": "46",
        "data[0]": "4",
        "data[1]": "2",
        "data[2]": "47",
        "data[3]": "45",
        "back": "48",
    }


def test_json_of_cables():
    record = json.loads(invoke("boards icebreaker --chips 2 --json").output)
    assert record["boards"] == ["icebreaker", "icebreaker"]
    (cable,) = record["cables"]
    assert cable["from"] == {"chip": 1, "port": "out0"}
    assert cable["to"] == {"chip": 0, "port": "in0"}
    assert [wire["wire"] for wire in cable["wires"]] == [
        "clock",
        "valid",
        *(f"data[{index}]" for index in range(4)),
        "back",
    ]
    assert cable["wires"][-1] == {
        "wire": "back",
        "driver": {
            "chip": 0,
            "port": "in0",
            "connector": "pmod 0",
            "pin": "8",
            "package_pin": "48",
        },
        "listener": {
            "chip": 1,
            "port": "out0",
            "connector": "pmod 1",
            "pin": "8",
            "package_pin": "36",
        },
    }


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("boards de10", "error: no board is named 'de10'; the boards are arty-a7-100t, "),
        (
            "boards ulx3s-85f --chips 8 --reduce star",
            "error: chip c0 needs 7 'in' links, and board 'ulx3s-85f' carries 4; a tree needs 3 "
            "(--reduce tree)",
        ),
        ("boards --chips 2", "Error: --chips needs a BOARD."),
        (
            f"boards ulx3s-85f --chips {10**24}",
            f"Error: Invalid value for '--chips': {10**24} is not in the range 1<=x<=1024.",
        ),
        (
            "boards icebreaker --cabling x.toml",
            "Error: --cabling names its boards: give no BOARD and no --chips.",
        ),
        ("boards --cabling none.toml", "error: cabling file 'none.toml' cannot be read: "),
    ],
)
def test_refusals(command, message):
    result = invoke(command)
    assert result.exit_code in (1, 2)
    assert last_line(result).startswith(message)
