"""Program files: read, and written whole."""

from pathlib import Path

from compiler.errors import ProgramFormatError
from compiler.ir.limits import FILE_BYTES
from compiler.ir.program import Program
from compiler.serialize import from_json, to_json
from sim.files import write_whole


def read_program(path: str | Path) -> Program:
    """The program in a JSON file.

    Raises
    ------
    ProgramFormatError
        If the file cannot be read, or does not hold a program in the known form.
    """
    try:
        with open(path, "rb") as file:
            content = file.read(FILE_BYTES + 1)
        text = content.decode("utf-8") if len(content) <= FILE_BYTES else ""
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ProgramFormatError(place=str(path), why=f"it cannot be read: {why}") from error
    if len(content) > FILE_BYTES:
        raise ProgramFormatError(place=str(path), why=f"it has more than {FILE_BYTES} bytes")
    return from_json(text)


def write_program(path: str | Path, program: Program) -> None:
    """Write a program as JSON, whole or not at all.

    Raises
    ------
    OutputFileError
        If the file cannot be written.
    """
    write_whole(path, lambda file: file.write(to_json(program).encode()))
