"""Printing: in characters that a stream can show, and not in vain."""

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.text import Text

import shardwright
from report.run import ASCII_LEVELS
from shardwright.errors import StandardOutputError
from shardwright.printing import complain, draw, say, standard_streams
from tests.shardwright.command import command_line, invoke

SOURCES = sorted(Path(shardwright.__file__).parent.rglob("*.py"))
PRODUCT = "run --m 16 --n 8 --k 256 --chips 2"
FULL = "error: standard output cannot be written: No space left on device\n"
CLOSED = "error: standard output cannot be written: Bad file descriptor\n"


class Breaks(io.StringIO):
    """A stream whose reader has gone, or whose disk is full."""

    def __init__(self, error: OSError):
        super().__init__()
        self.error = error

    def write(self, text):
        raise self.error


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a shell command in which ``shardwright`` is ours."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=240,
    )


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_whatever_prints_prints_here(path):
    if path.name != "printing.py":
        assert not re.search(r"\b(click\.secho|click\.echo|print)\(|Console\(\)", path.read_text())


# --- Characters -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "printed"),
    [
        ("utf-8", "ü█\\udcff\n".encode()),
        ("latin-1", b"\xfc\\u2588\\udcff\n"),
        ("ascii", b"\\xfc\\u2588\\udcff\n"),
    ],
)
@pytest.mark.parametrize("act", [say, lambda text: draw(Text(text))])
def test_a_stream_that_cannot_show_a_character_gets_its_number(monkeypatch, encoding, printed, act):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    with standard_streams():
        act("ü█\udcff")
    assert raw.getvalue() == printed
    assert sys.stdout.errors == "strict"


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "utf-8"])
def test_a_run_is_shown_at_any_terminal(tmp_path, encoding):
    ours, theirs = pty.openpty()
    command = [*command_line(PRODUCT), "-o", str(tmp_path / "c.npy")]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = b""
        while chunk := _read(ours):
            shown += chunk
    os.close(ours)
    assert process.returncode == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode(encoding))
    assert "16 x 8 x 256" in text
    full = "█" if encoding == "utf-8" else ASCII_LEVELS[-1]
    assert 20 * full in text
    assert "\\" not in text
    assert np.load(tmp_path / "c.npy").shape == (16, 8)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # how Linux says that the other end is closed
        return b""


# --- Streams that cannot be written ---------------------------------------------------------------


@pytest.mark.parametrize("act", [say, lambda text: draw(Text(text))])
def test_a_full_disk_is_an_error_of_one_line(monkeypatch, act):
    monkeypatch.setattr(sys, "stdout", Breaks(OSError(28, "No space left on device")))
    with pytest.raises(StandardOutputError) as error:
        act("hello")
    assert str(error.value) == "standard output cannot be written: No space left on device"


@pytest.mark.parametrize("act", [say, lambda text: draw(Text(text))])
def test_a_reader_who_has_gone_ends_the_command_in_silence(monkeypatch, capfd, act):
    monkeypatch.setattr(sys, "stdout", Breaks(BrokenPipeError(32, "Broken pipe")))
    with pytest.raises(SystemExit) as ending:
        act("hello")
    assert ending.value.code == 1
    assert capfd.readouterr().err == ""


def test_an_error_that_nobody_can_read_is_no_other_error(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Breaks(OSError(28, "No space left on device")))
    complain("hello")


@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        ("shardwright run --m 4 --n 4 --k 8 -o c.npy >/dev/full", 1, FULL),
        ("shardwright run --m 4 --n 4 --k 8 -o c.npy >&-", 1, CLOSED),
        ("shardwright run --m 4 --n 4 --k 8 -o c.npy | true", 1, ""),
        ("shardwright run --m 4 --n 4 --k 8 -o c.npy <&- 2>&- | cat >/dev/null", 0, ""),
        ("shardwright run --m 4 --n 4 --k 7 --chips 2 --pad-k -o c.npy 2>/dev/full | cat", 0, ""),
    ],
)
def test_the_product_is_written_though_nothing_can_be_printed(tmp_path, command, status, said):
    ran = shell(command, tmp_path)
    assert (ran.returncode, ran.stderr) == (status, said)
    assert [path.name for path in tmp_path.iterdir()] == ["c.npy"]
    assert np.load(tmp_path / "c.npy").shape == (4, 4)


@pytest.mark.parametrize("argument", ["--help", "--version", "run --help"])
@pytest.mark.parametrize(("stream", "said"), [("/dev/full", FULL), ("&-", CLOSED)])
def test_help_that_cannot_be_printed_is_an_error_of_one_line(tmp_path, argument, stream, said):
    ran = shell(f"shardwright {argument} >{stream}", tmp_path)
    assert (ran.returncode, ran.stderr) == (1, said)


def test_closed_streams_give_their_numbers_to_no_file(tmp_path):
    ran = shell("shardwright verilog --m 4 --n 4 --k 8 --tile 2 -o made <&- >&- 2>&-", tmp_path)
    assert ran.returncode == 1
    again = shell("shardwright verilog --m 4 --n 4 --k 8 --tile 2 -o again", tmp_path)
    assert again.returncode == 0
    for path in (tmp_path / "again").iterdir():
        assert (tmp_path / "made" / path.name).read_bytes() == path.read_bytes()


def test_a_failure_elsewhere_is_not_blamed_on_standard_output(monkeypatch):
    def fails(_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("shardwright.commands.show.to_text", fails)
    with pytest.raises(OSError, match="Input/output error"):
        invoke("show --m 4 --n 4 --k 8")
