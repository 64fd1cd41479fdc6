# amaranth: UnusedElaboratable=no
import re

import numpy as np
import pytest

from compiler.serialize import to_json
from tests.programs import program_for
from tests.shardwright.command import invoke

PRODUCT = "verilog --m 4 --n 4 --k 8 --chips 2 --tile 2"


def test_writes_a_folder_and_says_how_much(tmp_path):
    result = invoke(PRODUCT, "-o", tmp_path / "design")
    assert result.exit_code == 0
    modules = list((tmp_path / "design").glob("*.v"))
    said = re.fullmatch(r"(\d+) modules for 2 chips, (\d+) bytes\n", result.output)
    assert said
    sizes = [path.stat().st_size for path in modules]
    assert (int(said[1]), int(said[2])) == (len(sizes), sum(sizes))


def test_takes_operands_from_files(tmp_path):
    a, b = np.arange(16).reshape(2, 8), np.arange(16).reshape(8, 2)
    for name, operand in (("a", a), ("b", b)):
        np.save(tmp_path / f"{name}.npy", operand.astype(np.int8))
    files = tmp_path / "a.npy", tmp_path / "b.npy"
    result = invoke("verilog --tile 2 --chips 2", *files, "-o", tmp_path / "design")
    assert result.exit_code == 0
    lines = (tmp_path / "design" / "c.hex").read_text().split()
    held = [[int(line[8:], 16), int(line[:8], 16)] for line in lines]
    assert held == (a @ b).tolist()


def test_takes_a_compiled_program(tmp_path):
    program = program_for(4, 4, 8, chips=2, tile=2)
    (tmp_path / "program.json").write_text(to_json(program))
    result = invoke("verilog --program", tmp_path / "program.json", "-o", tmp_path / "design")
    assert result.exit_code == 0
    assert (tmp_path / "design" / "program.json").read_text() == to_json(program)


def test_writes_one_chip_for_a_board(tmp_path):
    result = invoke(f"{PRODUCT} --chip 1", "-o", tmp_path / "board")
    assert result.exit_code == 0
    assert result.output.startswith("1 module for 1 chip, ")
    assert [path.name for path in (tmp_path / "board").glob("*.v")] == ["chip_1.v"]


@pytest.mark.parametrize("chip", [2, 7])
def test_refuses_a_chip_that_is_not_there(chip, tmp_path):
    result = invoke(f"{PRODUCT} --chip {chip}", "-o", tmp_path / "board")
    assert result.exit_code == 2
    assert f"--chip {chip}: the program has chips 0 to 1" in result.output
    assert not (tmp_path / "board").exists()


def test_refuses_a_folder_that_holds_something(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    result = invoke(PRODUCT, "-o", tmp_path)
    assert result.exit_code != 0
    assert "the folder is not empty" in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_asks_for_a_folder():
    result = invoke(PRODUCT)
    assert result.exit_code == 2
    assert "Missing option '-o'" in result.output
