"""The commands of each stage, and which files come out of them under which name."""

import json

import pytest

from bitstream import stages
from bitstream.build_plan import BuildPlan, build_plan
from bitstream.router import STALL_ROWS
from bitstream.stages import Attempt, choose, pack, route, synthesize
from bitstream.tool_errors import FpgaToolEndlessError, FpgaToolFailedError
from constraints.description import load_board
from hw.board.resources import platform_of
from tests.hw.board.designs import Blinker

PLANS = {
    "ecp5": BuildPlan(
        "ecp5",
        (),
        (
            ("yosys", "-q", "-l", "top.rpt", "top.ys"),
            (
                *("nextpnr-ecp5", "--quiet", "--log", "top.tim", "--json", "top.json"),
                *("--textcfg", "top.config"),
            ),
            ("ecppack", "--input", "top.config", "--bit", "top.bit"),
        ),
    ),
    "ice40": BuildPlan(
        "ice40",
        (),
        (
            ("yosys", "-q", "-l", "top.rpt", "top.ys"),
            ("nextpnr-ice40", "--log", "top.tim", "--json", "top.json", "--asc", "top.asc"),
            ("icepack", "top.asc", "top.bin"),
        ),
    ),
}


@pytest.fixture
def ran(monkeypatch, tmp_path):
    """What is run, as it is run; each command writes what its stage is to make."""
    commands = []

    def run_tool(command, *, folder, stage, log, **_):
        commands.append((stage, log, *command))
        if "--report" in command:
            report = command[command.index("--report") + 1]
            (folder / report).write_text(json.dumps({"of": report}))
        (folder / "top.json").write_text(json.dumps({"modules": {"top": {"cells": {}}}}))
        for word in command:
            if word.endswith((".config", ".asc", ".bit", ".bin")):
                (folder / word).touch()

    monkeypatch.setattr(stages, "run_tool", run_tool)
    return commands


def test_synthesis_writes_its_own_log_and_gives_the_netlist(ran, tmp_path):
    assert synthesize(PLANS["ecp5"], tmp_path) == {"cells": {}}
    log = "synthesis.log"
    assert ran == [("synthesis", log, "yosys", "-q", "-l", log, "top.ys")]


@pytest.mark.parametrize(
    ("family", "routed"), [("ecp5", "top_7_router2.config"), ("ice40", "top_7_router2.asc")]
)
def test_routing_keeps_apart_what_comes_of_each_attempt(ran, tmp_path, family, routed):
    attempt = Attempt(7, "router2")
    assert route(PLANS[family], tmp_path, attempt) == {"of": "route_7_router2.json"}
    ((stage, log, _, *words),) = ran
    assert (stage, log) == ("place and route", "route_7_router2.log")
    assert words[words.index("--log") + 1] == log
    assert words[words.index("--seed") + 1] == "7"
    assert words[words.index("--router") + 1] == "router2"
    assert routed in words
    assert "--timing-allow-fail" in words
    assert "--quiet" not in words


def row(left: int) -> str:
    return f"Info:       1000 |       13        986 |   13   986 | {left:9}|       0.10       0.10|"


def hearing(monkeypatch, *lines: str) -> None:
    """Let the tool say these lines."""

    def run_tool(command, *, folder, stage, log, limit_seconds, listen):
        (folder / log).write_text("\n".join(lines))
        for line in lines:
            listen(line)
        for word in command:
            if word.startswith(("top_", "route_")):
                (folder / word).write_text("{}")

    monkeypatch.setattr(stages, "run_tool", run_tool)


def test_what_is_left_to_route_is_told_as_the_router_says_it(tmp_path, monkeypatch):
    hearing(monkeypatch, "Info: Routing 5012 arcs.", row(4050), "Info: else", row(12))
    told = []
    route(PLANS["ecp5"], tmp_path, Attempt(1, "router1"), told=told.append)
    assert told == ["4,050 of 5,012 arcs left", "12 of 5,012 arcs left"]


