"""A user's own modules do not hide the packages that lie beside shardwright."""

import subprocess
import sys
from pathlib import Path

import pytest

from shardwright.siblings import FOLDER, SIBLINGS

USES_ALL = """
import shardwright
import sys

target = shardwright.targets.get("token-mesh", tile=2)
program = shardwright.compile(shardwright.MatmulSpec(2, 2, 4), target)
program = shardwright.shard(program, shardwright.ShardPlan.row_parallel(2), target)

# What is first imported after the import of shardwright, by us or by the user.
from constraints.description import board_names, load_board
from bitstream.builder import build_program
from sim.cosim.package import BENCH_FILES
from host.drive import drive
from hw.board.top import board_top
from report.run import summary

load_board(board_names()[0])
import shardwright.cli
from shardwright.siblings import SIBLINGS
print(*(sys.modules[name].__file__ for name in SIBLINGS))
"""


def script(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """Run a user's script, whose folder comes first on ``sys.path``."""
    (folder / "script.py").write_text(text)
    return subprocess.run(
        [sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, timeout=240
    )


def put_file(folder: Path, name: str) -> Path:
    file = folder / f"{name}.py"
    file.write_text("")
    return file


def put_package(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return put_file(folder / name, "__init__")


def put_plain_folder(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name


@pytest.mark.parametrize("put", [put_file, put_package, put_plain_folder])
def test_modules_of_the_same_names_beside_a_script_hide_nothing(tmp_path, put):
    for name in SIBLINGS:
        put(tmp_path, name)
    ran = script(tmp_path, USES_ALL)
    assert ran.stderr == ""
    assert ran.stdout.split() == [str(FOLDER / name / "__init__.py") for name in SIBLINGS]


def test_nothing_stays_on_the_way_of_other_imports(tmp_path):
    ran = script(
        tmp_path,
        "import sys\n"
        "before = list(sys.meta_path), list(sys.path)\n"
        "import shardwright.siblings\n"
        "print(before == (list(sys.meta_path), list(sys.path)))\n",
    )
    assert (ran.stdout, ran.stderr) == ("True\n", "")


@pytest.mark.parametrize("put", [put_file, put_package])
@pytest.mark.parametrize("name", SIBLINGS)
def test_a_module_that_is_loaded_already_is_named_with_ours(tmp_path, put, name):
    theirs = put(tmp_path, name)
    ran = script(tmp_path, f"import {name}\nimport shardwright\n")
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1] == (
        f"shardwright.siblings.HiddenSiblingError: shardwright needs its package {name!r} from "
        f"{FOLDER / name / '__init__.py'}, but a module of that name is loaded already from "
        f"{theirs}; give yours another name"
    )


def test_a_plain_folder_that_is_loaded_already_is_named_too(tmp_path):
    theirs = put_plain_folder(tmp_path, "hw")
    # As where shardwright is found only after that: a package anywhere goes before plain folders.
    text = (
        "import sys\n"
        "from importlib.machinery import PathFinder\n"
        "finders, sys.meta_path[:] = sys.meta_path[:], [PathFinder]\n"
        "place, sys.path[:] = sys.path[:], sys.path[:1]\n"
        "import hw\n"
        "sys.meta_path[:], sys.path[:] = finders, place\n"
        "import shardwright\n"
    )
    ran = script(tmp_path, text)
    assert f"is loaded already from {theirs}; give yours another name" in ran.stderr


def test_ours_may_be_loaded_before(tmp_path):
    ran = script(tmp_path, "import sim.reference\nimport shardwright\nprint(shardwright.simulate)")
    assert ran.returncode == 0
