"""The folder of a build: whole or not there, with the best seed's bitstream and every report."""

import json
from dataclasses import replace

import pytest

from bitstream.builder import BuildOptions, build_program
from bitstream.tool_errors import (
    FpgaToolFailedError,
    FpgaToolMissingError,
    StageError,
)
from compiler.errors import UncertifiedProgramError
from compiler.serialize import from_json
from constraints.description import load_board
from sim.errors import OutputFileError
from tests.bitstream.tools import Tools, blink, small_program

ICE, ULX, ARTY = (load_board(name) for name in ("icebreaker", "ulx3s-85f", "arty-a7-100t"))


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """Tools whose speeds a test sets before it installs them."""
    blink(monkeypatch, differ=lambda chip: chip)
    return Tools(tmp_path / "tools")


def names(folder) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize(("board", "bitstream"), [(ICE, "top.bin"), (ULX, "top.bit")])
def test_every_chip_gets_a_bitstream_with_all_that_it_was_made_of(
    tmp_path, monkeypatch, tools, board, bitstream
):
    tools.install(monkeypatch)
    program = small_program(board)
    folder = tmp_path / "new" / "out"
    builds = build_program(folder, program, board, chips=(0, 1))
    assert [(build.chip, build.bitstream, build.met) for build in builds] == [
        (0, bitstream, True),
        (1, bitstream, True),
    ]
    assert names(folder) == {
        *("program.json", "cabling.txt", "cabling.json", "report.json"),
        *("chip_0", "chip_1"),
    }
    assert from_json((folder / "program.json").read_text()) == program
    assert "c1.out0->c0.in0" in (folder / "cabling.txt").read_text()
    chip = folder / "chip_0"
    assert (chip / bitstream).read_text() == "routed from seed 1 by router1, packed"
    assert {"top.il", "top.ys", "build_top.sh", "registers.json", "registers.md"} <= names(chip)
    assert {"synthesis.log", "route_1_router1.log", "bitstream.log", "report.txt"} <= names(chip)
    assert {"top.pcf", "top.lpf"} & names(chip)
    assert names(tmp_path / "new") == {"out"}


def test_reports_say_what_was_built(tmp_path, monkeypatch, tools):
    tools.install(monkeypatch)
    (build,) = build_program(tmp_path / "out", small_program(ULX), ULX, chips=(1,))
    reported = json.loads((tmp_path / "out" / "chip_1" / "report.json").read_text())
    assert json.loads((tmp_path / "out" / "report.json").read_text()) == {"chips": [reported]}
    assert reported["components"]["c1.matmul"]["multipliers"] == 1
    assert reported["clocks"][0]["achieved_hz"] == 90e6
    assert "c1.host_port" in (tmp_path / "out" / "chip_1" / "report.txt").read_text()
    assert build.components["c1.matmul"].multipliers == 1


def test_the_best_of_the_seeds_is_taken(tmp_path, monkeypatch, tools):
    tools.reached_mhz = {1: 81.0, 2: 95.0, 3: 90.0}
    tools.install(monkeypatch)
    (build,) = build_program(
        tmp_path / "out", small_program(ULX), ULX, chips=(0,), options=BuildOptions(seeds=3)
    )
    assert build.best is not None
    assert build.best.seed == 2
    chip = tmp_path / "out" / "chip_0"
    assert (chip / "top.bit").read_text() == "routed from seed 2 by router1, packed"
    assert {f"route_{seed}_router1.log" for seed in (1, 2, 3)} <= names(chip)
    assert not list(chip.glob("top_*.config"))


@pytest.mark.parametrize(
    ("until", "made", "missing"),
    [
        ("synthesis", {"top.json"}, {"top.config", "top.bit", "route_1_router1.log"}),
        ("route", {"top.json", "top.config"}, {"top.bit"}),
    ],
)
def test_a_build_ends_where_it_is_told_to(tmp_path, monkeypatch, tools, until, made, missing):
    tools.install(monkeypatch)
    for tool in {"synthesis": ("nextpnr-ecp5", "ecppack"), "route": ("ecppack",)}[until]:
        (tools.folder / tool).unlink()
    (build,) = build_program(
        tmp_path / "out", small_program(ULX), ULX, chips=(0,), options=BuildOptions(until=until)
    )
    assert build.bitstream == ""
    assert made <= names(tmp_path / "out" / "chip_0")
    assert not missing & names(tmp_path / "out" / "chip_0")


