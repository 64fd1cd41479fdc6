"""What the tools of a board are given: its pins and clocks, and a design without assertions."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from amaranth.hdl import Signal
from amaranth.lib import data

from bitstream.build_plan import build_plan
from constraints.description import board_names, load_board
from hw.board.resources import platform_of
from tests.hw.board.designs import Blinker, location

ROOT = Path(__file__).parents[2]


def planned(name: str, **clock):
    board = load_board(name)
    board = replace(board, clock=replace(board.clock, **clock))
    return board, build_plan(Blinker(board), platform_of(board, ()), family=board.family)


@pytest.mark.parametrize("name", board_names())
def test_the_pin_file_has_the_pins_and_the_clock_of_the_board(name):
    board, plan = planned(name)
    number = board.clock.source.replace(" ", "_")
    assert location(plan, f"{number}__io") == board.clock.pin
    assert location(plan, f"{board.uart.resource.replace(' ', '_')}__tx__io") == board.uart.tx
    pins = dict(plan.files)[plan.pin_file]
    told = {
        "ecp5": f'FREQUENCY PORT "{number}__io" {board.clock.source_hz:.1f} HZ;',
        "ice40": f"set_frequency {number}__io {board.clock.source_hz / 1e6}",
        "xilinx7": f"create_clock -name {number}__io -period {1e9 / board.clock.source_hz} ",
    }
    assert told[plan.family] in pins


@pytest.mark.parametrize("name", board_names())
def test_no_assertion_is_left(name):
    _, plan = planned(name)
    design = "\n".join(text for file, text in plan.files if file.endswith((".il", ".v")))
    assert design
    for trace in ("$check", "assert", "without a value", "$write"):
        assert trace not in design


@pytest.mark.parametrize("name", ["ulx3s-85f", "icebreaker"])
def test_each_cell_is_to_say_where_it_comes_from(name):
    _, plan = planned(name)
    script = dict(plan.files)["top.ys"]
    assert 'setattr -set src "component=toggle" top.toggle/c:*\n' in script
    assert 'setattr -set src "component=" top/c:*\n' in script
    assert script.index("setattr") < script.index("synth_")


@pytest.mark.parametrize(
    ("name", "tools"),
    [
        ("ulx3s-85f", ["yosys", "nextpnr-ecp5", "ecppack"]),
        ("icebreaker", ["yosys", "nextpnr-ice40", "icepack"]),
        ("arty-a7-100t", ["vivado"]),
    ],
)
def test_a_command_for_each_stage(name, tools):
    _, plan = planned(name)
    assert [command[0] for command in plan.commands] == tools


def test_the_project_of_a_vendor_is_whole():
    _, plan = planned("arty-a7-100t")
    files = dict(plan.files)
    assert {"top.v", "top.xdc", "top.tcl"} <= set(files)
    assert "-part xc7a100ticsg324-1L" in files["top.tcl"]


def test_equal_designs_have_equal_plans_and_no_others():
    first, second, other = (
        planned("icebreaker", target_hz=hz)[1].digest for hz in (12_000_000, 12_000_000, 24_000_000)
    )
    assert first == second != other


def test_a_plan_holds_no_place_of_the_machine_that_made_it():
    _, plan = planned("ulx3s-85f")
    assert str(ROOT) not in "".join(text for _, text in plan.files)


def test_files_are_written_by_name(tmp_path):
    _, plan = planned("icebreaker")
    plan.write(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(name for name, _ in plan.files)
    assert (tmp_path / "top.pcf").read_text() == dict(plan.files)["top.pcf"]


class Elements(Blinker):
    """A blinker with an array of registers, and one that is called as if it were of the array."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        values = Signal(data.ArrayLayout(2, 3), name="values")
        other = Signal(name="values_1")
        m.d.sync += [values[0].eq(values[1]), values[1].eq(values[2]), values[2].eq(~values[0])]
        m.d.sync += other.eq(values[1].xor())
        return m


def test_no_name_looks_like_a_bit_of_another_and_none_is_given_twice():
    """Yosys 0.70 stops at an assertion at some of those that do."""
    board = load_board("icebreaker")
    platform = platform_of(board, ())
    design = dict(build_plan(Elements(board), platform, family=board.family).files)["top.il"]
    wires = re.findall(r"^module .*|^ *wire .*\\(\S+)$", design, re.MULTILINE)
    assert not [name for name in wires if "[" in name]
    assert {"values_0", "values_1", "values_1_", "values_2"} <= set(wires)
    assert "values [" in design, "bits of wires stay what they are"
