"""TOML files that people write: targets, models, boards and cables."""

import tomllib
from pathlib import Path
from typing import Any, cast
from unicodedata import category

from compiler.errors import ShardwrightError

SUFFIX = ".toml"

MOST_CHARACTERS = 1 << 20
"""Longest file that is read: what people write is far shorter, and a device has no end."""

INTEGER_BITS = 64
"""What TOML asks a reader to take, with its sign; no figure of ours is larger."""

UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Categories of characters that break a line, turn its direction, or do not show."""

TOO_LARGE = f"it holds an integer of more than {INTEGER_BITS} bits"


SHOWN_CHARACTERS = 40
"""How much of a text an error shows."""


def is_one_line(text: str) -> bool:
    """Whether a text can be printed as it is: no line break, nothing that cannot be seen."""
    return not {category(character) for character in text} & UNSEEN


def is_file_name(reference: str) -> bool:
    """Whether a person names a file, and not something of that name that comes with us."""
    return reference.lower().endswith(SUFFIX)


def read(path: str | Path, *, kind: str, error: type[ShardwrightError]) -> dict[str, Any]:
    """The entries of the TOML file at ``path``.

    Raises
    ------
    error
        If the file cannot be read or is no TOML; the message calls it a ``kind``.
    """
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(MOST_CHARACTERS + 1)
    except (OSError, UnicodeDecodeError) as failure:
        why = failure.strerror if isinstance(failure, OSError) else None
        raise error(f"{kind} {str(path)!r} cannot be read: {why or failure}") from failure
    if len(text) > MOST_CHARACTERS:
        why = f"it has more than {MOST_CHARACTERS:,} characters"
        raise error(f"{kind} {str(path)!r} cannot be read: {why}")
    return parse(text, source=str(path), kind=kind, error=error)


def parse(text: str, *, source: str, kind: str, error: type[ShardwrightError]) -> dict[str, Any]:
    """The entries of TOML text that comes from ``source``.

    Raises
    ------
    error
        If it is no TOML, or holds an integer of more than 64 bits or a text of several lines.
    """
    try:
        entries = tomllib.loads(text)
    except RecursionError as failure:
        why = "its lists or tables are nested too deeply"
        raise error(f"{kind} {source!r} cannot be read: {why}") from failure
    except tomllib.TOMLDecodeError as failure:
        raise error(f"{kind} {source!r} is no TOML: {failure}") from failure
    except ValueError as failure:  # what Python says of an integer of thousands of digits
        raise error(f"{kind} {source!r} cannot be read: {TOO_LARGE}") from failure
    why = _fault(entries)
    if why:
        raise error(f"{kind} {source!r} cannot be read: {why}")
    return entries


def _fault(entries: dict[str, Any]) -> str | None:
    """What is wrong with the first value, however deep, that no field can have."""
    left: list[object] = [entries]
    while left:
        value = left.pop()
        match value:
            case dict():
                left += cast(dict[str, object], value).values()
            case list():
                left += cast(list[object], value)
            case int() as number:
                if not -(1 << (INTEGER_BITS - 1)) <= number < 1 << (INTEGER_BITS - 1):
                    return TOO_LARGE
            case str() as text if not is_one_line(text):
                return f"{text[:SHOWN_CHARACTERS]!r} is no text of one line that can be shown"
            case _:
                pass
    return None


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
