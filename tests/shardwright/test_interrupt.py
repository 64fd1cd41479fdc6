"""An interrupt (Ctrl-C) ends a command soon, in one word, and leaves nothing half written."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.shardwright.command import command_line

SOON_SECONDS = 20
"""Far more than it takes, on a machine that is busy; a tool of these tests takes longer."""
STARTED_SECONDS = 120
"""What a busy machine may take to start a command, which is not what these tests are about."""


def wait_for(condition) -> None:
    deadline = time.monotonic() + STARTED_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def interrupted(process: subprocess.Popen[str], *, everyone: bool) -> str:
    """Interrupt a command, or its whole group as a terminal does; what it said."""
    begin = time.monotonic()
    if everyone:
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=SOON_SECONDS)
    assert time.monotonic() - begin < SOON_SECONDS
    assert process.returncode == 1
    return said


def start(command: str, *more: object, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command_line(command, *more),
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )


@pytest.mark.parametrize("everyone", [False, True])
def test_while_models_are_built_ends_their_tools(tmp_path, everyone):
    numbers = tmp_path / "numbers"
    compiler = tmp_path / "bin" / "g++"
    compiler.parent.mkdir()
    compiler.write_text(
        "#!/bin/sh\n"
        "if [ $1 = --version ]; then echo g++ 1; exit; fi\n"
        f"echo $$ >> {numbers}\n"
        f"sleep {3 * SOON_SECONDS}\n"
    )
    compiler.chmod(0o755)
    process = start(
        "run --m 2 --n 2 --k 32 --chips 8 --tile 2 --engine compiled",
        PATH=f"{compiler.parent}{os.pathsep}{os.environ['PATH']}",
        XDG_CACHE_HOME=str(tmp_path / "cache"),
    )
    wait_for(numbers.is_file)
    assert interrupted(process, everyone=everyone).split() == ["Aborted!"]
    running = [int(number) for number in numbers.read_text().split()]
    wait_for(lambda: not any(runs(number) for number in running))
    assert not list(tmp_path.glob("cache/shardwright/models/*"))


def runs(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def test_of_a_run_leaves_no_waves_and_no_product(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "run.vcd").write_text("before")
    process = start(
        "run --m 64 --n 64 --k 512 --tile 8 -o",
        folder / "c.npy",
        "--waves",
        folder / "run.vcd",
    )
    wait_for(lambda: any(each.stat().st_size > 1 << 16 for each in folder.iterdir()))
    assert interrupted(process, everyone=True).split() == ["Aborted!"]
    assert {each.name: each.read_text() for each in folder.iterdir()} == {"run.vcd": "before"}
