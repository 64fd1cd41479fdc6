"""Whatever a file holds, the commands refuse it in a line or do what is right, in bounds."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from compiler.check import check
from compiler.serialize import from_json
from tests.fuzz.programs import PROGRAMS, document
from tests.fuzz.worker import mutant

ROOT = Path(__file__).parents[2]
QUICK, BATCH, BATCHES = 300, 2500, 8
ALONE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Threads reserve memory that nobody uses, which the worker's limit would count."""


def judged(first: int, count: int, hardware: int) -> dict[str, int]:
    """What became of so many mutants, none of them wrongly."""
    arguments = map(str, (first, count, hardware))
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.worker", *arguments],
        cwd=ROOT,
        env={**os.environ, **ALONE},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    *wrong, end = (json.loads(line) for line in done.stdout.splitlines())
    assert wrong == []
    return end["counts"]


def assert_reaches_everything(counts: dict[str, int], count: int) -> None:
    """The mutants are not all refused at the door, nor all let through."""
    ends = ("no program", "not well formed", "violated", "accepted")
    assert sum(counts[end] for end in ends) == count
    assert all(counts[end] > count / 20 for end in ends)


def test_files_are_refused_or_dealt_with_rightly():
    counts = judged(0, QUICK, hardware=3)
    assert_reaches_everything(counts, QUICK)
    assert counts["simulated"] == 3


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(BATCHES))
def test_many_files_are_refused_or_dealt_with_rightly(batch):
    counts = judged(QUICK + batch * BATCH, BATCH, hardware=30)
    assert_reaches_everything(counts, BATCH)
    assert counts["simulated"] == 30


@pytest.mark.parametrize("kind", PROGRAMS)
def test_the_fuzzer_begins_with_programs_that_hold(kind):
    assert check(from_json(json.dumps(document(kind)))).holds


def test_a_mutant_is_the_same_each_time():
    assert [mutant(index) for index in range(50)] == [mutant(index) for index in range(50)]
    assert len({what for what, _ in map(mutant, range(50))}) == 50
