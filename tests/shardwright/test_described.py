"""What people describe in TOML is taken, or refused in one line, whatever stands in the file."""

import json
import random
import tomllib
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

import pytest

from compiler import targets
from compiler.errors import ShardwrightError
from compiler.fit.model import load_model
from compiler.fit.model_fit import fit_model
from compiler.targets import planning
from constraints.cabling_file import load_cabling
from constraints.description import load_board
from report.boards import (
    board_lines,
    board_record,
    cabling_lines,
    cabling_record,
    cabling_rows,
    pin_rows,
)
from report.fit import fit_heading, fit_notes, fit_record, fit_rows
from report.targets import target_lines, target_record
from tests.toml_mutants import dumped, mutant

MUTANTS = 150


def show_target(path: Path) -> None:
    target = targets.find_any(str(path))
    shown(target_lines(target), target_record(target))


def show_model(path: Path) -> None:
    model = load_model(path)
    for machine in (targets.get("token-mesh"), planning.get("sn50")):
        fits = list(fit_model(model, machine, (1, 2, 16), certify_up_to=0))
        record = fit_record(model, machine, fits)
        shown(fit_heading(model, machine), fit_rows(fits), fit_notes(fits), record)


def show_board(path: Path) -> None:
    board = load_board(path)
    shown(board_lines(board), pin_rows(board), board_record(board))


def show_cabling(path: Path) -> None:
    cabling = load_cabling(path)
    shown(cabling_lines(cabling), cabling_rows(cabling), cabling_record(cabling))


def shown(*printed: Iterable[object]) -> None:
    """Make all that a command would print."""
    *lines, record = printed
    assert all(list(each) for each in lines if each)
    assert json.dumps(record)


def built_in(folder: str, name: str) -> str:
    return files(folder).joinpath(f"{name}.toml").read_text(encoding="utf-8")


MODEL = """
name = "two layers"
batch = 2
source = "somewhere"
layer = [
    {name = "up", m = 64, n = 256, k = 64, count = 2, dtype = "int8"},
    {m = 8, n = 8, k = 8},
]
"""
CABLING = """
boards = ["ulx3s-85f", "ulx3s-85f"]
wires = [{from = "c1.out0", to = "c0.in0"}]
"""
KINDS = {
    "target": (built_in("compiler.targets", "token-mesh"), show_target),
    "planning target": (built_in("compiler.targets.published", "sn50"), show_target),
    "model": (MODEL, show_model),
    "board": (built_in("constraints", "ulx3s-85f"), show_board),
    "cabling": (CABLING, show_cabling),
}
CANNOT_BE_READ = {
    "an integer of thousands of digits": ("a = " + "9" * 5000, "more than 64 bits"),
    "one of thousands in hexadecimal": ("a = 0x" + "f" * 5000, "more than 64 bits"),
    "one that is a little too large": (f"a = [{{b = {2**63}}}]", "more than 64 bits"),
    "one that is a little too small": (f"a = {-(2**63) - 1}", "more than 64 bits"),
    "nested lists": ("a = " + "[" * 3000 + "]" * 3000, "nested too deeply"),
    "a text of two lines": (
        'a = [{b = "x\\ny"}]',
        r"'x\ny' is no text of one line that can be shown",
    ),
    "a text that turns the line": (
        'a = "\\u202e"',
        r"'\u202e' is no text of one line that can be shown",
    ),
    "a file without end": ("#" * (1 << 20) + "\n", "it has more than 1,048,576 characters"),
}


def refusal_of(show, path: Path) -> str | None:
    try:
        show(path)
    except ShardwrightError as error:
        return str(error)
    return None


@pytest.mark.parametrize(("text", "show"), KINDS.values(), ids=KINDS)
def test_a_file_with_other_values_is_taken_or_refused_in_one_line(tmp_path, text, show):
    entries, path = tomllib.loads(text), tmp_path / "described.toml"
    path.write_text(dumped(entries), encoding="utf-8")
    assert refusal_of(show, path) is None
    rng = random.Random(text)
    refusals: list[str] = []
    for _ in range(MUTANTS):
        path.write_text(mutant(rng, entries), encoding="utf-8")
        refusals += filter(None, [refusal_of(show, path)])
    assert MUTANTS / 2 < len(refusals) < MUTANTS
    assert not any("\n" in refusal for refusal in refusals)


@pytest.mark.parametrize(("text", "why"), CANNOT_BE_READ.values(), ids=CANNOT_BE_READ)
@pytest.mark.parametrize(("_", "show"), KINDS.values(), ids=KINDS)
def test_what_is_too_large_to_read_is_refused_by_every_kind(tmp_path, _, show, text, why):
    path = tmp_path / "described.toml"
    path.write_text(text)
    refusal = refusal_of(show, path)
    assert refusal is not None
    assert f" file {str(path)!r} cannot be read: " in refusal
    assert why in refusal
    assert len(refusal) < 300


@pytest.mark.parametrize(("text", "show"), KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("suffix", [".TOML", ".Toml"])
def test_the_end_of_a_files_name_may_be_in_capitals(tmp_path, text, show, suffix):
    path = tmp_path / f"mine{suffix}"
    path.write_text(text, encoding="utf-8")
    assert refusal_of(show, path) is None
