"""What product the options state, and which operands go with a program that is compiled already."""

import json

import numpy as np
import pytest

from compiler.ir.init import Pattern
from compiler.ir.tensor import ValueRange
from compiler.workload import MatmulSpec
from shardwright.programs import read_program, write_program
from tests.programs import finished
from tests.shardwright.command import invoke, last_line

NARROW = "--m 5 --n 6 --k 64 --tile 4 --sum-bits 10 --a-range -3,2 --b-range 0,1"


def test_declared_ranges_are_those_of_the_program(tmp_path):
    path = tmp_path / "program.json"
    assert invoke(f"compile {NARROW} --chips 2 -o", path).exit_code == 0
    ranges = {tensor.name: tensor.value_range for tensor in read_program(path).tensors}
    for chip in range(2):
        assert ranges[f"c{chip}.a"] == ValueRange(-3, 2)
        assert ranges[f"c{chip}.b"] == ValueRange(0, 1)


@pytest.mark.parametrize("compiled", [False, True])
def test_random_operands_are_within_the_declared_ranges_and_fill_them(tmp_path, compiled):
    product = NARROW
    if compiled:
        assert invoke(f"compile {NARROW} -o", tmp_path / "program.json").exit_code == 0
        product = f"--program {tmp_path / 'program.json'}"
    result = invoke(f"verilog {product} -o", tmp_path / "made")
    assert result.exit_code == 0
    for name, low, high in (("a", -3, 2), ("b", 0, 1)):
        words = "".join((tmp_path / "made" / f"{name}.hex").read_text().split())
        values = np.frombuffer(bytes.fromhex(words), np.int8)
        assert (values.min(), values.max()) == (low, high)
    assert invoke(f"run {product}").exit_code == 0


def test_operands_of_files_must_be_within_the_declared_ranges(tmp_path):
    np.save(tmp_path / "a.npy", np.full((4, 8), 3))
    np.save(tmp_path / "b.npy", np.ones((8, 4), int))
    result = invoke("run --a-range -3,2", tmp_path / "a.npy", tmp_path / "b.npy")
    assert result.exit_code == 1
    assert last_line(result) == (
        "error: operand a holds 3 at row 0, column 0, which is outside of [-3, 2]; scale or clip "
        "it first"
    )


@pytest.mark.parametrize("bits", range(2, 16))
def test_every_width_of_sums_that_is_offered_compiles_for_some_ranges(bits):
    for operands in (f"--a-range 0,1 --b-range -{2 ** min(7, bits - 1)},0", "--a-range 0,0"):
        product = f"show --m 2 --n 2 --k 1 --tile 2 --sum-bits {bits} {operands}"
        assert invoke(product).exit_code == 0


@pytest.fixture
def half_held(tmp_path):
    """A program that holds the values of its left operand."""
    path = tmp_path / "program.json"
    write_program(path, finished(MatmulSpec(2, 4, 4, a=Pattern(7, 3)), chips=1, tile=2))
    b = np.arange(16).reshape(4, 4)
    np.save(tmp_path / "b.npy", b)
    return path, tmp_path / "b.npy", (np.arange(8) % 7 - 3).reshape(2, 4) @ b


def test_one_file_goes_with_a_program_that_holds_the_other_operand(tmp_path, half_held):
    program, b, product = half_held
    result = invoke("run --program", program, b, "-o", tmp_path / "c.npy")
    assert result.exit_code == 0, result.output
    assert np.array_equal(np.load(tmp_path / "c.npy"), product)


def test_both_files_are_too_many_for_it_and_the_way_out_works(half_held):
    program, b, _ = half_held
    result = invoke("run --program", program, b, b)
    assert result.exit_code == 1
    assert last_line(result).startswith("error: operand a is given, but the program holds its")
    assert json.loads(invoke("run --json --program", program, b).stdout)["exact"]
