"""What ``sim.operands.read_matrix`` makes of files that are whole, damaged, or something else."""

import io
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.errors import OperandFileError
from sim.operands import read_matrix

SMALL = np.random.default_rng(7).integers(-128, 128, (5, 6))


def npy(array: np.ndarray, *, allow_pickle: bool = False) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=allow_pickle)
    return file.getvalue()


def npz(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez(file, array)
    return file.getvalue()


def header_of(shape: tuple[int, ...]) -> bytes:
    file = io.BytesIO()
    fields = {"descr": "|i1", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, fields)
    return file.getvalue()


SAVED = npy(SMALL)
DAMAGE = {
    "text": (b"1 2 3\n4 5 6\n", "it does not begin as .npy does"),
    "nothing": (b"", "it does not begin as .npy does"),
    "archive": (npz(SMALL), "it is an archive of arrays (.npz)"),
    "half of an archive": (npz(SMALL)[:40], "it is an archive of arrays (.npz)"),
    "objects": (
        npy(np.array([[None, 1]]), allow_pickle=True),
        "Object arrays cannot be loaded when allow_pickle=False",
    ),
    "half of the values": (SAVED[:-100], "Failed to read all data for array"),
    "half of the header": (SAVED[:40], "EOF: reading array header"),
    "unknown version": (SAVED[:6] + b"\x09" + SAVED[7:], "we only support format version"),
    "open bracket in the header": (SAVED.replace(b"(5, 6)", b"((5, 6"), "its header is damaged"),
    "no expression in the header": (SAVED.replace(b"(5, 6)", b"(5 6!)"), "Cannot parse header"),
    "more values than memory": (header_of((10**9, 10**9)) + b"abc", "Unable to allocate"),
}


def test_reads_back_what_numpy_saved(tmp_path):
    np.save(tmp_path / "a.npy", SMALL)
    assert np.array_equal(read_matrix(tmp_path / "a.npy"), SMALL)


@pytest.mark.parametrize(("contents", "why"), DAMAGE.values(), ids=DAMAGE)
def test_refuses_a_file_that_holds_no_matrix(tmp_path, contents, why):
    path = tmp_path / "a.npy"
    path.write_bytes(contents)
    with pytest.raises(OperandFileError) as error:
        read_matrix(path)
    message = str(error.value)
    assert message.startswith(f"operand file {str(path)!r} cannot be read: {why}")
    assert message.endswith("; it must be a .npy file with one int8 matrix (numpy.save)")


def test_refuses_a_missing_file_and_a_folder(tmp_path):
    with pytest.raises(OperandFileError, match="No such file or directory"):
        read_matrix(tmp_path / "absent.npy")
    with pytest.raises(OperandFileError, match="Is a directory"):
        read_matrix(tmp_path)


@pytest.mark.filterwarnings("ignore:Reading `.npy`:UserWarning")
@given(
    length=st.integers(0, len(SAVED)),
    edits=st.lists(st.tuples(st.integers(0, 127), st.integers(0, 255)), max_size=4),
)
def test_a_damaged_file_is_read_or_refused_but_never_a_crash(tmp_path_factory, length, edits):
    contents = bytearray(SAVED)
    for place, byte in edits:
        contents[place] = byte
    path = tmp_path_factory.mktemp("damaged") / "a.npy"
    path.write_bytes(contents[:length])
    with suppress(OperandFileError):
        assert isinstance(read_matrix(path), np.ndarray)
