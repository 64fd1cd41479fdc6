"""TOML files that people write: targets and models."""

import tomllib
from pathlib import Path
from typing import Any

from compiler.errors import ShardwrightError


def read(path: str | Path, *, kind: str, error: type[ShardwrightError]) -> dict[str, Any]:
    """The entries of the TOML file at ``path``.

    Raises
    ------
    error
        If the file cannot be read or is no TOML; the message calls it a ``kind``.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as failure:
        raise error(f"{kind} {str(path)!r} cannot be read: {failure}") from failure
    return parse(text, source=str(path), kind=kind, error=error)


def parse(text: str, *, source: str, kind: str, error: type[ShardwrightError]) -> dict[str, Any]:
    """The entries of TOML text that comes from ``source``.

    Raises
    ------
    error
        If it is no TOML.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as failure:
        raise error(f"{kind} {source!r} is no TOML: {failure}") from failure


def check_fields(
    entries: dict[str, Any],
    *,
    place: str,
    required: tuple[str, ...],
    optional: tuple[str, ...] = (),
    error: type[ShardwrightError],
) -> None:
    """Refuse entries that are missing or unknown.

    Raises
    ------
    error
        With the first such field by name, and the fields that there are.
    """
    known = {*required, *optional}
    for name in sorted({*entries} ^ known):
        if name in optional:
            continue
        fault = "missing" if name in known else "unknown"
        raise error(
            f"{place}: field {name!r} is {fault}; the fields are {', '.join(sorted(known))}"
        )
