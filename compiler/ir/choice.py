"""Who made a decision that stands in a program."""

from enum import StrEnum


class Chooser(StrEnum):
    """Passes fill in what is missing; whatever else stands in a program was somebody's choice."""

    HAND = "hand"
    COMPILER = "compiler"


UNLESS_DEFAULT = {"saved": "unless default"}
"""Metadata of a field that a file leaves out where it has its default.

The field ``by`` of a decision is one: a record that is written by hand need not say. It is part of
what is known of a decision, and no part of what it says, so decisions are equal whoever made them.
"""
