# amaranth: UnusedElaboratable=no
"""The Verilog of a program as a folder that stands on its own."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from compiler.errors import UncertifiedProgramError
from compiler.ir.init import Pattern
from compiler.ir.mesh import Mesh
from compiler.serialize import from_json
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from hw.verilog.design import design
from hw.verilog.lint import waivers_file
from sim.cosim import package
from sim.cosim.package import BENCH_FILES, write_package
from sim.errors import OperandSourceError, OutputFileError
from sim.folders import check_folder
from tests.hw.verilog.tools import icarus_messages, verilator_messages
from tests.programs import finished, program_for

M, N, K, CHIPS, TILE = 5, 3, 16, 2, 2
PROGRAM = program_for(M, N, K, chips=CHIPS, tile=TILE)
RNG = np.random.default_rng(0)
A = RNG.integers(-128, 128, (M, K), dtype=np.int8)
B = RNG.integers(-128, 128, (K, N), dtype=np.int8)


converted = cache(design)


@pytest.fixture(autouse=True)
def converted_once(monkeypatch):
    """Convert the chips of a program once for all tests; a test that must not undoes it."""
    monkeypatch.setattr(package, "design", converted)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("package") / "design"
    write_package(made, PROGRAM, A, B)
    return made


@pytest.fixture(scope="module")
def manifest(folder):
    return json.loads((folder / "manifest.json").read_text())


def matrix(folder, tensor: dict, *, by_columns: bool) -> np.ndarray:
    """The matrix that a tensor's file holds, edge tiles included."""
    size, tile = tensor["element_bits"] // 8, tensor["tile"]
    lines = (folder / tensor["file"]).read_text().split()
    assert len(lines) == tensor["beats"]
    assert {len(line) for line in lines} == {2 * tensor["beat_bytes"]}
    beats = [
        np.frombuffer(int(line, 16).to_bytes(tensor["beat_bytes"], "little"), f"<i{size}")
        for line in lines
    ]
    assert all(not beat[tensor["lanes"] :].any() for beat in beats)
    tiles = np.array([beat[: tensor["lanes"]] for beat in beats]).reshape(-1, tile, tile)
    if by_columns:
        tiles = tiles.transpose(0, 2, 1)
    row_tiles, col_tiles = -(-tensor["rows"] // tile), -(-tensor["cols"] // tile)
    grid = tiles.reshape(row_tiles, col_tiles, tile, tile)
    return grid.transpose(0, 2, 1, 3).reshape(row_tiles * tile, col_tiles * tile)


def padded(array: np.ndarray) -> np.ndarray:
    rows, cols = (-extent % TILE for extent in array.shape)
    return np.pad(array, [(0, rows), (0, cols)])


def test_files_hold_the_slices_of_the_operands_and_the_product(folder, manifest):
    share = K // CHIPS
    expected = {"c": padded(A.astype(np.int32) @ B)}
    for chip in range(CHIPS):
        span = slice(chip * share, (chip + 1) * share)
        expected |= {f"c{chip}.a": padded(A[:, span]), f"c{chip}.b": padded(B[span])}
    assert {tensor["name"] for tensor in manifest["tensors"]} == expected.keys()
    for tensor in manifest["tensors"]:
        held = matrix(folder, tensor, by_columns=tensor["name"].endswith(".a"))
        assert np.array_equal(held, expected[tensor["name"]])


def test_files_hold_the_parts_of_every_chip_and_its_copy_of_the_product(tmp_path):
    """Three rows are over two chips as 2 and 1, and each part is summed and kept by two."""
    plan = ShardPlan(Mesh(row=2, col=2), shard={"m": "row", "k": "col"}, uneven=True, result="all")
    program = finished(MatmulSpec(3, 4, 6), plan=plan, tile=2)
    a, b = np.arange(18).reshape(3, 6) - 9, np.arange(24).reshape(6, 4) - 12
    write_package(tmp_path / "design", program, inputs={"b": b, "a": a})
    manifest = json.loads((tmp_path / "design" / "manifest.json").read_text())
    rows, ks = (slice(0, 2), slice(2, 3)), (slice(0, 4), slice(4, 6))
    for tensor in manifest["tensors"]:
        row, col = divmod(tensor["chip"], 2)
        expected = {"a": a[rows[row], ks[col]], "b": b[ks[col]], "c": (a @ b)[rows[row]]}
        held = matrix(tmp_path / "design", tensor, by_columns=tensor["value"] == "a")
        up = -expected[tensor["value"]].shape[0] % 2
        assert np.array_equal(held, np.pad(expected[tensor["value"]], [(0, up), (0, 0)]))


def test_sums_of_any_width_are_held_as_signed_words(tmp_path):
    program = finished(MatmulSpec(2, 2, 4, sum_bits=19), chips=1, tile=2)
    a, b = np.full((2, 4), -128, np.int8), np.full((4, 2), 127, np.int8)
    write_package(tmp_path / "design", program, a, b)
    lines = (tmp_path / "design" / "c.hex").read_text().split()
    word = f"{-128 * 127 * 4 & 0xFFFF_FFFF:08x}"
    assert lines == [word * 2] * 2


def test_values_that_the_program_states_are_written_too(tmp_path):
    spec = MatmulSpec(2, 4, 4, a=Pattern(7, 3), b=Pattern(5, 2))
    write_package(tmp_path / "design", finished(spec, chips=1, tile=2))
    manifest = json.loads((tmp_path / "design" / "manifest.json").read_text())
    (left,) = (t for t in manifest["tensors"] if t["name"].endswith("a"))
    held = matrix(tmp_path / "design", left, by_columns=True)
    assert np.array_equal(held, (np.arange(8) % 7 - 3).reshape(2, 4))


def test_the_program_in_the_folder_is_the_program_with_its_certificate(folder):
    read = from_json((folder / "program.json").read_text())
    assert read == PROGRAM
    assert read.certificate is not None


def test_there_are_the_files_that_the_manifest_names_and_no_others(folder, manifest):
    modules = [manifest["top"], *manifest["modules"]]
    chips = {chip["module"] for chip in manifest["chips"]}
    named = {
        "manifest.json",
        "waivers.vlt",
        manifest["program"],
        *BENCH_FILES,
        *(module["file"] for module in modules),
        *(tensor["file"] for tensor in manifest["tensors"]),
        *(chip["registers"] for chip in manifest["chips"]),
        *(f"{module}.registers.md" for module in chips),
    }
    assert {path.name for path in folder.iterdir()} == named


def test_each_verilog_file_holds_the_module_that_it_is_named_after(folder, manifest):
    for module in (manifest["top"], *manifest["modules"]):
        text = (folder / module["file"]).read_text()
        assert text.startswith(f"module {module['name']} (\n")


def test_the_folder_lints(folder):
    assert (folder / "waivers.vlt").read_text() == waivers_file()
    assert icarus_messages(folder) == ""
    assert verilator_messages(folder) == ""


def test_registers_are_written_as_data_and_as_a_page(folder, manifest):
    for chip in manifest["chips"]:
        stated = json.loads((folder / chip["registers"]).read_text())
        page = (folder / f"{chip['module']}.registers.md").read_text()
        for entry in stated["registers"]:
            row = f"| {entry['offset']:#06x} | {entry['name']} | {entry['access']} |"
            assert page.count(row) == 1
        for window in stated["windows"]:
            row = f"| {window['offset']:#06x} | {window['tensor']} | {window['access']} |"
            assert page.count(row) == 1


@pytest.mark.parametrize("chip", range(CHIPS))
def test_one_chip_stands_alone(chip, tmp_path):
    folder = tmp_path / "board"
    write_package(folder, PROGRAM, A, B, chip=chip)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["top"] is None
    assert [entry["coordinate"] for entry in manifest["chips"]] == [chip]
    assert [module["name"] for module in manifest["modules"]] == [f"chip_{chip}"]
    assert [path.name for path in folder.glob("*.v")] == [f"chip_{chip}.v"]
    assert {tensor["chip"] for tensor in manifest["tensors"]} == {chip}
    assert {path.stem for path in folder.glob("*.hex")} == {t["name"] for t in manifest["tensors"]}
    assert not (folder / "run.py").exists()
    assert verilator_messages(folder) == ""


def test_a_folder_that_is_empty_is_taken_and_parents_are_made(tmp_path):
    (tmp_path / "empty").mkdir()
    write_package(tmp_path / "empty", PROGRAM, A, B, chip=0)
    write_package(tmp_path / "new" / "er" / "folder", PROGRAM, A, B, chip=0)
    for folder in (tmp_path / "empty", tmp_path / "new" / "er" / "folder"):
        assert (folder / "manifest.json").is_file()


def test_a_folder_that_holds_something_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(OutputFileError, match="the folder is not empty"):
        write_package(tmp_path, PROGRAM, A, B)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_file_in_the_way_is_left_alone(tmp_path):
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(OutputFileError, match="it is a file, not a folder"):
        check_folder(tmp_path / "mine")
    with pytest.raises(OutputFileError, match="it is a file, not a folder"):
        write_package(tmp_path / "mine", PROGRAM, A, B)
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.parametrize("fails", ["to_json", "_write_bench"])
@pytest.mark.parametrize("exists", [False, True])
def test_a_failure_on_the_way_leaves_nothing_half_written(fails, exists, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(f"sim.cosim.package.{fails}", fail)
    folder = tmp_path / "design"
    if exists:
        folder.mkdir()
    with pytest.raises(OutputFileError, match="No space left on device"):
        write_package(folder, PROGRAM, A, B)
    assert [path.name for path in tmp_path.rglob("*")] == (["design"] if exists else [])


def test_a_program_without_a_certificate_is_refused_before_anything_is_written(tmp_path):
    program = replace(PROGRAM, certificate=None)
    with pytest.raises(UncertifiedProgramError):
        write_package(tmp_path / "design", program, A, B)
    assert not (tmp_path / "design").exists()


def test_operands_that_are_missing_are_refused_before_anything_is_written(tmp_path):
    with pytest.raises(OperandSourceError):
        write_package(tmp_path / "design", PROGRAM, A)
    assert not (tmp_path / "design").exists()


def test_two_runs_write_the_same_bytes(folder, tmp_path, monkeypatch):
    monkeypatch.undo()  # so as to convert the chips again
    write_package(tmp_path / "again", PROGRAM, A, B)
    for path in folder.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()
