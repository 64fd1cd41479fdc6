"""Which attempt becomes the bitstream, and what is done about those that do not end."""

import json
import subprocess
from pathlib import Path

import pytest

from bitstream.builder import BuildOptions, build_program
from bitstream.stages import Attempt
from bitstream.tool_errors import FpgaToolEndlessError
from constraints.description import load_board
from tests.bitstream.tools import Tools, blink, small_program

ULX = load_board("ulx3s-85f")


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """Tools whose behaviour a test sets before it installs them."""
    blink(monkeypatch, differ=lambda chip: chip)
    return Tools(tmp_path / "tools")


def names(folder) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_script_of_a_chip_makes_its_bitstream_again(tmp_path, monkeypatch, tools):
    tools.reached_mhz = {1: 81.0, 2: 95.0, 3: 90.0}
    tools.behaviours = {"2_router1": "stalls"}
    tools.install(monkeypatch)
    build_program(
        tmp_path / "out", small_program(ULX), ULX, chips=(0,), options=BuildOptions(seeds=3)
    )
    chip = tmp_path / "out" / "chip_0"
    made = (chip / "top.bit").read_bytes()
    assert made == b"routed from seed 2 by router2, packed"
    (chip / "top.bit").unlink()
    subprocess.run(["sh", "build_top.sh"], cwd=chip, check=True, timeout=60)
    assert (chip / "top.bit").read_bytes() == made


@pytest.mark.parametrize("behaviour", ["stalls", "hangs"])
def test_the_next_router_takes_over_from_one_that_does_not_end(
    tmp_path, monkeypatch, tools, behaviour
):
    tools.behaviours = {"1_router1": behaviour}
    tools.install(monkeypatch)
    options = BuildOptions(limit_seconds=3)
    (build,) = build_program(tmp_path / "out", small_program(ULX), ULX, chips=(0,), options=options)
    assert build.best is not None
    assert build.best.attempt == Attempt(1, "router2")
    (given_up,) = build.given_up
    why = {
        "stalls": "router1 stalls from seed 1 with 7 of 5,012 arcs left",
        "hangs": "router1 from seed 1 took more than 3 s",
    }[behaviour]
    assert (given_up.attempt, given_up.why) == (Attempt(1, "router1"), why)
    chip = tmp_path / "out" / "chip_0"
    assert (chip / "top.bit").read_text() == "routed from seed 1 by router2, packed"
    assert "arcs" in (chip / "route_1_router1.log").read_text()
    reported = json.loads((chip / "report.json").read_text())
    assert (reported["seed"], reported["router"]) == (1, "router2")
    assert reported["given_up"] == [{"seed": 1, "router": "router1", "why": why}]
    assert "reached, seed 1 by router2" in (chip / "report.txt").read_text()
    assert why in (chip / "report.txt").read_text()


def test_no_process_of_a_tool_that_hangs_is_left(tmp_path, monkeypatch, tools):
    tools.behaviours = {"1_router1": "hangs"}
    tools.install(monkeypatch)
    options = BuildOptions(limit_seconds=3)
    build_program(tmp_path / "out", small_program(ULX), ULX, chips=(0,), options=options)
    (child,) = tools.pids.read_text().split()
    state = Path(f"/proc/{child}/stat")
    assert not state.exists() or ") Z " in state.read_text()


def test_another_seed_is_tried_where_a_router_that_was_asked_for_stalls(
    tmp_path, monkeypatch, tools
):
    tools.reached_mhz = {2: 90.0}
    tools.behaviours = {"1_router1": "stalls"}
    tools.install(monkeypatch)
    options = BuildOptions(router="router1")
    (build,) = build_program(tmp_path / "out", small_program(ULX), ULX, chips=(0,), options=options)
    assert build.best is not None
    assert build.best.attempt == Attempt(2, "router1")


def test_a_build_none_of_whose_attempts_ends_says_so_of_each(tmp_path, monkeypatch, tools):
    tools.behaviours = {f"{seed}_router2": "stalls" for seed in (1, 2, 3, 4)}
    tools.install(monkeypatch)
    options = BuildOptions(seeds=2, router="router2")
    with pytest.raises(FpgaToolEndlessError) as caught:
        build_program(tmp_path / "out", small_program(ULX), ULX, chips=(0,), options=options)
    stalls = [f"router2 stalls from seed {seed} with 7 of 5,012 arcs left" for seed in range(1, 5)]
    assert str(caught.value) == (
        f"place and route: nextpnr-ecp5 was ended: {'; '.join(stalls)}; try more seeds (--seeds), "
        "another --router, a smaller tile, or more time (--limit); its log is "
        f"{tmp_path / 'out.failed.log'}"
    )
    assert names(tmp_path) == {"tools", "out.failed.log"}


def test_what_is_left_to_route_is_told(tmp_path, monkeypatch, tools):
    tools.behaviours = {"1_router1": "tells"}
    tools.install(monkeypatch)
    told = []
    build_program(tmp_path / "out", small_program(ULX), ULX, chips=(0,), progress=told.append)
    assert told == [
        "chip 0: design",
        "chip 0: synthesis",
        "chip 0: place and route, seed 1 of 1 by router1",
        "chip 0: place and route, seed 1 of 1 by router1, 4,050 of 5,012 arcs left",
        "chip 0: bitstream",
    ]


def test_a_report_names_the_tools_with_their_versions(tmp_path, monkeypatch, tools):
    tools.install(monkeypatch)
    (build,) = build_program(tmp_path / "out", small_program(ULX), ULX, chips=(0,))
    assert build.tools == (("yosys", "0.70"), ("nextpnr-ecp5", "0.11.1"))
    chip = tmp_path / "out" / "chip_0"
    assert json.loads((chip / "report.json").read_text())["tools"] == dict(build.tools)
    assert "yosys 0.70, nextpnr-ecp5 0.11.1" in (chip / "report.txt").read_text()
