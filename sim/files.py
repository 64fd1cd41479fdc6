"""Output files: whole or not at all."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from sim.errors import OutputFileError


def check_writable(path: str | Path) -> None:
    """Check that a file can be made at ``path``, before long work whose result goes there.

    Raises
    ------
    OutputFileError
        If it cannot.
    """
    path = Path(path)
    if path.is_dir():
        raise OutputFileError(path=str(path), why="it is a folder")
    if not path.parent.is_dir():
        raise OutputFileError(path=str(path), why=f"there is no folder {str(path.parent)!r}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise OutputFileError(path=str(path), why="permission denied")


def write_whole(path: str | Path, write: Callable[[BinaryIO], None]) -> None:
    """Write a file under another name and rename it, so that ``path`` never holds half of it.

    Raises
    ------
    OutputFileError
        If the file cannot be written.
    """
    path = Path(path)
    check_writable(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                write(file)
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o666 & ~umask)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise OutputFileError(path=str(path), why=error.strerror or str(error)) from error
