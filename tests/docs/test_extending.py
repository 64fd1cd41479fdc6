"""The page that says what to touch names files that exist, and all that know a kind of stage."""

import re
from pathlib import Path

import pytest

from compiler.ir.stage import KINDS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
ROOMS = ("shardwright", "host", "bitstream", "report", "sim", "hw", "constraints", "compiler")
PUT_TO_USE = ("compiler/passes/", "compiler/check/collectives.py")
"""Passes put kinds into programs, and a collective is of some kinds: both know which they use."""


def listed(heading: str) -> set[str]:
    """Files that the section under a heading names, a component's by its place-holder."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return set(re.findall(r"`((?:\w+/)+[\w]+\.\w+)`", section))


def test_every_file_exists():
    named = set(re.findall(r"`((?:\w+/)+(?:\w+\.\w+)?)`", PAGE))
    assert len(named) > 15
    missing = {name for name in named if "NAME" not in name and not (ROOT / name).exists()}
    assert not missing


@pytest.mark.parametrize("kind", ["Copy", "Merge"])
def test_no_other_file_knows_a_kind_of_stage(kind):
    assert kind in {each.__name__ for each in KINDS}
    word = re.compile(rf"\b{kind}\(|\b{kind}\b(?= \||\)|:|,)")
    knowing = {
        str(path.relative_to(ROOT))
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
        if word.search(re.sub(r'""".*?"""', "", path.read_text(encoding="utf-8"), flags=re.DOTALL))
    }
    own = {f"hw/{kind.lower()}_unit.py"}
    rest = {name for name in knowing - own if not name.startswith(PUT_TO_USE)}
    of_turns = {
        "compiler/validate/bounds.py",
        "compiler/validate/structure.py",
        "compiler/check/schedule.py",
        "compiler/flow/components.py",
        "compiler/flow/rounds.py",
        "compiler/flow/alike.py",
    }
    assert rest - (of_turns if kind == "Merge" else set()) <= listed("A kind of stage")


def test_no_file_but_those_listed_decides_by_an_algorithm():
    word = re.compile(r"\"(?:star|tree)\"")
    knowing = {
        str(path.relative_to(ROOT))
        for room in ("compiler", "hw", "sim")
        for path in (ROOT / room).rglob("*.py")
        if word.search(path.read_text(encoding="utf-8"))
    }
    defaults = {"compiler/shard_plan.py"}
    assert knowing - defaults == listed("An algorithm of a collective") - {"constraints/cabling.py"}
