"""A process that is run to its end, or ended with all that it started."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bitstream.tool_process import Ended, ProcessStartError, run_process

ROOT = Path(__file__).parents[2]
WITH_CHILD = "sleep 600 & echo $! > pids; echo $$ >> pids; echo begun; wait"
"""A shell that waits for a child of its own, and leaves the numbers of both."""


def shell(script: str, folder: Path, **options) -> Ended:
    return run_process(["/bin/sh", "-c", script], folder=folder, **options)


def gone(folder: Path) -> bool:
    """Whether the processes of :data:`WITH_CHILD` have ended, within some seconds."""
    pids = [int(line) for line in (folder / "pids").read_text().split()]
    assert len(pids) == 2
    end = time.monotonic() + 10
    while any(map(runs, pids)) and time.monotonic() < end:
        time.sleep(0.02)
    return not any(map(runs, pids))


def runs(pid: int) -> bool:
    """Whether a process is there that has not ended, be it that nobody has waited for it."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_what_a_process_says_is_heard_as_it_comes_and_kept(tmp_path):
    heard = []
    ended = shell("pwd; echo wrong >&2; exit 3", tmp_path, listen=heard.append)
    assert heard == [str(tmp_path), "wrong"]
    assert ended == Ended(3, f"{tmp_path}\nwrong\n")


def test_a_process_whose_time_is_over_is_ended_with_its_children(tmp_path):
    assert shell(WITH_CHILD, tmp_path, limit_seconds=0.5) == Ended(None, "begun\n")
    assert gone(tmp_path)


def test_one_that_ends_in_time_has_its_status(tmp_path):
    assert shell("exit 0", tmp_path, limit_seconds=60).status == 0


def test_a_listener_that_has_heard_enough_ends_it(tmp_path):
    def listen(line: str) -> None:
        raise LookupError(line)

    with pytest.raises(LookupError, match="begun"):
        shell(WITH_CHILD, tmp_path, listen=listen)
    assert gone(tmp_path)


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
)
def test_an_interrupt_or_a_signal_ends_it_with_its_children(tmp_path, number, status):
    program = f"""
import sys
from pathlib import Path
from bitstream.tool_process import run_process
run_process(["/bin/sh", "-c", {WITH_CHILD!r}], folder=Path({str(tmp_path)!r}), listen=print)
"""
    mine = subprocess.Popen(
        [sys.executable, "-u", "-c", program],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert mine.stdout is not None
    with mine:
        assert mine.stdout.readline() == "begun\n"
        mine.send_signal(number)
        assert mine.wait(timeout=20) == status
    assert gone(tmp_path)


def test_signals_that_somebody_handles_are_left_alone(tmp_path):
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        shell(f"kill -TERM {os.getpid()}", tmp_path)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_process_that_is_not_there_cannot_be_started(tmp_path):
    with pytest.raises(ProcessStartError, match="No such file"):
        run_process([str(tmp_path / "none")], folder=tmp_path)
