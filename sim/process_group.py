"""Processes that have a group of their own, with all that they start."""

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path


def start(
    command: Sequence[str], *, stdin: int, stderr: int, folder: Path | None = None
) -> subprocess.Popen[str]:
    """Start a command in a process group of its own, which no interrupt at a terminal reaches.

    Parameters
    ----------
    stdin, stderr : int
        As :class:`subprocess.Popen` takes them; what the command says on its output is piped.
    folder : path or None
        Working directory; that of this process if ``None``.

    Raises
    ------
    OSError
        If it cannot be started.
    """
    return subprocess.Popen(
        command,
        cwd=folder,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        encoding="utf-8",
        errors="replace",
        process_group=0,
    )


def kill(process: subprocess.Popen[str]) -> None:
    """Kill the group of a process that nobody has waited for, whose number is not given anew."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
