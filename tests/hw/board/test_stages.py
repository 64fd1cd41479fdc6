"""The commands of each stage, and which files come out of them under which name."""

import json

import pytest

from hw.board import stages
from hw.board.build_errors import FpgaToolFailedError
from hw.board.build_plan import BuildPlan
from hw.board.stages import choose, pack, route, synthesize

PLANS = {
    "ecp5": BuildPlan(
        "ecp5",
        (),
        (
            ("yosys", "-q", "-l", "top.rpt", "top.ys"),
            ("nextpnr-ecp5", "--log", "top.tim", "--json", "top.json", "--textcfg", "top.config"),
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

    def run_tool(command, *, folder, stage, log):
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


@pytest.mark.parametrize(("family", "routed"), [("ecp5", "top_7.config"), ("ice40", "top_7.asc")])
def test_routing_keeps_apart_what_comes_of_each_seed(ran, tmp_path, family, routed):
    assert route(PLANS[family], tmp_path, seed=7) == {"of": "route_7.json"}
    ((stage, log, _, *words),) = ran
    assert (stage, log) == ("place and route", "route_7.log")
    assert words[words.index("--log") + 1] == log
    assert words[words.index("--seed") + 1] == "7"
    assert routed in words
    assert "--timing-allow-fail" in words


@pytest.mark.parametrize(("family", "suffix"), [("ecp5", "config"), ("ice40", "asc")])
def test_one_seed_is_chosen(tmp_path, family, suffix):
    for seed in (1, 2, 3):
        (tmp_path / f"top_{seed}.{suffix}").write_text(str(seed))
    choose(PLANS[family], tmp_path, seed=2)
    assert [path.name for path in tmp_path.iterdir()] == [f"top.{suffix}"]
    assert (tmp_path / f"top.{suffix}").read_text() == "2"


@pytest.mark.parametrize(("family", "bitstream"), [("ecp5", "top.bit"), ("ice40", "top.bin")])
def test_the_bitstream_is_packed_of_what_was_chosen(ran, tmp_path, family, bitstream):
    assert pack(PLANS[family], tmp_path) == tmp_path / bitstream
    assert ran == [("bitstream", "bitstream.log", *PLANS[family].commands[2])]


STAGES = {
    "synthesis": synthesize,
    "place and route": lambda plan, folder: route(plan, folder, seed=1),
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
        ("place and route", "nextpnr-ecp5", {}, "it did not write top_1.config"),
        ("place and route", "nextpnr-ecp5", {"top_1.config": ""}, "it did not write route_1.json"),
        ("bitstream", "ecppack", {}, "it did not write top.bit"),
    ],
)
def test_a_tool_that_does_not_write_what_it_is_run_for_has_failed(
    tmp_path, monkeypatch, stage, tool, written, why
):
    def run_tool(command, *, folder, stage, log):
        (folder / log).write_text("all is well\n")
        for name, text in written.items():
            (folder / name).write_text(text)

    monkeypatch.setattr(stages, "run_tool", run_tool)
    with pytest.raises(FpgaToolFailedError) as caught:
        STAGES[stage](PLANS["ecp5"], tmp_path)
    assert str(caught.value) == f"{stage}: {tool} ended with status 0: {why}"
    assert caught.value.log == "all is well\n"
