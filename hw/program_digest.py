"""What a program is known by where there is no room for all of it: on a board."""

import json
from dataclasses import replace
from hashlib import sha256
from typing import Any

from compiler.ir.init import External
from compiler.ir.program import Program
from compiler.ir.tensor import ValueRange
from compiler.serialize import to_json

DIGEST_BITS = 64
WITHOUT = ("name", "target", "schedule", "certificate")
"""What no chip is made from, and no host goes by: how a program is called, which machine it was
compiled for, how long it should take, and what was found of it."""
CHOOSER = "by"
"""The field of a decision that says who made it."""
ANY = ValueRange(0, 0)
"""In the place of every range."""


def program_digest(program: Program) -> int:
    """A number that is the same for the same chips and the same places of data on them.

    It is the first 64 bits of the SHA-256 of the program's JSON, with its keys in order and without
    spaces; and without its name, target, schedule and certificate, without who chose what, and
    without the values of its tensors and their range, since a host writes them. Two programs of one
    shape differ in it if they differ in anything else: in the order of their blocks, in who holds
    which slice, in the depth of a buffer. The order of records is nothing that programs differ in.
    """
    program = program.canonical
    blank = replace(
        program,
        tensors=tuple(
            replace(tensor, init=External(), value_range=ANY) for tensor in program.tensors
        ),
        certificate=None,
    )
    document = json.loads(to_json(blank))["program"]
    for key in WITHOUT:
        del document[key]
    text = json.dumps(_without_choosers(document), sort_keys=True, separators=(",", ":"))
    return int.from_bytes(sha256(text.encode()).digest()[: DIGEST_BITS // 8], "big")


def _without_choosers(document: Any) -> Any:
    """A document without who made which decision."""
    match document:
        case dict():
            return {
                key: _without_choosers(value) for key, value in document.items() if key != CHOOSER
            }
        case list():
            return [_without_choosers(value) for value in document]
        case _:
            return document
