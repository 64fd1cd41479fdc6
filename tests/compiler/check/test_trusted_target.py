"""A program is for the machine that its reader trusts, or the fields that differ are named."""

from dataclasses import replace

import pytest

from compiler.check.trusted_target import trusted_target
from compiler.ir.link_kind import LinkKind
from tests.compiler.programs import TOKEN, compiled

ONE = compiled()
NEAR, FAR = LinkKind("near", 8, 1), LinkKind("far", 8, 40)
JOINED = replace(TOKEN, link_kinds=(NEAR, FAR))


@pytest.mark.parametrize(
    ("stated", "trusted"),
    [
        (TOKEN, TOKEN),
        (TOKEN, replace(TOKEN, description="in other words")),
        (JOINED, replace(JOINED, link_kinds=(FAR, replace(NEAR, name="beside")))),
    ],
)
def test_what_says_nothing_of_the_machine_may_differ(stated, trusted):
    assert trusted_target(replace(ONE, target=stated), trusted).holds


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"name": "mine"}, "name is mine, and token-mesh in token-mesh"),
        ({"tile": 4}, "tile is 4, and 8 in token-mesh"),
        ({"memory_bytes": 2**30}, "memory_bytes is 1073741824, and 16777216 in token-mesh"),
        (
            {"handoffs": ("Token", "ValidReady")},
            "handoffs is Token, ValidReady, and ValidReady, Token in token-mesh",
        ),
        (
            {"link_kinds": (FAR,)},
            "link_kinds is 8 bits, 40 cycles each way, and none in token-mesh",
        ),
    ],
)
def test_every_field_that_differs_is_named(changes, why):
    program = replace(ONE, target=replace(TOKEN, **changes))
    assert trusted_target(program, TOKEN).violations == (why,)
