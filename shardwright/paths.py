"""The files that a command names: none is written over another."""

import os
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

from compiler.toml_file import is_file_name
from shardwright.errors import SamePathError
from sim.errors import OutputFileError
from sim.files import check_writable
from sim.folders import check_folder


def check_outputs(
    *, files: dict[str, str | None], folders: dict[str, str | None] | None = None, **options: Any
) -> None:
    """Check that all outputs can be written, and that each is a file of its own.

    Parameters
    ----------
    files, folders : dict of str to str or None
        What is to be written, by the option that names it; ``None`` for what is not asked for.
    options : mapping
        The options of a command, some of which name files that it reads.

    Raises
    ------
    OutputFileError
        If an output cannot be written.
    SamePathError
        If an output is another output, or what is read, be it through links.
    """
    written_files = {name: path for name, path in files.items() if path is not None}
    written_folders = {name: path for name, path in (folders or {}).items() if path is not None}
    for path in written_files.values():
        check_writable(path)
    for path in written_folders.values():
        check_folder(path)
    outputs = [*written_files.items(), *written_folders.items()]
    for (first, path), (second, other) in combinations(outputs, 2):
        _check_apart(first, path, second, other)
    for path in written_files.values():
        for _, other in outputs:
            if Path(os.path.realpath(path)) in Path(os.path.realpath(other)).parents:
                raise OutputFileError(path=other, why=f"{path!r} is a file, not a folder")
    for first, path in outputs:
        for second, other in _inputs(**options):
            _check_apart(second, other, first, path)


def _check_apart(first: str, path: str, second: str, other: str) -> None:
    if os.path.realpath(path) == os.path.realpath(other):
        raise SamePathError(first=first, second=second, path=path)


def _inputs(
    *,
    operands: tuple[str, ...] = (),
    program_file: str | None = None,
    target: str = "",
    board_name: str = "",
    **_: Any,
) -> Iterator[tuple[str, str]]:
    """What a command reads, by what names it."""
    yield from (("operand " + Path(path).name, path) for path in operands)
    if program_file is not None:
        yield "--program", program_file
    if is_file_name(target):
        yield "--target", target
    if is_file_name(board_name):
        yield "--board", board_name
