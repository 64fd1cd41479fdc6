"""Tools that run beside each other in threads, and end together."""

import subprocess
from collections.abc import Sequence
from concurrent.futures import CancelledError
from threading import Lock

from sim.process_group import kill, start


class ToolRuns:
    """Runs tools for any number of threads, until it is stopped.

    A tool is a process group of its own: what it starts itself ends with it, and an interrupt at
    the terminal does not reach it, so none is taken for a refusal of the tool.
    """

    def __init__(self):
        self._lock = Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._stopped = False

    def run(self, command: Sequence[str], *, said: str = "") -> subprocess.CompletedProcess[str]:
        """Run a tool to its end; ``said`` is what it reads.

        Raises
        ------
        OSError
            If it cannot be started.
        CancelledError
            If this is stopped.
        """
        with self._lock:
            if self._stopped:
                raise CancelledError
            process = start(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
            self._running.add(process)
        try:
            told, complained = process.communicate(said)
        except BaseException:
            kill(process)
            raise
        finally:
            with self._lock:
                self._running.discard(process)
        if self._stopped:
            raise CancelledError
        return subprocess.CompletedProcess(command, process.returncode, told, complained)

    def stop(self) -> None:
        """End every tool that runs, and start none any more."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                kill(process)
