"""Meshes at the command line: what is cut along which axis, where sums go, and what is wrong."""

import json
import re

import numpy as np
import pytest

from compiler.ir.mesh import Mesh
from compiler.pipeline import compile
from compiler.shard_plan import ShardPlan
from compiler.targets import get
from compiler.text import to_text
from compiler.workload import MatmulSpec
from shardwright.programs import read_program
from tests.shardwright.command import invoke, last_line, spawn

GRID = Mesh(row=2, col=2)
PRODUCT = "--m 8 --n 8 --k 32 --tile 4"

SPREAD = {
    "--chips 4": ShardPlan(4),
    "--mesh tp=4": ShardPlan(4),
    "--chips 4 --mesh tp=4 --reduce star": ShardPlan(4, "star"),
    "--mesh x=2": ShardPlan(Mesh(x=2)),
    "--chips 2 --result all": ShardPlan(2, result="all"),
    "--chips 2 --shard m=tp": ShardPlan(2, shard={"m": "tp"}),
    "--mesh row=2,col=2 --shard m=row,k=col": ShardPlan(GRID, shard={"m": "row", "k": "col"}),
    "--mesh row=2,col=2 --shard k=col,m=row": ShardPlan(GRID, shard={"m": "row", "k": "col"}),
    "--mesh row=2,col=2 --shard n=col --result all": ShardPlan(
        GRID, shard={"n": "col"}, result="all"
    ),
    "--mesh row=2,col=2 --shard k=row,n=col --result all": ShardPlan(
        GRID, shard={"k": "row", "n": "col"}, result="all"
    ),
    "--chips 3 --uneven": ShardPlan(3, uneven=True),
    "--mesh a=1,b=2 --shard k=b": ShardPlan(Mesh(a=1, b=2), shard={"k": "b"}),
}


@pytest.mark.parametrize(("options", "plan"), SPREAD.items(), ids=SPREAD)
def test_options_state_the_plan(options, plan):
    program = compile(MatmulSpec(8, 8, 32), get("token-mesh", tile=4), plan)
    assert invoke(f"show {PRODUCT} {options}").output == to_text(program)


@pytest.mark.parametrize(
    "options",
    [
        "--mesh row=2,col=2 --shard m=row,k=col --result all",
        "--mesh row=2,col=3 --shard n=row,k=col --uneven",
        "--mesh tp=3 --result all --reduce star --uneven",
        "--mesh row=2,col=2 --shard m=row,n=col",
    ],
)
def test_products_over_meshes_are_numpys_from_file_to_file(tmp_path, options):
    rng = np.random.default_rng(3)
    a, b = rng.integers(-128, 128, (7, 22)), rng.integers(-128, 128, (22, 6))
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    files = tmp_path / "a.npy", tmp_path / "b.npy"
    options = f"{options} --tile 2" + ("" if "uneven" in options else " --uneven")
    made = invoke(f"compile {options}", *files, "-o", tmp_path / "p.json")
    assert made.exit_code == 0, made.output
    assert invoke("check", tmp_path / "p.json").exit_code == 0
    for name, arguments in (("now", options), ("saved", f"--program {tmp_path / 'p.json'}")):
        result = invoke(f"run {arguments}", *files, "-o", tmp_path / f"{name}.npy")
        assert result.exit_code == 0, result.output
        assert np.array_equal(np.load(tmp_path / f"{name}.npy"), a @ b)


def test_padding_is_for_the_chips_along_the_axis_of_k_alone(tmp_path):
    options = "--mesh row=2,col=2 --shard m=row,k=col"
    result = invoke(f"show --m 8 --n 8 --k 9 --tile 4 {options} --pad-k")
    assert result.output.startswith("note: k padded from 9 to 16 with zeros\n")
    options = "--mesh row=2,col=2 --shard m=row,n=col"
    assert "note" not in invoke(f"show --m 8 --n 8 --k 9 --tile 4 {options} --pad-k").output


