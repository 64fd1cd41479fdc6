"""A process ends with all that it started, and no other in its place."""

import os
import subprocess

import pytest

from sim.process_group import kill, start

PIPES = {"stdin": subprocess.DEVNULL, "stderr": subprocess.STDOUT}
WITH_CHILD = ["sh", "-c", "sleep 240 & echo begun; wait"]


def test_a_group_is_its_own_and_ends_as_a_whole():
    """The pipe closes when the last that may write to it has ended: the child, too."""
    with start(WITH_CHILD, **PIPES) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        assert os.getpgid(process.pid) == process.pid != os.getpgid(0)
        kill(process)
        assert process.stdout.read() == ""


def test_it_runs_in_its_folder_and_says_all_in_one_pipe(tmp_path):
    with start(["sh", "-c", "pwd; echo no >&2"], folder=tmp_path, **PIPES) as process:
        assert process.communicate()[0] == f"{tmp_path}\nno\n"


def test_the_number_of_one_that_was_waited_for_is_not_killed(monkeypatch):
    monkeypatch.setattr("os.killpg", lambda *_: pytest.fail("killed"))
    with start(["true"], **PIPES) as process:
        process.wait()
        kill(process)
