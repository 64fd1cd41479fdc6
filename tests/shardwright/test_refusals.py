"""Bad input at the command line: the exact error, exit status and nothing written."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

from tests.shardwright.command import invoke, last_line, spawn

ELLIPSIS = "[...]"
PRODUCT = "--m 8 --n 8 --k 32"
NO_NPY = "; it must be a .npy file with one int8 matrix (numpy.save)"
QUANTISE = "; quantise it to int8 first (for instance numpy.rint(x / scale).astype(numpy.int8))"
TO_INT32 = (
    "; with these operand ranges k may be at most 131071: multiply in parts along k and add those, "
    "or declare narrower operand ranges (compile --a-range, --b-range)"
)
PAD = ", or pad it with zeros (--pad-k), or let slices differ by a tile (--uneven)"
ELSEWHERE = "; choose another place"

# What one asks for, and the line that says why not. Status is 1.
REFUSED = {
    # Files
    "run absent.npy b.npy": (
        f"operand file 'absent.npy' cannot be read: No such file or directory{NO_NPY}"
    ),
    "run a.npy folder": f"operand file 'folder' cannot be read: Is a directory{NO_NPY}",
    "run text.npy b.npy": (
        f"operand file 'text.npy' cannot be read: it does not begin as .npy does{NO_NPY}"
    ),
    "run empty.npy b.npy": (
        f"operand file 'empty.npy' cannot be read: it does not begin as .npy does{NO_NPY}"
    ),
    "run a.npy archive.npz": (
        f"operand file 'archive.npz' cannot be read: it is an archive of arrays (.npz){NO_NPY}"
    ),
    "run objects.npy b.npy": (
        f"operand file 'objects.npy' cannot be read: it holds Python objects, not numbers{NO_NPY}"
    ),
    "run truncated.npy b.npy": (
        "operand file 'truncated.npy' cannot be read: its values take 256 bytes, and it has 216"
        f"{NO_NPY}"
    ),
    "run header.npy b.npy": (
        f"operand file 'header.npy' cannot be read: its header is cut off{NO_NPY}"
    ),
    # Types and values
    "run float.npy b.npy": f"operand float.npy must hold integers, not float64{QUANTISE}",
    "run a.npy bool.npy": f"operand bool.npy must hold integers, not bool{QUANTISE}",
    "run complex.npy b.npy": f"operand complex.npy must hold integers, not complex128{QUANTISE}",
    "run large.npy b.npy": (
        "operand large.npy holds 300 at row 3, column 5, which is outside of [-128, 127]; "
        "scale or clip it first"
    ),
    # Shapes
    "run one.npy b.npy": (
        "operand one.npy must be a matrix with two axes, not of shape (32,); "
        "reshape it to (1, 32) or (32, 1)"
    ),
    "run a.npy three.npy": (
        "operand three.npy must be a matrix with two axes, not of shape (2, 4, 32); reshape it"
    ),
    "run a.npy half.npy": (
        "A of shape (8, 32) and B of shape (16, 8) do not multiply: A has 32 columns and B has "
        "16 rows; they must be equal"
    ),
    "run no_rows.npy b.npy": (
        "the product 0x32 . 32x8 is empty: m is 0; every dimension must be at least 1"
    ),
    "run a.npy no_columns.npy": (
        "the product 8x32 . 32x0 is empty: n is 0; every dimension must be at least 1"
    ),
    "run no_columns.npy no_rows.npy": (
        "the product 32x0 . 0x32 is empty: k is 0; every dimension must be at least 1"
    ),
    "run --m 8 --n 8 --k 0": (
        "the product 8x0 . 0x8 is empty: k is 0; every dimension must be at least 1"
    ),
    "run --m 1 --n 1 --k 131072": (
        "a contraction of k = 131072 can reach sums in [-2130706432, 2147483648], which int32 "
        f"does not hold{TO_INT32}"
    ),
    "compile --m 1 --n 1 --k 131072 --chips 2 -o p.json": (
        "a contraction of k = 131072 can reach sums in [-2130706432, 2147483648], which int32 "
        f"does not hold{TO_INT32}"
    ),
    "run --m 1 --n 1 --k 8 --sum-bits 15": (
        "a contraction of k = 8 can reach sums in [-130048, 131072], which int15 does not hold; "
        "with these operand ranges no k is small enough: declare narrower operand ranges (compile "
        "--a-range, --b-range), or use more bits for sums (--sum-bits 19)"
    ),
    "run --m 1000000000000 --n 1 --k 1": (
        f"MemoryExceeded: chip 0 needs {ELLIPSIS} bytes for tensors and buffers, but has 16777216; "
        "use a target with more memory (after pass lower)"
    ),
    "run --m 2048 --n 8 --k 8192": (
        f"MemoryExceeded: chip 0 needs {ELLIPSIS} bytes for tensors and buffers, but has 16777216; "
        "use more chips or a target with more memory (after pass lower)"
    ),
    # Sharding
    "run --m 8 --n 8 --k 100 --chips 3": (
        "axis k of 100 does not divide over 3 chips (1 left over); "
        f"choose a chip count that divides it{PAD}"
    ),
    "run --m 8 --n 8 --k 100 --chips 4": (
        "axis k of 100 over 4 chips gives slices of 25, which is not a multiple of the tile 8; "
        f"choose a smaller tile or fewer chips{PAD}"
    ),
    "run --m 8 --n 8 --k 16 --chips 4": (
        "axis k of 16 over 4 chips gives slices of 4, which is not a multiple of the tile 8; "
        f"choose a smaller tile or fewer chips{PAD}"
    ),
    "run --m 8 --n 8 --k 2 --chips 4": (
        "axis k of 2 does not divide over 4 chips (2 left over); "
        f"choose a chip count that divides it{PAD}"
    ),
    "run --m 8 --n 8 --k 512 --chips 16 --reduce star": (
        "a star needs 15 links at chip 0, which has 8 link ports; a tree needs 4 (--reduce tree)"
    ),
    f"run {PRODUCT} --chips 2 --target local-only": (
        "target 'local-only' has no hand-off between chips (it provides ValidReady); a reduction "
        "needs Token, Semaphore or Barrier: choose another target, or one chip"
    ),
    f"run {PRODUCT} --target nowhere": (
        f"no target is named 'nowhere'; the targets are {ELLIPSIS}semaphore-mesh{ELLIPSIS}"
        "; a target of your own is a file whose name ends in .toml"
    ),
    # Output
    "run a.npy b.npy -o absent/c.npy": (
        f"output file 'absent/c.npy' cannot be written: there is no folder 'absent'{ELSEWHERE}"
    ),
    "run a.npy b.npy -o folder": (
        f"output file 'folder' cannot be written: it is a folder{ELSEWHERE}"
    ),
    "run a.npy b.npy -o /dev/null": (
        f"output file '/dev/null' cannot be written: it is no regular file{ELSEWHERE}"
    ),
    "run a.npy b.npy -o c.npy --waves ./c.npy": (
        "--waves and -o are the same file, './c.npy'; give the output another name"
    ),
    "run a.npy b.npy -o link.npy": (
        "operand a.npy and -o are the same file, 'a.npy'; give the output another name"
    ),
    "run a.npy b.npy --waves a.npy": (
        "operand a.npy and --waves are the same file, 'a.npy'; give the output another name"
    ),
    "compile a.npy b.npy -o b.npy": (
        "operand b.npy and -o are the same file, 'b.npy'; give the output another name"
    ),
    "run --program text.npy -o text.npy": (
        "--program and -o are the same file, 'text.npy'; give the output another name"
    ),
    f"run {PRODUCT} --target mine.toml -o mine.toml": (
        "--target and -o are the same file, 'mine.toml'; give the output another name"
    ),
    f"cosim {PRODUCT} --keep same -o same": (
        "-o and --keep are the same file, 'same'; give the output another name"
    ),
    f"cosim {PRODUCT} --keep c.npy/kept -o c.npy": (
        f"output file 'c.npy/kept' cannot be written: 'c.npy' is a file, not a folder{ELSEWHERE}"
    ),
    "verilog a.npy b.npy -o a.npy": (
        f"output file 'a.npy' cannot be written: it is a file, not a folder{ELSEWHERE}"
    ),
    "run a.npy b.npy --waves absent/run.vcd": (
        f"output file 'absent/run.vcd' cannot be written: there is no folder 'absent'{ELSEWHERE}"
    ),
    # The same of a program that is only shown
    "show text.npy b.npy": (
        f"operand file 'text.npy' cannot be read: it does not begin as .npy does{NO_NPY}"
    ),
    "show --m 8 --n 8 --k 100 --chips 3": (
        "axis k of 100 does not divide over 3 chips (1 left over); "
        f"choose a chip count that divides it{PAD}"
    ),
}

NEITHER = "give A.npy and B.npy, or --m, --n and --k for random operands"

# The same for a command that cannot be understood. Status is 2.
MISUSED = {
    "run": NEITHER,
    "run --m 8 --n 8": NEITHER,
    "show": NEITHER,
    "run a.npy": "give two operand files, A.npy and B.npy, not 1",
    "run a.npy b.npy a.npy": "give two operand files, A.npy and B.npy, not 3",
    "run a.npy b.npy --m 9": "--m 9 contradicts the files, which give 8",
    "run a.npy b.npy --k 16": "--k 16 contradicts the files, which give 32",
    f"run {PRODUCT} --chips 0": "Invalid value for '--chips': 0 is not in the range 1<=x<=4096.",
    f"run {PRODUCT} --tile 0": "Invalid value for '--tile': 0 is not in the range 1<=x<=64.",
    f"run {PRODUCT} --seed -1": "Invalid value for '--seed': -1 is not in the range x>=0.",
    "run --m -1 --n 8 --k 8": "Invalid value for '--m': -1 is not in the range x>=0.",
    f"run {PRODUCT} --link-width 0": (
        "Invalid value for '--link-width': 0 is not in the range 1<=x<=8192."
    ),
    f"run {PRODUCT} --link-latency 9999": (
        "Invalid value for '--link-latency': 9999 is not in the range 1<=x<=8192."
    ),
    f"run {PRODUCT} --a-range 5": (
        "Invalid value for '--a-range': '5' is not of the form LOW,HIGH in integers, as -8,7"
    ),
    f"run {PRODUCT} --b-range 5,-5": (
        "Invalid value for '--b-range': '5,-5' is no range within that of int8, -128,127"
    ),
    f"run {PRODUCT} --b-range -129,0": (
        "Invalid value for '--b-range': '-129,0' is no range within that of int8, -128,127"
    ),
    f"run {PRODUCT} --reduce torus": (
        "Invalid value for '--reduce': 'torus' is not one of 'chain', 'ring', 'ring-both-ways', "
        "'star', 'tree'."
    ),
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory) -> Path:
    """A folder of operand files, good and bad."""
    folder = tmp_path_factory.mktemp("inputs")
    a = np.random.default_rng(0).integers(-128, 128, (8, 32))
    large = a.copy()
    large[3, 5] = 300
    for name, array in {
        "a": a.astype(np.int8),
        "b": a.T.astype(np.int8),
        "half": a.T[:16],
        "float": a.astype(float),
        "bool": a.T > 0,
        "complex": a.astype(complex),
        "large": large.astype(np.int16),
        "one": a[0],
        "three": a.reshape(2, 4, 32),
        "no_rows": a[:0],
        "no_columns": a.T[:, :0],
        "objects": np.array([[None, 1]]),
    }.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=name == "objects")
    whole = (folder / "a.npy").read_bytes()
    (folder / "truncated.npy").write_bytes(whole[:-40])
    (folder / "header.npy").write_bytes(whole[:40])
    (folder / "empty.npy").write_bytes(b"")
    (folder / "text.npy").write_text("1 2 3\n")
    np.savez(folder / "archive.npz", a)
    (folder / "folder").mkdir()
    (folder / "link.npy").symlink_to("a.npy")
    return folder


def assert_refused(inputs: Path, arguments: str, error: str, status: int) -> None:
    before = sorted(os.listdir(inputs))
    result = invoke(arguments)
    pattern = ".*".join(map(re.escape, error.split(ELLIPSIS)))
    assert re.fullmatch(pattern, last_line(result)), last_line(result)
    assert result.exit_code == status
    assert sorted(os.listdir(inputs)) == before


@pytest.mark.parametrize(("arguments", "error"), REFUSED.items(), ids=REFUSED)
def test_refuses_in_one_line(inputs, monkeypatch, arguments, error):
    monkeypatch.chdir(inputs)
    assert_refused(inputs, arguments, f"error: {error}", status=1)


@pytest.mark.parametrize(("arguments", "error"), MISUSED.items(), ids=MISUSED)
def test_explains_misuse(inputs, monkeypatch, arguments, error):
    monkeypatch.chdir(inputs)
    assert_refused(inputs, arguments, f"Error: {error}", status=2)


@pytest.mark.parametrize(
    "arguments",
    ["run float.npy b.npy --json", f"run {PRODUCT} --chips 2 --target local-only -o c.npy"],
)
def test_refusal_is_on_standard_error_alone_and_has_no_traceback(inputs, arguments):
    ran = spawn(arguments, cwd=inputs)
    assert ran.returncode == 1
    assert ran.stdout == ""
    assert re.fullmatch(r"error: .*\n", ran.stderr)
    assert not (inputs / "c.npy").exists()


def test_output_that_exists_is_left_alone_when_the_input_is_refused(inputs, monkeypatch):
    monkeypatch.chdir(inputs)
    for option in ("-o", "--waves"):
        before = (inputs / "text.npy").read_bytes()
        assert invoke("run", "float.npy", "b.npy", option, "text.npy").exit_code == 1
        assert (inputs / "text.npy").read_bytes() == before