def test_a_run_over_a_mesh_says_how_many_chips_it_had():
    result = invoke(f"run {PRODUCT} --mesh row=2,col=2 --shard m=row,k=col --json")
    said = json.loads(result.stdout)
    assert (said["chips"], said["exact"]) == (4, True)
    assert said["cycles"] == said["predicted_cycles"]


def test_the_text_says_what_is_cut_along_which_axis():
    options = "--mesh row=2,col=2 --shard m=row,k=col"
    home = invoke(f"show {PRODUCT} {options}").output
    assert "4 chips in a mesh row=2,col=2\n" in home
    assert "  a: slices of m along row, slices of k along col\n" in home
    assert "  b: whole along row, slices of k along col\n" in home
    assert "  c: slices of m along row, at 0 along col\n" in home
    everywhere = invoke(f"show {PRODUCT} {options} --result all").output
    assert "  c: slices of m along row, whole along col\n" in everywhere
    pictures = re.findall(r"^(reduce|broadcast) (\S+) over 2 chips$", everywhere, re.MULTILINE)
    assert sorted(pictures) == [
        ("broadcast", "tree_broadcast_0"),
        ("broadcast", "tree_broadcast_1"),
        ("reduce", "tree_reduce_0"),
        ("reduce", "tree_reduce_1"),
    ]


def test_one_line_says_what_chips_that_do_alike_make():
    options = "--mesh row=2,col=2 --shard m=row,k=col --uneven"
    text = invoke(f"show --m 12 --n 8 --k 20 --tile 4 {options}").output
    assert re.findall(r"^  (chips? .*): (\d+ x \d+) .*, (\d+) blocks", text, re.MULTILINE) == [
        ("chip 0", "2 x 2", "3"),
        ("chip 1", "2 x 2", "2"),
        ("chip 2", "1 x 2", "3"),
        ("chip 3", "1 x 2", "2"),
    ]
    assert (
        "  each chip: 1 x 1 result tiles"
        in invoke(f"show --m 8 --n 8 --k 8 --tile 4 {options.replace('k=col', 'n=col')}").output
    )


# --- What is wrong --------------------------------------------------------------------------------

MISUSED = {
    "--chips 3 --mesh tp=4": "--chips 3 contradicts --mesh tp=4; give one of them",
    "--mesh row": "Invalid value for '--mesh': 'row' must be AXIS=SIZE[,AXIS=SIZE]",
    "--mesh=": "Invalid value for '--mesh': '' must be AXIS=SIZE[,AXIS=SIZE]",
    "--mesh row=2,": "Invalid value for '--mesh': 'row=2,' must be AXIS=SIZE[,AXIS=SIZE]",
    **{
        f"--mesh row={size}": (
            f"Invalid value for '--mesh': axis row has '{size}' chips; it must be a number from 1 "
            "to 4096"
        )
        for size in ("0", "-1", "two", "2.0", "4097", "9" * 5000, "²", "0x2", "2=2")
    },
    "--mesh row=2,row=2": (
        "Invalid value for '--mesh': mesh: an axis must be named once, not 'row'"
    ),
    "--mesh Row=2": (
        "Invalid value for '--mesh': mesh: an axis must be named by at most 32 lower-case letters "
        "and digits, beginning with a letter, not 'Row'"
    ),
    "--mesh row=64,col=65": (
        "Invalid value for '--mesh': mesh: mesh must be of at most 4096 chips, not 'row=64,col=65'"
    ),
    "--mesh row=2,col=2": (
        "--mesh row=2,col=2 has several axes; say what is cut along which, as --shard k=col"
    ),
    "--mesh tp=2 --shard k": "Invalid value for '--shard': 'k' must be DIM=AXIS[,DIM=AXIS]",
    "--mesh tp=2 --shard k=": "Invalid value for '--shard': 'k=' must be DIM=AXIS[,DIM=AXIS]",
    "--result some": "Invalid value for '--result': 'some' is not one of 'home', 'all', "
    "'scattered'.",
}
REFUSED = {
    "--mesh row=2,col=2 --shard q=row": "shard plan: shard must be of m, n, k, not 'q'",
    "--mesh row=2,col=2 --shard m=nope": (
        "shard plan: shard m must be along one of row, col, not 'nope'"
    ),
    "--chips 2 --shard k=row": "shard plan: shard k must be along one of tp, not 'row'",
    "--mesh row=2,col=2 --shard m=row,k=row": (
        "shard plan: shard m must be along another axis than k, not 'row'"
    ),
    "--mesh row=2,col=2 --shard k=row,k=col": (
        "shard plan: shard k must be along col alone, not 'row'"
    ),
    "--chips 3 --shard m=tp": (
        "axis m of 8 does not divide over 3 chips (2 left over); choose a chip count that divides "
        "it, or let slices differ by a tile (--uneven)"
    ),
    "--mesh a=2,b=4 --shard n=b": (
        "axis n of 8 over 4 chips gives slices of 2, which is not a multiple of the tile 4; choose "
        "a smaller tile or fewer chips, or let slices differ by a tile (--uneven)"
    ),
    "--mesh a=2,b=4 --shard n=b --uneven": (
        "axis n of 8 has 2 tiles of 4, fewer than the 4 chips that are to share them; choose fewer "
        "chips or a smaller tile"
    ),
    "--chips 8 --reduce star --result all": (
        "a star needs 14 links at chip 0, which has 8 link ports; a tree needs 6 (--reduce tree)"
    ),
    "--chips 2 --result all --target local-only": (
        "target 'local-only' has no hand-off between chips (it provides ValidReady); a reduction "
        "needs Token, Semaphore or Barrier: choose another target, or one chip"
    ),
}


