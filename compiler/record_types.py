"""What the dataclasses of a program say about its JSON: fields, alternatives, what is left out."""

import types
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from compiler.ir.body import Add, Literal, Max, Operand

FORMAT = "shardwright program"
VERSION = 3
TAG = "type"
EXPRESSIONS = (Operand, Literal, Add, Max)
"""Records that are saved as texts, as they are printed."""


@cache
def fields_of(record: type) -> dict[str, Any]:
    """Types of a record's fields in their order."""
    hints = get_type_hints(record)
    return {field.name: hints[field.name] for field in fields(record)}


@cache
def saved_unless_default(record: type) -> dict[str, object]:
    """Fields that are left out of a file where they have their defaults, with these."""
    return {
        field.name: field.default
        for field in fields(record)
        if field.metadata.get("saved") == "unless default"
    }


def alternatives(hint: Any) -> tuple[Any, ...]:
    """The types of a union, or the one type that it is."""
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def is_record(hint: Any) -> bool:
    """Whether a type is one of the records of a program."""
    return is_dataclass(hint)


def is_tagged(hint: Any) -> bool:
    """Whether a value of this type must say which record it is."""
    return sum(map(is_record, alternatives(hint))) > 1
