"""The Verilog of a program as a folder that stands on its own."""

import json

import numpy as np
import pytest

import shardwright as sw
from compiler.serialize import from_json
from sim.cosim.package import write_package
from sim.errors import OutputFileError

M, N, K, CHIPS, TILE = 5, 3, 16, 2, 2


@pytest.fixture(scope="module")
def program():
    target = sw.targets.get("token-mesh", tile=TILE)
    return sw.shard(sw.compile(sw.MatmulSpec(M, N, K), target), sw.ShardPlan(CHIPS), target)


@pytest.fixture(scope="module")
def operands():
    rng = np.random.default_rng(0)
    return (
        rng.integers(-128, 128, (M, K), dtype=np.int8),
        rng.integers(-128, 128, (K, N), dtype=np.int8),
    )


@pytest.fixture(scope="module")
def folder(program, operands, tmp_path_factory):
    made = tmp_path_factory.mktemp("package") / "design"
    write_package(made, program, *operands)
    return made


def elements(folder, tensor):
    """The elements of a tensor's file, beat by beat."""
    size = tensor["element_bits"] // 8
    for line in (folder / tensor["file"]).read_text().split():
        beat = int(line, 16).to_bytes(tensor["beat_bytes"], "little")
        for lane in range(tensor["lanes"]):
            yield int.from_bytes(beat[lane * size : (lane + 1) * size], "little", signed=True)


def test_manifest_describes_every_file_port_chip_and_tensor(folder, program):
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["expected_cycles"] == program.schedule.cycles
    assert [chip["coordinate"] for chip in manifest["chips"]] == list(range(CHIPS))
    assert {tensor["name"] for tensor in manifest["tensors"]} == set(program.tensor_by_name)
    assert {link["name"] for link in manifest["links"]} == set(program.link_by_name)
    for module in (manifest["top"], *manifest["modules"]):
        assert (folder / module["file"]).is_file()
        for port in module["ports"]:
            assert port["meaning"], port
            assert port["width"] >= 1
            assert port["direction"] in ("input", "output")


def test_program_in_the_folder_is_the_program(folder, program):
    assert from_json((folder / "program.json").read_text()) == program


def test_files_hold_the_slices_and_the_product(folder, operands):
    a, b = (operand.astype(np.int64) for operand in operands)
    manifest = json.loads((folder / "manifest.json").read_text())
    half = K // CHIPS
    held = {tensor["name"]: sum(elements(folder, tensor)) for tensor in manifest["tensors"]}
    for chip in range(CHIPS):
        span = slice(chip * half, (chip + 1) * half)
        assert held[f"c{chip}.a"] == a[:, span].sum()
        assert held[f"c{chip}.b"] == b[span].sum()
    assert held["c"] == (a @ b).sum()
    (left,) = (tensor for tensor in manifest["tensors"] if tensor["name"] == "c1.a")
    assert list(elements(folder, left))[:TILE] == list(a[:TILE, half])


def test_one_chip_stands_alone(program, operands, tmp_path):
    write_package(tmp_path / "board", program, *operands, chip=1)
    manifest = json.loads((tmp_path / "board" / "manifest.json").read_text())
    assert manifest["top"] is None
    assert [chip["coordinate"] for chip in manifest["chips"]] == [1]
    assert {tensor["name"] for tensor in manifest["tensors"]} == {"c1.a", "c1.b"}
    assert not (tmp_path / "board" / "run.py").exists()


def test_a_folder_that_holds_something_is_left_alone(program, operands, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(OutputFileError, match="the folder is not empty"):
        write_package(tmp_path, program, *operands)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
