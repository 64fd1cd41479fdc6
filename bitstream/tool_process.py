"""Runs one process with all that it starts, and leaves none of it behind."""

import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from sim.process_group import kill, start

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
"""Signals that end this process without an exception, unless they are made one."""


class ProcessStartError(OSError):
    """A process cannot be started; no other :exc:`OSError` is taken for that."""


@dataclass(frozen=True)
class Ended:
    """How a process ended, and all that it said.

    ``status`` is ``None`` if its time was over before it ended.
    """

    status: int | None
    said: str


def run_process(
    command: Sequence[str],
    *,
    folder: Path | None = None,
    limit_seconds: float | None = None,
    listen: Callable[[str], object] = lambda _: None,
) -> Ended:
    """Run a command until it ends or its time is over.

    It gets a process group of its own, which is killed as a whole when the time is over, and when
    this process is interrupted or ended by a signal.

    Parameters
    ----------
    folder : path or None
        Working directory; that of this process if ``None``.
    limit_seconds : float or None
        Time that the command may take; without an end if ``None``.
    listen : callable
        Told each line that the command says, on its output or as an error, as it comes.

    Raises
    ------
    ProcessStartError
        If it cannot be started.
    """
    said: list[str] = []
    over = threading.Event()
    with _ended_by_exceptions():
        process = _started(command, folder)
        assert process.stdout is not None

        def strike() -> None:
            over.set()
            kill(process)

        timer = threading.Timer(limit_seconds or 0, strike)
        timer.daemon = True
        try:
            if limit_seconds is not None:
                timer.start()
            for line in process.stdout:
                said.append(line)
                listen(line.rstrip("\n"))
            status = process.wait()
        except BaseException:
            kill(process)
            process.wait()
            raise
        finally:
            timer.cancel()
            process.stdout.close()
    killed = over.is_set() and status == -signal.SIGKILL
    return Ended(None if killed else status, "".join(said))


def _started(command: Sequence[str], folder: Path | None) -> subprocess.Popen[str]:
    try:
        return start(command, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, folder=folder)
    except OSError as error:
        raise ProcessStartError(*error.args) from error


@contextmanager
def _ended_by_exceptions() -> Iterator[None]:
    """Let signals that would end this process at once unwind it instead, as an interrupt does.

    A process group of its own is out of reach of what a terminal sends when it is closed. Signals
    that are handled or ignored by somebody else are left alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    mine = [each for each in ENDING_SIGNALS if signal.getsignal(each) is signal.SIG_DFL]
    for each in mine:
        signal.signal(each, leave)
    try:
        yield
    finally:
        for each in mine:
            signal.signal(each, signal.SIG_DFL)
