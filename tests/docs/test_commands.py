"""Every command in the README and in docs/ runs as printed, and prints what is printed."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[tuple[str, str]]:
    """Place and text of every fenced block of a language."""
    return [
        (f"{page.relative_to(ROOT)}:{_line(page, match.start())}", match[2])
        for page in PAGES
        for match in BLOCK.finditer(page.read_text())
        if match[1] == language
    ]


def _line(page: Path, position: int) -> int:
    return page.read_text()[:position].count("\n") + 1


def sessions() -> list[tuple[str, list[tuple[str, str]]]]:
    """Place of every console block, and its commands in order with what they print."""
    found = []
    for place, text in blocks("console"):
        parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
        found.append((place, [part.partition("\n")[::2] for part in parts]))
    return found


def environment() -> dict[str, str]:
    """The environment of an activated virtual environment."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def in_every_run(place: str, what: object) -> bool:
    """The README's blocks are, but for what simulates 16 chips; those of docs/ are slow."""
    return place.startswith("README") and "--chips 16" not in str(what)


def tiered(found: list[tuple[str, Any]]) -> list[ParameterSet]:
    return [
        pytest.param(*block, marks=() if in_every_run(*block) else pytest.mark.slow)
        for block in found
    ]


@pytest.mark.parametrize(("place", "session"), tiered(sessions()))
def test_commands_print_what_the_page_says(place, session):
    for command, output in session:
        ran = subprocess.run(
            ["bash", "-c", command],
            cwd=ROOT,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        assert ran.stdout == output, command


@pytest.mark.parametrize(("place", "code"), tiered(blocks("python")))
def test_python_runs(place, code):
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=300)


@pytest.mark.parametrize(("place", "text"), blocks("sh"))
def test_shell_blocks_are_what_continuous_integration_runs(place, text):
    ran = (ROOT / ".ci" / "run").read_text().splitlines()
    assert [line for line in text.splitlines() if line not in ran] == []


def test_pages_have_commands():
    assert sum(len(session) for _, session in sessions()) >= 5
