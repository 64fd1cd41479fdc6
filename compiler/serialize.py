"""Programs as JSON: nothing lost, versioned, and refused by name where something does not fit.

The form follows the dataclasses of :mod:`compiler.ir`: a record is an object with one entry for
each of its fields, in their order; a record that is one of several kinds says which in ``type``.
Expressions are texts, as they are printed.
"""

import json
from dataclasses import is_dataclass
from enum import StrEnum
from math import isfinite
from operator import index
from typing import Any, SupportsFloat, SupportsIndex, TypeGuard, cast, get_args, get_origin

from compiler.errors import MeshError, ProgramFormatError
from compiler.ir.body import Operand
from compiler.ir.body_text import parse_body
from compiler.ir.limits import EXPRESSION_LENGTH, NUMBER, TEXT_LENGTH
from compiler.ir.names import is_line, is_name, quoted
from compiler.ir.program import Program
from compiler.record_types import (
    EXPRESSIONS,
    FORMAT,
    TAG,
    VERSION,
    alternatives,
    fields_of,
    is_record,
    is_tagged,
    saved_unless_default,
)

OLD_VERSIONS = {
    1: "knew of no meshes, layouts and parts",
    2: "knew of no operation but the product",
}
"""Versions that are known no more, and why."""


def to_json(program: Program) -> str:
    """A program as JSON text. Equal programs give equal text.

    Raises
    ------
    ProgramFormatError
        If the program holds what JSON cannot: a float that is not finite, a value of a foreign
        type, or expressions that are nested too deeply.
    """
    try:
        document = {"format": FORMAT, "version": VERSION, "program": _encoded(program, Program)}
        return json.dumps(document, indent=1, allow_nan=False) + "\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise ProgramFormatError(place="program", why=f"it cannot be saved: {error}") from error


def from_json(text: str) -> Program:
    """The program that :func:`to_json` wrote.

    Raises
    ------
    ProgramFormatError
        If the text is no JSON, of another format or version, or if a field is unknown, missing,
        there twice or of the wrong type. The message names the place.
    """
    try:
        document: object = json.loads(text, object_pairs_hook=_entries)
        if not _is_object(document) or document.get("format") != FORMAT:
            raise ProgramFormatError(place="format", why=f"it must be {FORMAT!r}")
        version = document.get("version")
        if type(version) is not int or version != VERSION:
            raise ProgramFormatError(place="version", why=_other_version(version))
        for name in sorted(document.keys() - {"format", "version", "program"}):
            raise ProgramFormatError(place=_field(name), why="there is no such field")
        if "program" not in document:
            raise ProgramFormatError(place="program", why="it is missing")
        return _decoded(document["program"], Program, "program")
    except ValueError as error:
        raise ProgramFormatError(place="the file", why=f"it is no JSON: {error}") from error
    except RecursionError as error:
        raise ProgramFormatError(place="the file", why="it is nested too deeply") from error


def _other_version(version: object) -> str:
    why = f"it is {_shortened(version)}, but only version {VERSION} is known here"
    if type(version) is int and version in OLD_VERSIONS:
        why += f"; version {version} {OLD_VERSIONS[version]}: compile the product anew"
    return why