def test_a_bitstream_that_misses_its_timing_is_refused(tmp_path, monkeypatch, tools):
    tools.reached_mhz = {1: 79.0}
    tools.install(monkeypatch)
    (build,) = build_program(tmp_path / "out", small_program(ULX), ULX, chips=(0,))
    assert not build.met
    assert build.bitstream == ""
    assert "top.bit" not in names(tmp_path / "out" / "chip_0")
    assert "MISSED" in (tmp_path / "out" / "chip_0" / "report.txt").read_text()


def test_it_is_made_where_that_is_allowed(tmp_path, monkeypatch, tools):
    tools.reached_mhz = {1: 79.0}
    tools.install(monkeypatch)
    options = BuildOptions(allow_slow=True)
    (build,) = build_program(tmp_path / "out", small_program(ULX), ULX, chips=(0,), options=options)
    assert (build.met, build.bitstream) == (False, "top.bit")


def test_chips_of_equal_designs_are_built_once(tmp_path, monkeypatch, tools):
    blink(monkeypatch, differ=lambda chip: chip % 2)
    tools.install(monkeypatch)
    told = []
    program = small_program(ULX, chips=4)
    builds = build_program(tmp_path / "out", program, ULX, chips=range(4), progress=told.append)
    assert [build.same_as for build in builds] == [None, None, 0, 1]
    assert sum("synthesis" in line for line in told) == 2
    assert (tmp_path / "out" / "chip_2" / "top.bit").read_text().endswith("packed")
    reported = json.loads((tmp_path / "out" / "chip_2" / "report.json").read_text())
    assert (reported["chip"], reported["same_as"]) == (2, 0)
    assert {name.partition(".")[0] for name in reported["components"]} >= {"c2"}


def test_a_tool_that_fails_leaves_its_log_and_no_folder(tmp_path, monkeypatch, tools):
    tools.reached_mhz = {}
    tools.install(monkeypatch)
    folder = tmp_path / "out"
    with pytest.raises(FpgaToolFailedError, match=r"no cell is left .*out\.failed\.log$"):
        build_program(folder, small_program(ULX), ULX, chips=(0,))
    assert (
        tmp_path / "out.failed.log"
    ).read_text() == "routed\nERROR: no cell is left for seed 1\n"
    assert names(tmp_path) == {"tools", "out.failed.log"}


def test_a_board_without_open_tools_gets_the_project_of_its_vendor(tmp_path, monkeypatch):
    blink(monkeypatch)
    monkeypatch.setenv("PATH", "")
    (build,) = build_program(tmp_path / "out", small_program(ARTY), ARTY, chips=(0,))
    assert (build.bitstream, build.total) == ("", None)
    assert {"top.v", "top.xdc", "top.tcl", "report.json"} <= names(tmp_path / "out" / "chip_0")
    with pytest.raises(StageError, match="open tools make no bitstream for board 'arty-a7-100t'"):
        build_program(
            tmp_path / "no",
            small_program(ARTY),
            ARTY,
            chips=(0,),
            options=BuildOptions(until="route"),
        )


def test_what_is_missing_is_said_before_anything_is_made(tmp_path, monkeypatch, tools):
    tools.install(monkeypatch)
    (tools.folder / "ecppack").unlink()
    monkeypatch.setenv("PATH", str(tools.folder))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(FpgaToolMissingError, match="ecppack"):
        build_program(tmp_path / "out", small_program(ULX), ULX, chips=(0,))
    assert names(tmp_path) == {"tools"}


def test_a_folder_that_holds_something_is_left_alone(tmp_path, monkeypatch, tools):
    tools.install(monkeypatch)
    with pytest.raises(OutputFileError, match="the folder is not empty"):
        build_program(tmp_path, small_program(ULX), ULX, chips=(0,))


def test_a_program_without_certificate_is_not_built(tmp_path, monkeypatch, tools):
    tools.install(monkeypatch)
    program = replace(small_program(ULX), certificate=None)
    with pytest.raises(UncertifiedProgramError):
        build_program(tmp_path / "out", program, ULX, chips=(0,))
