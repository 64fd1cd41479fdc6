"""Operand files: ``.npy`` files, whose headers are checked before anything is made of them."""

import ast
import math
import os
import re
import sys
import warnings
from pathlib import Path
from tokenize import TokenError
from typing import BinaryIO

import numpy as np

from sim.errors import OperandFileError

NPY_PREFIX = np.lib.format.MAGIC_PREFIX
ZIP_PREFIX = b"PK"
FIELDS = {"descr", "fortran_order", "shape"}
HEADER_BYTES = 10_000
"""Longest header, as numpy has it too."""

LENGTH_BYTES = {1: 2, 2: 4, 3: 4}
"""Bytes of the length of a header, by the version of the format."""

ELEMENT = re.compile(r"[<>=|]?([?bBiufcOSUVmM])\d{0,4}(\[\w+\])?")
"""What a header may say of the type of an element, if it is no record."""

PYTHON_2_LONG = re.compile(r"(?<=\d)L\b")
NO_LITERAL = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError)
"""What Python raises for text that is no literal."""

DAMAGED = (OSError, ValueError, EOFError, MemoryError, OverflowError, SyntaxError, TokenError)
"""What numpy raises for a file of a good header and damaged contents."""

DAMAGED_HEADER = "its header is damaged"


def read_matrix(path: str | Path) -> np.ndarray:
    """Read one array from a ``.npy`` file.

    Raises
    ------
    OperandFileError
        If there is no such file, or it holds no single plain array.
    """
    try:
        with open(path, "rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Python says of a strange header
            why = _obstacle(file)
            if why is None:
                file.seek(0)
                return np.load(file, allow_pickle=False)
    except DAMAGED as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise OperandFileError(path=str(path), why=why) from error
    raise OperandFileError(path=str(path), why=why)


def _obstacle(file: BinaryIO) -> str | None:
    """Why a file holds no array of numbers, as far as its header tells."""
    prefix = file.read(len(NPY_PREFIX))
    if prefix.startswith(ZIP_PREFIX):
        return "it is an archive of arrays (.npz)"
    if prefix != NPY_PREFIX:
        return "it does not begin as .npy does"
    version = file.read(2)
    if len(version) < 2 or version[0] not in LENGTH_BYTES:
        return "it is of no known version of .npy"
    length = int.from_bytes(file.read(LENGTH_BYTES[version[0]]), "little")
    text = file.read(min(length, HEADER_BYTES))
    if len(text) < length:
        return "its header is cut off" if length <= HEADER_BYTES else DAMAGED_HEADER
    header = _literal(text.decode("utf-8" if version[0] == 3 else "latin-1", errors="replace"))
    if not isinstance(header, dict) or header.keys() != FIELDS:
        return DAMAGED_HEADER
    return _obstacle_in_header(header, os.fstat(file.fileno()).st_size - file.tell())


def _obstacle_in_header(header: dict[str, object], byte_count: int) -> str | None:
    """Why no array of numbers can be made of so many bytes as a header says."""
    shape, element = header["shape"], header["descr"]
    if not isinstance(shape, tuple) or not all(map(_is_extent, shape)):
        return DAMAGED_HEADER
    if isinstance(element, list):
        return "it holds records, not numbers"
    if not isinstance(element, str) or not isinstance(header["fortran_order"], bool):
        return DAMAGED_HEADER
    kind = ELEMENT.fullmatch(element)
    if kind is None:
        return DAMAGED_HEADER
    if kind[1] == "O":
        return "it holds Python objects, not numbers"
    try:
        needed = math.prod(shape) * np.dtype(element).itemsize
    except (TypeError, ValueError):
        return DAMAGED_HEADER
    if needed > byte_count:
        return f"its values take {needed} bytes, and it has {byte_count}"
    return None


def _is_extent(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= sys.maxsize


def _literal(text: str) -> object:
    """The value of a Python literal; ``None`` if it is none."""
    try:
        return ast.literal_eval(PYTHON_2_LONG.sub("", text).strip())
    except NO_LITERAL:
        return None
