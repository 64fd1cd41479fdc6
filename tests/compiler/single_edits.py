"""Every single edit of a program: each field of each record with other values."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from enum import StrEnum

from compiler.errors import ShardwrightError
from compiler.ir.body import Add, Max
from compiler.ir.program import Program
from tests.compiler.programs import GROUPS, changed

OPTIONAL = ("site", "engine", "depth", "handoff", "link", "order", "schedule")


def edits(program: Program, *names: str) -> Iterator[tuple[str, Program]]:
    """The named fields of the program and all of its records, each with another value.

    The values are found elsewhere, close by, or none at all.
    """
    for name in names:
        here = getattr(program, name)
        for value in (*close_to(here), *([None] if name in OPTIONAL else [])):
            if value == here:
                continue
            yield f"{name} = {value}", replace(program, **{name: value})
    for group in GROUPS:
        records = getattr(program, group) or ()
        for record in records:
            for field in fields(record):
                here = getattr(record, field.name)
                others = {getattr(other, field.name) for other in records} | {*close_to(here)}
                if field.default is None or field.name in OPTIONAL:
                    others.add(None)
                for value in sorted(others - {here}, key=repr):
                    what = f"{record.name}.{field.name} = {value}"
                    yield what, changed(program, record.name, **{field.name: value})


def close_to(value: object) -> Iterator[object]:
    """What a slip of the hand may make of ``value``."""
    match value:
        case bool() | None:
            return
        case int():
            yield from (value + 1, value - 1, 0, -1)
        case StrEnum():
            yield from type(value)
        case str():
            yield "nowhere"
        case tuple():
            yield from ((), value[1:], value[:-1], value[::-1], (*value, *value[:1]))
            for index, item in enumerate(value):
                for other in close_to(item):
                    yield (*value[:index], other, *value[index + 1 :])
        case Add(left, right) | Max(left, right):
            yield from (left, Add(left, left), Add(right, left), Max(left, right))
            yield from (Add(other, right) for other in close_to(left))
        case _ if is_dataclass(value):
            for field in fields(value):
                for other in close_to(getattr(value, field.name)):
                    with suppress(ValueError, ShardwrightError):
                        yield replace(value, **{field.name: other})