@pytest.mark.parametrize(("options", "error"), MISUSED.items(), ids=lambda text: text[:40])
@pytest.mark.parametrize("command", ["run", "show"])
def test_explains_misuse(command, options, error):
    result = invoke(f"{command} {PRODUCT} {options}")
    assert last_line(result) == f"Error: {error}"
    assert result.exit_code == 2


@pytest.mark.parametrize(("options", "error"), REFUSED.items(), ids=REFUSED)
def test_refuses_in_one_line(tmp_path, options, error):
    result = invoke(f"compile {PRODUCT} {options} -o", tmp_path / "p.json")
    assert result.output == f"error: {error}\n"
    assert result.exit_code == 1
    assert not (tmp_path / "p.json").exists()


@pytest.mark.parametrize("option", ["--mesh tp=2", "--shard k=tp", "--result all", "--uneven"])
def test_a_program_that_is_compiled_is_not_spread_again(tmp_path, option):
    path = tmp_path / "p.json"
    assert invoke(f"compile {PRODUCT} --chips 2 -o", path).exit_code == 0
    result = invoke(f"run --program {path} {option}")
    assert result.exit_code == 2
    assert last_line(result) == (
        f"Error: {option.split()[0]} does not go with --program, which is compiled already"
    )
    assert read_program(path).mesh == Mesh(tp=2)


def test_a_file_of_the_first_version_is_refused_in_one_line(tmp_path):
    path = tmp_path / "old.json"
    path.write_text('{"format": "shardwright program", "version": 1, "program": {}}')
    for command in ("check {}", "show --program {}", "run --program {}"):
        result = invoke(command.format(path))
        assert (result.exit_code, len(result.output.splitlines())) == (1, 1)
        assert "version: it is 1, but only version 3 is known here" in result.output
        assert result.output.endswith("compile the product anew\n")


@pytest.mark.parametrize(
    ("options", "status"), [("--mesh row", 2), ("--mesh row=2,col=2 --shard q=row", 1)]
)
def test_nothing_is_printed_but_the_refusal(options, status):
    ran = spawn(f"run {PRODUCT} {options} --json")
    assert (ran.returncode, ran.stdout) == (status, "")
    assert "Traceback" not in ran.stderr