def _entries(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object, of which no name may stand twice."""
    entries: dict[str, object] = {}
    for name, value in pairs:
        if name in entries:
            raise ProgramFormatError(place=_field(name), why="it stands twice in one record")
        entries[name] = value
    return entries


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def _encoded(value: object, hint: Any) -> object:
    if isinstance(value, EXPRESSIONS):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        usual = saved_unless_default(type(value))
        entries = {
            name: _encoded(getattr(value, name), field)
            for name, field in fields_of(type(value)).items()
            if name not in usual or getattr(value, name) != usual[name]
        }
        return {TAG: type(value).__name__, **entries} if is_tagged(hint) else entries
    if isinstance(value, tuple):
        items = cast(tuple[object, ...], value)
        inner = next(h for h in alternatives(hint) if get_origin(h) is tuple)
        return [
            _encoded(item, h) for item, h in zip(items, _item_hints(inner, len(items)), strict=True)
        ]
    return _encoded_number(value, alternatives(hint))


def _encoded_number(value: object, choices: tuple[Any, ...]) -> object:
    """Equal numbers alike, whatever their type: 1 and 1.0 where a float is meant, numpy's too."""
    if int in choices and isinstance(value, SupportsIndex):
        return index(value)
    if float in choices and isinstance(value, SupportsFloat):
        return float(value)
    return value


def _item_hints(hint: Any, length: int) -> list[Any]:
    """Types of the items of a tuple type: one for all, or one for each."""
    arguments = get_args(hint)
    if arguments[-1] is Ellipsis:
        return [arguments[0]] * length
    return list(arguments)


def _decoded(value: object, hint: Any, place: str) -> Any:
    choices = alternatives(hint)
    if value is None and type(None) in choices:
        return None
    if Operand in choices and isinstance(value, str):
        return _decoded_expression(value, place)
    records = [choice for choice in choices if is_record(choice) and choice not in EXPRESSIONS]
    if records and _is_object(value):
        return _decoded_record(value, records, place)
    for choice in choices:
        if get_origin(choice) is tuple and _is_list(value):
            hints = _item_hints(choice, len(value))
            if len(hints) != len(value):
                why = f"it must have {len(hints)} items, not {len(value)}"
                raise ProgramFormatError(place=place, why=why)
            return tuple(
                _decoded(item, item_hint, f"{place}[{position}]")
                for position, (item, item_hint) in enumerate(zip(value, hints, strict=True))
            )
        if isinstance(choice, type) and issubclass(choice, StrEnum):
            if value in list(choice):
                return choice(value)
        elif choice is float and _is_number(value):
            return float(value)
        elif choice in (int, str, bool) and type(value) is choice:
            _check_size(value, place)
            return value
    why = f"it must be {_wanted(choices)}, not {_shortened(value)}"
    raise ProgramFormatError(place=place, why=why)


def _decoded_expression(text: str, place: str) -> Any:
    if len(text) > EXPRESSION_LENGTH:
        why = f"it must be an expression of at most {EXPRESSION_LENGTH} characters"
        raise ProgramFormatError(place=place, why=why)
    try:
        return parse_body(text)
    except ValueError as error:
        raise ProgramFormatError(place=place, why=str(error)) from error


def _check_size(value: object, place: str) -> None:
    """Refuse numbers and texts that no program needs, and that could not even be printed."""
    if isinstance(value, int) and abs(value) > NUMBER:
        why = "it must be an integer of at most 64 bits"
        raise ProgramFormatError(place=place, why=why)
    if isinstance(value, str) and not is_line(value, TEXT_LENGTH):
        why = f"it must be one line of at most {TEXT_LENGTH} printable characters"
        raise ProgramFormatError(place=place, why=f"{why}, not {quoted(value)}")


def _is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number that a float holds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return isfinite(value)
    except OverflowError:
        return False


def _decoded_record(value: dict[str, object], records: list[Any], place: str) -> Any:
    entries = dict(value)
    record = records[0]
    if len(records) > 1:
        named = {choice.__name__: choice for choice in records}
        tag = entries.pop(TAG, None)
        if not isinstance(tag, str) or tag not in named:
            raise ProgramFormatError(
                place=f"{place}.{TAG}",
                why=f"it must be one of {', '.join(named)}, not {_shortened(tag)}",
            )
        record = named[tag]
    hints = fields_of(record)
    for name in sorted(entries.keys() - hints.keys()):
        raise ProgramFormatError(place=f"{place}.{_field(name)}", why="there is no such field")
    for name in hints:
        if name not in entries and name not in saved_unless_default(record):
            raise ProgramFormatError(place=f"{place}.{name}", why="it is missing")
    decoded = {
        name: _decoded(entries[name], field, f"{place}.{name}")
        for name, field in hints.items()
        if name in entries
    }
    try:
        return record(**decoded)
    except (TypeError, ValueError, MeshError) as error:
        raise ProgramFormatError(place=place, why=str(error)) from error


def _field(name: str) -> str:
    """A field that may be called anything, in an error."""
    return name if is_name(name) else quoted(name)


def _wanted(choices: tuple[Any, ...]) -> str:
    """What a value of one of these types is called in an error."""
    simple: dict[Any, str] = {
        int: "an integer",
        str: "a string",
        bool: "true or false",
        float: "a finite number",
        type(None): "null",
    }
    words: list[str] = []
    if Operand in choices:
        words.append("an expression, as (op0 + op1)")
        choices = tuple(choice for choice in choices if choice not in EXPRESSIONS)
    records = [choice.__name__ for choice in choices if is_record(choice)]
    if records:
        words.append(f"a record ({', '.join(records)})")
    for choice in choices:
        if get_origin(choice) is tuple:
            words.append("a list")
        elif choice in simple:
            words.append(simple[choice])
        elif issubclass(choice, StrEnum):
            words.append(f"one of {', '.join(choice)}")
    return " or ".join(words)


def _shortened(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