def test_a_router_that_stalls_is_told_with_what_it_has_left_and_its_log(tmp_path, monkeypatch):
    hearing(monkeypatch, "Info: Routing 5012 arcs.", *[row(12)] * (STALL_ROWS + 1))
    with pytest.raises(FpgaToolEndlessError) as caught:
        route(PLANS["ecp5"], tmp_path, Attempt(3, "router1"))
    assert str(caught.value) == (
        "place and route: nextpnr-ecp5 was ended: router1 stalls from seed 3 with 12 of 5,012 arcs "
        "left"
    )
    assert caught.value.log.startswith("Info: Routing 5012 arcs.\n")


@pytest.mark.parametrize(("family", "suffix"), [("ecp5", "config"), ("ice40", "asc")])
def test_one_attempt_is_chosen(tmp_path, family, suffix):
    attempts = [Attempt(1, "router1"), Attempt(2, "router2"), Attempt(3, "router1")]
    for attempt in attempts:
        (tmp_path / f"top_{attempt}.{suffix}").write_text(str(attempt.seed))
    choose(PLANS[family], tmp_path, attempts[1])
    assert [path.name for path in tmp_path.iterdir()] == [f"top.{suffix}"]
    assert (tmp_path / f"top.{suffix}").read_text() == "2"


@pytest.mark.parametrize(("name", "routed"), [("ulx3s-85f", "config"), ("icebreaker", "asc")])
def test_the_scripts_of_a_folder_make_what_was_chosen(tmp_path, name, routed):
    board = load_board(name)
    plan = build_plan(Blinker(board), platform_of(board, ()), family=board.family)
    plan.write(tmp_path)
    attempt = Attempt(5, "router2")
    (tmp_path / f"top_{attempt}.{routed}").touch()
    choose(plan, tmp_path, attempt)
    ending = f"top.{routed} --seed 5 --router router2 --timing-allow-fail"
    shell = (tmp_path / "build_top.sh").read_text()
    assert f"{ending}\n" in shell
    assert f"{ending} || exit /b\n" in (tmp_path / "build_top.bat").read_text()
    commands = json.loads((tmp_path / "build_top.json").read_text())["commands"]
    assert " ".join(commands[1]).endswith(ending)
    changed = {n for n, text in plan.files if (tmp_path / n).read_text() != text}
    assert changed == {"build_top.sh", "build_top.bat", "build_top.json"}


@pytest.mark.parametrize(("family", "bitstream"), [("ecp5", "top.bit"), ("ice40", "top.bin")])
def test_the_bitstream_is_packed_of_what_was_chosen(ran, tmp_path, family, bitstream):
    assert pack(PLANS[family], tmp_path) == tmp_path / bitstream
    assert ran == [("bitstream", "bitstream.log", *PLANS[family].commands[2])]


STAGES = {
    "synthesis": synthesize,
    "place and route": lambda plan, folder: route(plan, folder, Attempt(1, "router1")),
    "bitstream": pack,
}


@pytest.mark.parametrize(
    ("stage", "tool", "written", "why"),
    [
        ("synthesis", "yosys", {}, "it did not write top.json"),
        ("synthesis", "yosys", {"top.json": "{}"}, "its top.json has no module 'top'"),
        (
            "synthesis",
            "yosys",
            {"top.json": ""},
            "its top.json is no JSON: Expecting value: line 1 column 1 (char 0)",
        ),
        ("synthesis", "yosys", {"top.json": "[]"}, "its top.json is no JSON object"),
        ("place and route", "nextpnr-ecp5", {}, "it did not write top_1_router1.config"),
        (
            "place and route",
            "nextpnr-ecp5",
            {"top_1_router1.config": ""},
            "it did not write route_1_router1.json",
        ),
        ("bitstream", "ecppack", {}, "it did not write top.bit"),
    ],
)
def test_a_tool_that_does_not_write_what_it_is_run_for_has_failed(
    tmp_path, monkeypatch, stage, tool, written, why
):
    def run_tool(command, *, folder, stage, log, **_):
        (folder / log).write_text("all is well\n")
        for name, text in written.items():
            (folder / name).write_text(text)

    monkeypatch.setattr(stages, "run_tool", run_tool)
    with pytest.raises(FpgaToolFailedError) as caught:
        STAGES[stage](PLANS["ecp5"], tmp_path)
    assert str(caught.value) == f"{stage}: {tool} ended with status 0: {why}"
    assert caught.value.log == "all is well\n"
