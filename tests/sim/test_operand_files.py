"""What ``read_matrix`` makes of files that are whole, damaged, or something else."""

import io
import random
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.errors import OperandFileError
from sim.operand_files import read_matrix

SMALL = np.random.default_rng(7).integers(-128, 128, (5, 6))


def npy(array: np.ndarray, *, allow_pickle: bool = False) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=allow_pickle)
    return file.getvalue()


def npz(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez(file, array)
    return file.getvalue()


def with_header(text: str, values: bytes = b"") -> bytes:
    """A file of this header, in the version that numpy writes."""
    encoded = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(encoded).to_bytes(2, "little") + encoded + values


def header(shape: str = "(5, 6)", descr: str = "'|i1'", fortran_order: str = "False") -> bytes:
    fields = f"'descr': {descr}, 'fortran_order': {fortran_order}, 'shape': {shape}, "
    return with_header(f"{{{fields}}}", bytes(30))


SAVED = npy(SMALL)
HEADER = "its header is damaged"
DAMAGE = {
    "text": (b"1 2 3\n4 5 6\n", "it does not begin as .npy does"),
    "nothing": (b"", "it does not begin as .npy does"),
    "archive": (npz(SMALL), "it is an archive of arrays (.npz)"),
    "half of an archive": (npz(SMALL)[:40], "it is an archive of arrays (.npz)"),
    "objects": (
        npy(np.array([[None, 1]]), allow_pickle=True),
        "it holds Python objects, not numbers",
    ),
    "records": (npy(np.zeros(3, [("x", "i1")])), "it holds records, not numbers"),
    "half of the values": (SAVED[:-100], "its values take 240 bytes, and it has 140"),
    "half of the header": (SAVED[:40], "its header is cut off"),
    "nothing but the beginning": (SAVED[:6], "it is of no known version of .npy"),
    "no length": (SAVED[:8], HEADER),
    "unknown version": (SAVED[:6] + b"\x09" + SAVED[7:], "it is of no known version of .npy"),
    "a long header": (with_header(" " * 20_000), HEADER),
    "open bracket in the header": (SAVED.replace(b"(5, 6)", b"((5, 6"), HEADER),
    "no expression in the header": (SAVED.replace(b"(5, 6)", b"(5 6!)"), HEADER),
    "more values than memory": (
        header("(1000000000, 1000000000)"),
        "its values take 1000000000000000000 bytes, and it has 30",
    ),
    "extents beyond all numbers": (header(f"({10**30}, 16)"), HEADER),
    "an extent that is true": (header("(True, 30)"), HEADER),
    "a negative extent": (header("(-5, -6)"), HEADER),
    "a shape that is a list": (header("[5, 6]"), HEADER),
    "an element that is a tuple": (header(descr="()"), HEADER),
    "an element of bytes": (header(descr="b'|i1'"), HEADER),
    "an unknown element": (header(descr="'|x1'"), HEADER),
    "an element of no size": (header(descr="'<i7'"), HEADER),
    "an order that is a number": (header(fortran_order="0"), HEADER),
    "keys of bytes": (
        with_header("{b'descr': '|i1', b'fortran_order': False, b'shape': (5, 6)}"),
        HEADER,
    ),
    "a key that no table takes": (with_header("{[]: 1}"), HEADER),
    "a header that is a list": (with_header("['descr']"), HEADER),
    "nested lists": (with_header("[" * 3000 + "]" * 3000), HEADER),
    "an integer of thousands of digits": (header(f"({'9' * 5000}, 6)"), HEADER),
    "a null in the header": (with_header("{\0}"), HEADER),
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


def test_reads_what_python_2_saved(tmp_path):
    contents = header("(5L, 6L)")
    (tmp_path / "a.npy").write_bytes(contents)
    assert np.array_equal(read_matrix(tmp_path / "a.npy"), np.zeros((5, 6)))


ODD = (
    *("True", "-1", "0", "1", str(2**31), str(2**63), str(10**30), "9" * 5000),
    *("1.5", "1e400", "1j", "None", "()", "[]", "{}", "(1,)", "(5, 6)", "(5, (6,))"),
    *("[('x', 'i1')]", "[('x',)]", "set()", "''", "'|i1'", "'<i8'", "'>u4'", "'|b1'", "'O'"),
    *("'|V0'", "'<M8[ns]'", "'<M8[x]'", "'S9999'", "'i4,i4'", "'(2,3)i4'", "'<f4'", "'<U7'"),
    *("'|i16'", "b''", "b'|i1'", "-'a'", "x", "(", "'", '"""', "\\", "\0", "...", "'\\d'"),
    *("1 if 1 else 2", "[" * 200 + "]" * 200, "-" * 500 + "1"),
)
KEYS = ("'descr'", "'fortran_order'", "'shape'", "b'shape'", "'extra'", "1", "()", "[]", "None")


def odd_header(rng: random.Random) -> bytes:
    """A file whose header is nearly right, as a literal."""
    fields = {"'descr'": "'|i1'", "'fortran_order'": "False", "'shape'": "(5, 6)"}
    for _ in range(rng.randint(1, 2)):
        key = rng.choice(list(fields))
        match rng.randrange(4):
            case 0:
                fields[rng.choice(KEYS)] = fields.pop(key)
            case 1:
                first, second = rng.choice(ODD), rng.choice(ODD)
                fields[key] = f"({first}, {second})"
            case _:
                fields[key] = rng.choice(ODD)
    text = f"{{{', '.join(f'{key}: {value}' for key, value in fields.items())}}}"
    contents = bytearray(with_header(text, bytes(30)))
    if rng.random() < 0.3:
        contents[6 + rng.randrange(4)] = rng.choice((0, 1, 2, 3, 9, 255))
    return bytes(contents)


def refusal_of(path: Path) -> str | None:
    try:
        assert isinstance(read_matrix(path), np.ndarray)
    except OperandFileError as error:
        return str(error)
    return None


@pytest.mark.parametrize("seed", range(2))
def test_an_odd_header_is_read_or_refused_in_one_line(tmp_path, seed):
    rng, path = random.Random(f"headers/{seed}"), tmp_path / "a.npy"
    refusals = []
    for _ in range(1000):
        path.write_bytes(odd_header(rng))
        refusals.append(refusal_of(path))
    assert 500 < sum(refusal is not None for refusal in refusals) < 1000
    assert all("\n" not in refusal and len(refusal) < 1000 for refusal in refusals if refusal)


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
