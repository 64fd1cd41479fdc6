"""Output folders: whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sim.errors import OutputFileError

PREFIX = ".shardwright."


def check_folder(folder: str | Path) -> None:
    """Check that a folder can be made there, before long work whose result goes into it.

    Raises
    ------
    OutputFileError
        If there is a file of that name, or a folder that holds something, or none can be made.
    """
    try:
        why = _obstacle(folder)
    except OSError as error:
        why = error.strerror or str(error)
    if why:
        raise OutputFileError(path=str(folder), why=why)


def place_of(folder: str | Path) -> Path:
    """Where a folder of that name lies: its full path, at the end of symbolic links."""
    return Path(os.path.realpath(folder))


@contextmanager
def whole_folder(folder: str | Path) -> Iterator[Path]:
    """A folder to fill, whose contents stand at ``folder`` at the end, if nothing fails.

    A folder that is there already, and empty, stays the one that it is: somebody may stand in it,
    or have put a file system there.

    Raises
    ------
    OutputFileError
        If it cannot be made, or holds something already.
    """
    check_folder(folder)
    place = place_of(folder)
    try:
        exists = place.is_dir()
        if not exists:
            place.parent.mkdir(parents=True, exist_ok=True)
        beside = place if exists else place.parent
        with tempfile.TemporaryDirectory(dir=beside, prefix=PREFIX) as temporary:
            made = Path(temporary) / (place.name or "root")
            made.mkdir()
            yield made
            if exists:
                _move_contents(made, place)
            else:
                made.rename(place)
    except OSError as error:
        raise OutputFileError(path=str(folder), why=error.strerror or str(error)) from error


def _move_contents(source: Path, destination: Path) -> None:
    """Move all that a folder holds, or nothing."""
    moved: list[Path] = []
    try:
        for entry in sorted(source.iterdir()):
            moved.append(entry.rename(destination / entry.name))
    except BaseException:
        for path in moved:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        raise


def _obstacle(folder: str | Path) -> str | None:
    """Why no folder can be filled there, if none can."""
    if not str(folder):
        return "it has no name"
    place = place_of(folder)
    if place.is_dir():
        if any(place.iterdir()):
            return "the folder is not empty"
        return None if os.access(place, os.W_OK | os.X_OK) else "permission denied"
    if place.exists():
        return "it is a file, not a folder"
    nearest = next(parent for parent in place.parents if parent.exists())
    if not nearest.is_dir():
        return f"{str(nearest)!r} is a file, not a folder"
    return None if os.access(nearest, os.W_OK | os.X_OK) else "permission denied"
