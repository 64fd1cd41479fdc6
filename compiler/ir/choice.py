"""Who made a decision that stands in a program."""

from dataclasses import Field, field
from enum import StrEnum
from typing import Any


class Chooser(StrEnum):
    """Passes fill in what is missing; whatever else stands in a program was somebody's choice."""

    HAND = "hand"
    COMPILER = "compiler"


def chosen_by() -> Any:
    """The field ``by`` of a decision: part of what is known of it, and no part of what it says.

    Decisions are equal whoever made them. A record that is written by hand need not say.
    """
    who: Field[Chooser] = field(
        default=Chooser.HAND, compare=False, kw_only=True, metadata={"saved": "unless default"}
    )
    return who
