"""Every run has tests of every room; what it leaves out, the slow tier has."""

import subprocess
import sys
from itertools import combinations, product
from pathlib import Path

import pytest

from shardwright.siblings import SIBLINGS
from tests.tiers import chosen, cover

ROOT = Path(__file__).parents[1]
ENGINES = ("amaranth", "compiled", "icarus", "verilator")


def points(*sizes: int) -> list[dict[str, int]]:
    """A whole grid."""
    return [dict(enumerate(point)) for point in product(*map(range, sizes))]


def met(grid: list[dict[str, int]], together: int) -> set:
    """Values of parameters that meet in some point."""
    return {meet for point in grid for meet in combinations(sorted(point.items()), together)}


@pytest.mark.parametrize("sizes", [(1,), (5, 8), (2, 2, 3, 2), (3, 4, 5)], ids=str)
@pytest.mark.parametrize("together", [1, 2])
def test_a_cover_holds_all_that_the_grid_holds(sizes, together):
    grid = points(*sizes)
    few = [grid[index] for index in cover(grid, together)]
    assert met(few, together) == met(grid, together)
    largest = sorted(sizes)[-together:]
    assert len(few) <= 1.5 * largest[0] * (largest[-1] if together > 1 else 1)


def test_a_cover_of_a_grid_with_holes_holds_what_is_left():
    grid = [point for point in points(3, 3) if point[0] != point[1]]
    few = [grid[index] for index in cover(grid, 1)]
    assert met(few, 1) == met(grid, 1)
    assert len(few) <= 4


def test_values_have_equal_shares_of_a_cover():
    grid = points(8, 2)
    few = [grid[index] for index in cover(grid, 1)]
    assert sum(point[1] for point in few) == 4


def test_what_is_not_chosen_is_slow():
    first, second = chosen(["a", "b"], ["b"])
    assert [mark.name for mark in first.marks] == ["slow"]
    assert not second.marks
    with pytest.raises(AssertionError, match=r"\['c'\] are no cases"):
        chosen(["a", "b"], ["c"])


def collected(marks: str) -> list[str]:
    """Names of the tests that a run with these marks takes."""
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", marks],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in ran.stdout.splitlines() if "::" in line]


@pytest.mark.slow
def test_every_room_has_tests_in_every_run():
    every_run, slow = collected("not slow"), collected("slow")
    folders = {name.partition("::")[0].rpartition("/")[0] for name in every_run}
    assert {name.partition("::")[0].rpartition("/")[0] for name in slow} <= folders
    rooms = {
        str(path.parent.relative_to(ROOT))
        for room in SIBLINGS
        for path in (ROOT / room).rglob("*.py")
        if path.name != "__init__.py"
    }
    rooms |= {"shardwright", "shardwright/commands", "docs", "examples"}
    without = {room for room in rooms if f"tests/{room}" not in folders}
    # Commands are tested beside the command line, and the benches by running them.
    assert without == {"shardwright/commands", "sim/cosim/bench"}
    agreement = "tests/cosim/test_agreement.py::test_gives_numpys_product"
    for engine in ENGINES:
        assert any(n.startswith(agreement) and n.endswith(f"-{engine}]") for n in every_run)
    proofs = "tests/hw/verilog/test_equivalence.py::test_"
    for family in ("component", "whole_chip", "random_logic", "a_difference_is_found"):
        assert any(name.startswith(f"{proofs}{family}[") for name in every_run)
