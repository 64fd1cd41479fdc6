"""The built-in targets, and targets from a file of the user's."""

import tomllib
from dataclasses import fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from compiler.errors import TargetError, TargetValueError, UnknownTargetError
from compiler.ir.target import Target


def names() -> tuple[str, ...]:
    """Names of the built-in targets, sorted."""
    entries = files("compiler.targets").iterdir()
    return tuple(sorted(e.name.removesuffix(".toml") for e in entries if e.name.endswith(".toml")))


def get(name: str, **changes: Any) -> Target:
    """The built-in target ``name``, with the given fields changed.

    Raises
    ------
    UnknownTargetError
        If there is no such target.
    TargetValueError
        If a changed field is out of its range or does not exist.
    """
    if name not in names():
        raise UnknownTargetError(name=name, known=names())
    text = files("compiler.targets").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return change(_parse(text, source=f"{name}.toml"), **changes)


def load(path: str | Path, **changes: Any) -> Target:
    """The target that the TOML file at ``path`` describes, with the given fields changed.

    Raises
    ------
    TargetError
        If the file cannot be read or is no TOML.
    TargetValueError
        If a field is missing, unknown or out of its range.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TargetError(f"target file {str(path)!r} cannot be read: {error}") from error
    return change(_parse(text, source=str(path)), **changes)


def change(target: Target, **changes: Any) -> Target:
    """``target`` with the given fields changed."""
    known = {field.name for field in fields(Target)}
    for name, value in changes.items():
        if name not in known:
            rule = f"one of {', '.join(sorted(known))}"
            raise TargetValueError(target=target.name, field=name, rule=rule, value=value)
    return replace(target, **changes)


def _parse(text: str, *, source: str) -> Target:
    try:
        entries = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TargetError(f"target file {source!r} is no TOML: {error}") from error
    known = {field.name for field in fields(Target)}
    for name in sorted(known ^ set(entries)):
        fault = "missing" if name in known else "unknown"
        raise TargetError(
            f"target file {source!r}: field {name!r} is {fault}; the fields are "
            f"{', '.join(sorted(known))}"
        )
    if isinstance(entries["handoffs"], list):
        entries["handoffs"] = tuple(cast(list[object], entries["handoffs"]))
    return Target(**entries)
