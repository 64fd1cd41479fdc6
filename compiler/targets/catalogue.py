"""The built-in targets, and targets from a file of the user's."""

from dataclasses import MISSING, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from compiler.errors import (
    PlanningOnlyError,
    TargetError,
    TargetValueError,
    UnknownTargetError,
)
from compiler.ir.link_kind import LinkKind
from compiler.ir.target import Target
from compiler.targets import planning
from compiler.targets.planning import KIND, PlanningTarget
from compiler.toml_file import check_fields, is_file_name, parse, read

PLANNING_ONLY = "planning_only"
"""The field that tells a planning target from a machine."""
LINK_TABLES = "links"
"""What the tables of further kinds of links are called in a file."""


def names() -> tuple[str, ...]:
    """Names of the built-in targets that programs are compiled for, sorted."""
    entries = files("compiler.targets").iterdir()
    return tuple(sorted(e.name.removesuffix(".toml") for e in entries if e.name.endswith(".toml")))


def get(name: str, **changes: Any) -> Target:
    """The built-in target ``name``, with the given fields changed.

    Raises
    ------
    UnknownTargetError
        If there is no such target.
    PlanningOnlyError
        If it is a planning target.
    TargetValueError
        If a changed field is out of its range or does not exist.
    """
    if name in planning.names():
        raise PlanningOnlyError(target=name, executable=names())
    if name not in names():
        raise UnknownTargetError(name=name, known=names())
    text = files("compiler.targets").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    source = f"{name}.toml"
    entries = parse(text, source=source, kind=KIND, error=TargetError)
    return change(_build(entries, source=source), **changes)


def load(path: str | Path, **changes: Any) -> Target:
    """The target that the TOML file at ``path`` describes, with the given fields changed.

    Raises
    ------
    TargetError
        If the file cannot be read or is no TOML.
    PlanningOnlyError
        If it describes a planning target.
    TargetValueError
        If a field is missing, unknown or out of its range.
    """
    entries = read(path, kind=KIND, error=TargetError)
    return change(_build(entries, source=str(path)), **changes)


def find(reference: str, **changes: Any) -> Target:
    """The target that a person names: a built-in one, or the file of one if it ends in .toml."""
    if is_file_name(reference):
        return load(reference, **changes)
    return get(reference, **changes)


def find_any(reference: str) -> Target | PlanningTarget:
    """As :func:`find`, planning targets included.

    Raises
    ------
    UnknownTargetError, TargetError
        If there is no such target, or its file does not describe one.
    """
    if is_file_name(reference):
        entries = read(reference, kind=KIND, error=TargetError)
        if _is_for_planning(entries, source=reference):
            return planning.build(entries, source=reference)
        return _build(entries, source=reference)
    if reference in planning.names():
        return planning.get(reference)
    if reference not in names():
        raise UnknownTargetError(name=reference, known=(*names(), *planning.names()))
    return get(reference)


def executable(target: Target | PlanningTarget) -> Target:
    """``target``, if programs can be compiled for it.

    Raises
    ------
    PlanningOnlyError
        If it is a planning target.
    """
    if isinstance(target, PlanningTarget):
        raise PlanningOnlyError(target=target.name, executable=names())
    return target


def change(target: Target, **changes: Any) -> Target:
    """``target`` with the given fields changed."""
    known = {field.name for field in fields(Target)}
    for name, value in changes.items():
        if name not in known:
            rule = f"one of {', '.join(sorted(known))}"
            raise TargetValueError(target=target.name, field=name, rule=rule, value=value)
    return replace(target, **changes)


def _is_for_planning(entries: dict[str, Any], *, source: str) -> bool:
    stated = entries.get(PLANNING_ONLY, False)
    if not isinstance(stated, bool):
        raise TargetValueError(
            target=source, field=PLANNING_ONLY, rule="true or false", value=stated
        )
    return stated


def _build(entries: dict[str, Any], *, source: str) -> Target:
    if _is_for_planning(entries, source=source):
        raise PlanningOnlyError(target=source, executable=names())
    entries = {name: value for name, value in entries.items() if name != PLANNING_ONLY}
    place = f"{KIND} {source!r}"
    required, optional = _names_of(Target)
    optional = tuple(LINK_TABLES if name == "link_kinds" else name for name in optional)
    check_fields(entries, place=place, required=required, optional=optional, error=TargetError)
    if isinstance(entries["handoffs"], list):
        entries["handoffs"] = tuple(cast(list[object], entries["handoffs"]))
    tables: object = entries.pop(LINK_TABLES, [])
    if not isinstance(tables, list):
        raise TargetError(f"{place}: {LINK_TABLES} must be a list of tables, not {tables!r}")
    kinds = tuple(_link_kind(table, place) for table in cast(list[object], tables))
    return Target(**entries, link_kinds=kinds)


def _link_kind(table: object, place: str) -> LinkKind:
    if not isinstance(table, dict):
        raise TargetError(f"{place}: {LINK_TABLES} must be a list of tables, not of {table!r}")
    entries = cast(dict[str, Any], table)
    required, optional = _names_of(LinkKind)
    check_fields(
        entries,
        place=f"{place}, {LINK_TABLES}",
        required=required,
        optional=optional,
        error=TargetError,
    )
    return LinkKind(**entries)


def _names_of(record: type[Target | LinkKind]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the fields of a record without a default, and of those with one."""
    required = tuple(field.name for field in fields(record) if field.default is MISSING)
    optional = tuple(field.name for field in fields(record) if field.default is not MISSING)
    return required, optional
