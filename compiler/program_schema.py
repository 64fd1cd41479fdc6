"""The JSON Schema of programs."""

from enum import StrEnum
from typing import Any, get_args, get_origin

from compiler.ir.program import Program
from compiler.record_types import (
    EXPRESSIONS,
    FORMAT,
    TAG,
    VERSION,
    alternatives,
    fields_of,
    is_tagged,
    saved_unless_default,
)


def schema() -> dict[str, Any]:
    """The JSON Schema of the document."""
    definitions: dict[str, Any] = {}
    program = _described(Program, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": FORMAT,
        "type": "object",
        "properties": {
            "format": {"const": FORMAT},
            "version": {"const": VERSION},
            "program": program,
        },
        "required": ["format", "version", "program"],
        "additionalProperties": False,
        "$defs": dict(sorted(definitions.items())),
    }


def _described(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type; records go into ``definitions``."""
    choices = _described_choices(hint)
    if len(choices) > 1:
        return {
            "anyOf": [_described_choice(choice, definitions, is_tagged(hint)) for choice in choices]
        }
    return _described_choice(next(iter(choices)), definitions, tagged=False)


def _described_choices(hint: Any) -> tuple[Any, ...]:
    """The types of a union; expressions are one of them, a text."""
    choices = alternatives(hint)
    others = tuple(choice for choice in choices if choice not in EXPRESSIONS)
    return others if len(others) == len(choices) else (str, *others)


def _described_choice(hint: Any, definitions: dict[str, Any], tagged: bool) -> dict[str, Any]:
    simple = {int: "integer", str: "string", bool: "boolean", float: "number", type(None): "null"}
    if hint in simple:
        return {"type": simple[hint]}
    if get_origin(hint) is tuple:
        arguments = get_args(hint)
        if arguments[-1] is Ellipsis:
            return {"type": "array", "items": _described(arguments[0], definitions)}
        items = [_described(argument, definitions) for argument in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "items": False}
    if issubclass(hint, StrEnum):
        return {"enum": [str(member) for member in hint]}
    name = hint.__name__
    if name not in definitions:
        definitions[name] = {}
        properties: dict[str, Any] = {TAG: {"const": name}} if tagged else {}
        for field, field_hint in fields_of(hint).items():
            properties[field] = _described(field_hint, definitions)
        definitions[name] = {
            "description": (hint.__doc__ or "").partition("\n")[0],
            "type": "object",
            "properties": properties,
            "required": [name for name in properties if name not in saved_unless_default(hint)],
            "additionalProperties": False,
        }
    return {"$ref": f"#/$defs/{name}"}
