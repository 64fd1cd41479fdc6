"""``shardwright build``: what it takes, prints and refuses; its tools are stood in for."""

import json
import signal
import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path

import pytest

from bitstream import builder
from bitstream.link_timing import LinkTiming
from constraints.description import load_board
from shardwright.programs import write_program
from tests.bitstream.tools import Tools, blink, small_program
from tests.shardwright.command import invoke, last_line

PRODUCT = "build --m 4 --n 4 --k 16 --chips 2 --tile 2 --board ulx3s-85f"


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """Tools whose speeds a test sets before it installs them."""
    blink(monkeypatch, differ=lambda chip: chip)
    return Tools(tmp_path / "tools")


def test_prints_a_line_for_each_chip(tmp_path, monkeypatch, tools):
    tools.install(monkeypatch)
    result = invoke(f"{PRODUCT} -o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert [line.partition(":")[0] for line in result.output.splitlines()] == [
        "chip 0 on ulx3s-85f",
        "chip 1 on ulx3s-85f",
    ]
    assert result.output.splitlines()[1].endswith("chip_1/top.bit")


def test_prints_one_json_object_and_nothing_else(tmp_path, monkeypatch, tools):
    tools.install(monkeypatch)
    result = invoke(f"{PRODUCT} --chip 1 --json -o", tmp_path / "out")
    told = json.loads(result.output)
    assert [chip["chip"] for chip in told["chips"]] == [1]
    assert told["folder"] == str(tmp_path / "out")


def test_the_program_is_for_the_machine_of_the_boards(tmp_path, monkeypatch, tools):
    tools.install(monkeypatch)
    invoke(f"{PRODUCT} --chip 0 -o", tmp_path / "out")
    program = json.loads((tmp_path / "out" / "program.json").read_text())["program"]
    board = load_board("ulx3s-85f")
    (link,) = program["links"]
    assert link["width_bits"] == board.link_pins
    assert link["latency_cycles"] == board.link.latency_cycles
    assert program["tile"] == 2


@pytest.mark.parametrize(
    ("board", "chips", "error"),
    [
        (
            "icebreaker",
            4,
            "chip c0 needs 3 'in' links, and board 'icebreaker' carries 1; take fewer chips, or "
            "boards with more links",
        ),
        (
            "ulx3s-85f",
            8,
            "chip c0 needs 7 'in' links, and board 'ulx3s-85f' carries 4; a tree needs 3 "
            "(--reduce tree)",
        ),
    ],
)
def test_a_star_that_a_board_has_no_ports_for_suggests_what_the_board_can_do(
    tmp_path, board, chips, error
):
    product = f"build --m 4 --n 4 --k 64 --tile 2 --chips {chips} --reduce star --board {board}"
    result = invoke(f"{product} -o", tmp_path / "out")
    assert (result.exit_code, last_line(result)) == (1, f"error: {error}")
    assert not (tmp_path / "out").exists()


def test_the_board_file_is_not_written_over(tmp_path):
    path = tmp_path / "mine.TOML"
    path.write_text(files("constraints").joinpath("icebreaker.toml").read_text())
    result = invoke("build --m 2 --n 2 --k 2 --board", path, "-o", path)
    assert last_line(result) == (
        f"error: output file {str(path)!r} cannot be written: it is a file, not a folder; choose "
        f"another place"
    )


