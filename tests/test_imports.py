"""Imports run one way, from shardwright down to compiler. Nothing imports upwards."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("shardwright", "host", "bitstream", "report", "sim", "hw", "constraints", "compiler")
"""From the top to the bottom: a room may import those behind it."""
APART = {"host": "bitstream"}
"""Rooms that lie beside each other: the first may not import the second either."""

FILES = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]


def imported(path: Path) -> set[str]:
    """Modules that a file imports, anywhere in it."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            assert node.module is not None
            modules.add(node.module)
            modules.update(f"{node.module}.{alias.name}" for alias in node.names)
    return modules


def rooms_of(modules: set[str]) -> set[str]:
    return {module.split(".")[0] for module in modules} & {*ROOMS, "tests"}


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def under(*folders: str) -> list[Path]:
    files = [path for path in FILES if named(path).startswith(folders)]
    assert files
    return files


def test_every_package_is_a_room():
    assert {path.parent.name for path in ROOT.glob("*/__init__.py")} == set(ROOMS)
    assert {path.relative_to(ROOT).parts[0] for path in FILES} == set(ROOMS)


@pytest.mark.parametrize("path", FILES, ids=named)
def test_nothing_imports_upwards(path):
    room = path.relative_to(ROOT).parts[0]
    allowed = set(ROOMS[ROOMS.index(room) :]) - {APART.get(room)}
    assert rooms_of(imported(path)) <= allowed


@pytest.mark.parametrize("path", under("compiler"), ids=named)
def test_the_compiler_knows_no_hardware(path):
    assert not {module for module in imported(path) if module.split(".")[0] == "amaranth"}


@pytest.mark.parametrize("path", under("compiler/validate"), ids=named)
def test_the_validator_shares_no_code_with_the_passes(path):
    """It may use what a program is made of and how it flows, what a target provides, and itself."""
    own = {module for module in imported(path) if module.startswith("compiler.")}
    parts = ("ir", "flow", "errors", "targets", "validate")
    allowed = tuple(f"compiler.{part}" for part in parts)
    assert not {module for module in own if not module.startswith(allowed)}


@pytest.mark.parametrize("path", under("compiler/flow"), ids=named)
def test_the_flow_of_pages_follows_from_the_program_alone(path):
    own = {module for module in imported(path) if module.startswith("compiler.")}
    assert not {module for module in own if not module.startswith(("compiler.ir", "compiler.flow"))}


def reached(path: Path) -> set[str]:
    """Modules of this project that a file imports, and those that they import, and so on."""
    files = {
        named(path).removesuffix(".py").removesuffix("/__init__").replace("/", "."): path
        for path in FILES
    }
    seen: set[str] = set()
    waiting = imported(path) & files.keys()
    while waiting:
        module = waiting.pop()
        seen.add(module)
        packages = {module[:i] for i, letter in enumerate(module) if letter == "."}
        waiting |= ((imported(files[module]) | packages) & files.keys()) - seen
    return seen


@pytest.mark.parametrize("path", under("compiler/check"), ids=named)
def test_the_checker_shares_no_code_with_the_passes(path):
    """Nor with the performance model that they use, however far the imports lead."""
    trusted = ("compiler.passes", "compiler.pipeline", "compiler.timing")
    assert not {module for module in reached(path) if module.startswith(trusted)}


def test_imports_are_followed_to_their_end():
    """The pipeline comes to the performance model by way of its passes."""
    pipeline = ROOT / "compiler" / "pipeline.py"
    assert "compiler.timing.model" in reached(pipeline) - imported(pipeline)
    assert "compiler.flow.order" in reached(ROOT / "compiler" / "check" / "__init__.py")


@pytest.mark.parametrize("path", under("compiler/ir"), ids=named)
def test_the_program_knows_nothing_of_those_who_work_on_it(path):
    own = {module for module in imported(path) if module.startswith("compiler.")}
    assert not {m for m in own if not m.startswith(("compiler.ir", "compiler.errors"))}
