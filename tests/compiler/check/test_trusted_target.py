"""A program's target is the trusted one if no figure differs, in whatever order it lists them."""

from dataclasses import replace

import pytest

from compiler.check.trusted_target import trusted_target
from compiler.targets import LinkKind
from tests.compiler.programs import TOKEN, compiled

CABLE, BUS = LinkKind("cable", 8, 40, 2), LinkKind("bus", 64, 1)
LISTED = replace(TOKEN, handoffs=("Token", "ValidReady", "Barrier"), link_kinds=(CABLE, BUS))


def test_the_order_of_lists_says_nothing():
    program = replace(compiled(), target=LISTED)
    other = replace(
        LISTED, handoffs=LISTED.handoffs[::-1], link_kinds=(BUS, CABLE), description="of mine"
    )
    assert trusted_target(program, other).holds


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"link_kinds": (BUS,)},
            "link_kinds is 8 bits every 2 cycles, 40 cycles each way, 64 bits, 1 cycle each way, "
            "and 64 bits, 1 cycle each way in token-mesh",
        ),
        ({"link_kinds": ()}, ", and none in token-mesh"),
        (
            {"handoffs": ("Token", "ValidReady")},
            "handoffs is Token, ValidReady, Barrier, and Token, ValidReady in token-mesh",
        ),
        ({"link_latency_cycles": 9}, "link_latency_cycles is 8, and 9 in token-mesh"),
        ({"name": "mine"}, "name is token-mesh, and mine in mine"),
        ({"tile": 4}, "tile is 8, and 4 in token-mesh"),
        ({"memory_bytes": 2**30}, "memory_bytes is 16777216, and 1073741824 in token-mesh"),
    ],
)
def test_what_differs_is_named(changes, text):
    obligation = trusted_target(replace(compiled(), target=LISTED), replace(LISTED, **changes))
    (violation,) = obligation.violations
    assert text in violation