def test_takes_a_compiled_program(tmp_path, monkeypatch, tools):
    tools.install(monkeypatch)
    path = tmp_path / "program.json"
    write_program(path, small_program(load_board("icebreaker")))
    result = invoke("build --board icebreaker --program", path, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out" / "program.json").read_text() == path.read_text()
    refused = invoke("build --board ulx3s-85f --program", path, "-o", tmp_path / "other")
    assert refused.exit_code == 1
    assert last_line(refused).startswith("error: program 'matmul_4x4x16_tree2' is not for board")


def test_timing_that_is_missed_is_an_error_with_the_reports_in_place(tmp_path, monkeypatch, tools):
    tools.reached_mhz = {1: 70.0}
    tools.install(monkeypatch)
    result = invoke(f"{PRODUCT} --chip 0 -o", tmp_path / "out")
    assert result.exit_code == 1
    assert "MISSED" in result.output
    assert last_line(result).startswith("error: timing is missed on board 'ulx3s-85f' by chip 0, ")
    assert (tmp_path / "out" / "chip_0" / "report.json").exists()
    assert not (tmp_path / "out" / "chip_0" / "top.bit").exists()


@pytest.mark.parametrize("option", ["--allow-slow", "--until route", "--until synthesis"])
def test_it_is_none_where_no_bitstream_is_missing(tmp_path, monkeypatch, tools, option):
    tools.reached_mhz = {1: 70.0}
    tools.install(monkeypatch)
    result = invoke(f"{PRODUCT} --chip 0 {option} -o", tmp_path / "out")
    assert result.exit_code == 0, result.output


def test_a_tool_that_fails_is_an_error_after_the_end_of_its_log(tmp_path, monkeypatch, tools):
    tools.reached_mhz = {}
    tools.install(monkeypatch)
    result = invoke(f"{PRODUCT} -o", tmp_path / "out")
    assert result.exit_code == 1
    assert "routed\nERROR: no cell is left for seed 1\n" in result.output
    assert last_line(result).startswith("error: place and route: nextpnr-ecp5 ended with status 1")
    assert not (tmp_path / "out").exists()


def test_a_tool_that_cannot_be_started_is_no_fault_of_the_output(tmp_path, monkeypatch, tools):
    tools.install(monkeypatch)
    yosys = tools.folder / "yosys"
    yosys.write_bytes(b"\x7fELF of another machine")
    result = invoke(f"{PRODUCT} -o", tmp_path / "out")
    assert result.exit_code == 1
    assert last_line(result) == (
        f"error: synthesis: yosys cannot be started: {yosys}: Exec format error; "
        f"its log is {tmp_path / 'out.failed.log'}"
    )


def test_a_tool_that_writes_no_report_is_named(tmp_path, monkeypatch, tools):
    tools.install(monkeypatch)
    (tools.folder / "nextpnr-ecp5").write_text("#!/bin/sh\n")
    result = invoke(f"{PRODUCT} -o", tmp_path / "out")
    assert result.exit_code == 1
    assert last_line(result).startswith(
        "error: place and route: nextpnr-ecp5 ended with status 0: "
        "it did not write top_1_router1.config"
    )


def test_a_program_of_more_memory_than_the_boards_have_is_refused(tmp_path, monkeypatch, tools):
    tools.install(monkeypatch)
    small = tmp_path / "small.toml"
    text = (files("constraints") / "icebreaker.toml").read_text()
    small.write_text(text.replace("memory_bytes = 12_288", "memory_bytes = 32"))
    path = tmp_path / "program.json"
    write_program(path, small_program(load_board("icebreaker")))
    result = invoke("build --board", small, "--program", path, "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert last_line(result).startswith(
        "error: program 'matmul_4x4x16_tree2' is not for board 'icebreaker': its memory of chip 0 "
        "in bytes is "
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("chip", ["2", "-1", "some"])
def test_a_chip_that_is_not_there_is_refused(tmp_path, chip):
    result = invoke(f"{PRODUCT} --chip={chip} -o", tmp_path / "out")
    assert result.exit_code == 2
    assert f"--chip {chip}: it must be all, or a chip from 0 to 1" in result.output


def test_a_link_that_misses_its_window_is_missed_timing(tmp_path, monkeypatch, tools):
    missed = (LinkTiming("out0", "out", 7.5, 6.25),)
    monkeypatch.setattr(builder, "link_timings", lambda *_: missed)
    tools.install(monkeypatch)
    result = invoke(f"{PRODUCT} --chip 0 -o", tmp_path / "out")
    assert result.exit_code == 1
    assert "link out0 MISSED" in result.output
    assert last_line(result).startswith("error: timing is missed on board 'ulx3s-85f' by chip 0, ")
    assert not (tmp_path / "out" / "chip_0" / "top.bit").exists()
    allowed = invoke(f"{PRODUCT} --chip 0 --allow-slow -o", tmp_path / "allowed")
    assert allowed.exit_code == 0, allowed.output
    assert (tmp_path / "allowed" / "chip_0" / "top.bit").exists()


def test_the_router_that_is_asked_for_is_taken_and_others_are_unknown(tmp_path, monkeypatch, tools):
    tools.install(monkeypatch)
    result = invoke(f"{PRODUCT} --chip 0 --router router2 -o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    made = (tmp_path / "out" / "chip_0" / "top.bit").read_text()
    assert made == "routed from seed 1 by router2, packed"
    refused = invoke(f"{PRODUCT} --router router3 -o", tmp_path / "other")
    assert refused.exit_code == 2
    assert "'router3' is not one of 'auto', 'router1', 'router2'" in refused.output


@pytest.mark.parametrize(
    ("stage", "why"),
    [
        ("yosys", "it took more than 1 s"),
        pytest.param(
            "nextpnr-ecp5",
            "router1 from seed 1 took more than 1 s; router2 from seed 1 took more ",
            marks=pytest.mark.slow,
        ),
        ("ecppack", "it took more than 1 s"),
    ],
)
def test_a_tool_that_does_not_end_is_ended(tmp_path, monkeypatch, tools, stage, why):
    tools.install(monkeypatch)
    (tools.folder / stage).write_text('#!/bin/sh\ntest "$1" = --version || exec sleep 600\n')
    result = invoke(f"{PRODUCT} --chip 0 --limit 1 -o", tmp_path / "out")
    assert result.exit_code == 1
    assert f": {stage} was ended: {why}" in last_line(result)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 1), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_build_that_is_interrupted_leaves_no_process_and_no_folder(
    tmp_path, monkeypatch, tools, number, status
):
    tools.install(monkeypatch)
    pids = tmp_path / "pids"
    hangs = f"#!/bin/sh\necho $$ > {pids}.new\nmv {pids}.new {pids}\nexec sleep 600\n"
    (tools.folder / "yosys").write_text(hangs)
    command = [sys.executable, "-c", "from shardwright.cli import main; main()"]
    options = [*PRODUCT.split(), "--chip", "0", "-o", str(tmp_path / "out")]
    with subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as build:
        while not pids.exists():
            assert build.poll() is None
            time.sleep(0.05)
        build.send_signal(number)
        said, _ = build.communicate(timeout=30)
    assert build.returncode == status
    assert "Traceback" not in said
    state = Path(f"/proc/{pids.read_text().strip()}/stat")
    assert not state.exists() or ") Z " in state.read_text()
    assert {path.name for path in tmp_path.iterdir()} == {"tools", "pids"}


@pytest.mark.parametrize("limit", ["0", "-1", "nan", "inf", "1e30", "10000000", "some"])
def test_a_limit_is_a_number_of_seconds(tmp_path, limit):
    result = invoke(f"{PRODUCT} --limit={limit} -o", tmp_path / "out")
    assert result.exit_code == 2
    assert "Invalid value for '--limit'" in result.output


@pytest.mark.parametrize("seeds", [0, 1001, 10**24])
def test_a_number_of_seeds_out_of_any_sense_is_refused(tmp_path, seeds):
    result = invoke(f"{PRODUCT} --seeds {seeds} -o", tmp_path / "out")
    assert result.exit_code == 2
    assert f"Invalid value for '--seeds': {seeds} is not in the range 1<=x<=1000." in result.output


@pytest.mark.parametrize("option", ["--target token-mesh", "--link-width 8", "--flit-cycles 2"])
def test_the_machine_is_that_of_the_board(tmp_path, option):
    result = invoke(f"{PRODUCT} {option} -o", tmp_path / "out")
    assert result.exit_code == 2
    assert "No such option" in result.output


def test_a_board_that_is_not_there_is_refused(tmp_path):
    result = invoke("build --m 4 --n 4 --k 8 --board breadboard -o", tmp_path / "out")
    assert result.exit_code == 1
    assert last_line(result).startswith("error: no board is named 'breadboard'; the boards are ")


def test_a_folder_that_holds_something_is_refused_at_once(tmp_path):
    (tmp_path / "file").touch()
    result = invoke(f"{PRODUCT} -o", tmp_path)
    assert result.exit_code == 1
    assert "the folder is not empty" in last_line(result)
