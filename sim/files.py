"""Output files: whole or not at all."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
    try:
        why = _obstacle(_place(path))
    except OSError as error:
        why = error.strerror or str(error)
    if why:
        raise OutputFileError(path=str(path), why=why)


def write_whole(path: str | Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file under another name and rename it, so that ``path`` never holds half of it.

    Raises
    ------
    OutputFileError
        If the file cannot be written.
    """
    with whole_file(path) as file:
        write(file)


@contextmanager
def whole_file(
    path: str | Path, *, whole_after: tuple[type[BaseException], ...] = ()
) -> Iterator[BinaryIO]:
    """A file that stands at ``path`` once it is written, and only then.

    Parameters
    ----------
    whole_after : tuple of exception types
        What may end the writing and leave the file as good as it can be: it is kept then too.

    Raises
    ------
    OutputFileError
        If the file cannot be written.
    """
    check_writable(path)
    place = _place(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=place.parent, prefix=".shardwright.")
        try:
            ending = None
            with os.fdopen(handle, "wb") as file:
                try:
                    yield file
                except whole_after as error:
                    ending = error
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o666 & ~umask)
            os.replace(temporary, place)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise OutputFileError(path=str(path), why=error.strerror or str(error)) from error
    if ending is not None:
        raise ending


def _place(path: str | Path) -> Path:
    """Where a file of that name lies: at the end of a symbolic link, not in its stead."""
    return Path(os.path.realpath(path)) if os.path.islink(path) else Path(path)


def _obstacle(place: Path) -> str | None:
    """Why no file can be put there, if none can."""
    if place.is_dir():
        return "it is a folder"
    if not place.parent.is_dir():
        return f"there is no folder {str(place.parent)!r}"
    if place.exists() and not place.is_file():
        return "it is no regular file"
    needed = (place, place.parent) if place.exists() else (place.parent,)
    if not all(os.access(name, os.W_OK) for name in needed):
        return "permission denied"
    return None
