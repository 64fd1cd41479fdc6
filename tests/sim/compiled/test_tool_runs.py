"""Tools that run beside each other, and end together."""

import signal
import subprocess
import sys
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor
from pathlib import Path

import pytest

from sim.compiled.tool_runs import ToolRuns

SECONDS = 240
"""Time that a tool takes if nobody ends it, and after which a test gives up."""


def waits(marker: Path) -> list[str]:
    """A tool that starts another one, which says its number and goes on for a while."""
    return ["sh", "-c", f"sleep {SECONDS} & echo $! > {marker}; wait"]


def number_in(marker: Path) -> int:
    deadline = time.monotonic() + SECONDS
    while not (marker.is_file() and marker.read_text().endswith("\n")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return int(marker.read_text())


def ends_soon(number: int) -> bool:
    """Whether a process is gone, or waits for nothing but its parent to look."""
    deadline = time.monotonic() + SECONDS / 2
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


def test_a_tool_reads_what_it_is_told_and_is_told_of():
    done = ToolRuns().run(["sh", "-c", "cat; echo no >&2; exit 3"], said="grüß dich")
    assert (done.returncode, done.stdout, done.stderr) == (3, "grüß dich", "no\n")


def test_what_is_no_text_is_no_failure():
    assert ToolRuns().run(["printf", r"\377"]).stdout == "\N{REPLACEMENT CHARACTER}"


def test_a_tool_that_is_not_there_cannot_be_started():
    with pytest.raises(FileNotFoundError):
        ToolRuns().run(["/nowhere"])


def test_stopping_ends_all_tools_with_what_they_started_and_starts_none(tmp_path):
    tools = ToolRuns()
    markers = [tmp_path / "one", tmp_path / "two"]
    begin = time.monotonic()
    with ThreadPoolExecutor() as pool:
        jobs = [pool.submit(tools.run, waits(marker)) for marker in markers]
        numbers = [number_in(marker) for marker in markers]
        tools.stop()
        for job in jobs:
            with pytest.raises(CancelledError):
                job.result()
    assert time.monotonic() - begin < SECONDS / 2
    assert all(map(ends_soon, numbers))
    with pytest.raises(CancelledError):
        tools.run(["true"])


def test_an_interrupt_of_who_waits_ends_the_tool(tmp_path):
    script = tmp_path / "waits.py"
    marker = tmp_path / "marker"
    script.write_text(
        "from sim.compiled.tool_runs import ToolRuns\n"
        f"try:\n    ToolRuns().run({waits(marker)!r})\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n"
    )
    waiting = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    number = number_in(marker)
    waiting.send_signal(signal.SIGINT)
    assert waiting.communicate(timeout=SECONDS / 2)[0] == "interrupted\n"
    assert ends_soon(number)
