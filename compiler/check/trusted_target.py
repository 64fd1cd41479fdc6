"""Obligation ``target``: the program is for the machine that its reader trusts.

A program brings its own target, and all else is checked against that. So this is not one of the
obligations that a certificate holds: only the reader knows which machine it must be.
"""

from dataclasses import fields
from typing import cast

from compiler.ir.certificate import Obligation
from compiler.ir.link_kind import LinkKind
from compiler.ir.program import Program
from compiler.ir.target import Target

STATEMENT = "The target that the program was compiled for is the trusted one, in every field."
PROSE = ("description",)
"""Fields that say nothing of the machine."""


def trusted_target(program: Program, trusted: Target) -> Obligation:
    """Compare the target in a program with one from elsewhere."""
    compared = [field.name for field in fields(Target) if field.name not in PROSE]
    return Obligation(
        name="target",
        statement=STATEMENT,
        evidence=(("trusted", trusted.name),),
        violations=tuple(
            f"{name} is {_shown(stated)}, and {_shown(wanted)} in {trusted.name}"
            for name in compared
            for stated, wanted in [(getattr(program.target, name), getattr(trusted, name))]
            if _meant(stated) != _meant(wanted)
        ),
    )


def _meant(value: object) -> object:
    """A field as far as it matters: kinds of links have no order, and their names are prose."""
    if not isinstance(value, tuple):
        return value
    items = cast(tuple[object, ...], value)
    kinds = sorted(str(kind) for kind in items if isinstance(kind, LinkKind))
    return kinds or items


def _shown(value: object) -> str:
    items = cast(tuple[object, ...], value) if isinstance(value, tuple) else (value,)
    return ", ".join(map(str, items)) or "none"
