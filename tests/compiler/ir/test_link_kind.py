"""Kinds of links are told apart by their figures, and cannot be what no machine has."""

import re
from dataclasses import replace

import pytest

from compiler.errors import TargetValueError
from compiler.ir.edge import Link
from compiler.ir.link_kind import LinkKind
from tests.compiler.programs import TOKEN

CABLE = LinkKind("cable", 8, 40, 2)


@pytest.mark.parametrize(
    ("figures", "text"),
    [
        ((8, 40, 2), "8 bits every 2 cycles, 40 cycles each way"),
        ((1, 1, 1), "1 bit, 1 cycle each way"),
    ],
)
def test_a_link_is_of_a_kind_if_its_figures_are(figures, text):
    kind, link = LinkKind("x", *figures), Link("c1->c0", 1, 0, *figures)
    assert kind.describes(link)
    assert str(kind) == text
    for change in ("width_bits", "latency_cycles", "flit_cycles"):
        assert not kind.describes(replace(link, **{change: getattr(link, change) + 1}))


@pytest.mark.parametrize(
    ("kinds", "text"),
    [
        ([CABLE], "links must be a list of [[links]] tables, not [LinkKind("),
        (3, "links must be a list of [[links]] tables, not 3"),
        ((CABLE, "bus"), "links[1] must be a kind of links, not 'bus'"),
        (
            (replace(CABLE, name=7),),
            "links[0].name must be at most 128 letters, digits and underscores",
        ),
        (
            (replace(CABLE, name=""),),
            "links[0].name must be at most 128 letters, digits and underscores",
        ),
        ((CABLE, CABLE), "links[1].name must be of its own, not 'cable'"),
        (
            (replace(CABLE, width_bits=0),),
            "links[0].width_bits must be an integer of at least 1, not 0",
        ),
        (
            (replace(CABLE, latency_cycles=1.5),),
            "links[0].latency_cycles must be an integer of at least 1, not 1.5",
        ),
        (
            (replace(CABLE, flit_cycles=True),),
            "links[0].flit_cycles must be an integer of at least 1, not True",
        ),
    ],
)
def test_kinds_that_cannot_be_are_refused(kinds, text):
    with pytest.raises(TargetValueError, match=re.escape(f"target 'token-mesh': {text}")):
        replace(TOKEN, link_kinds=kinds)


def test_the_kind_of_compiled_programs_comes_first_and_the_others_by_name():
    bus = LinkKind("bus", 64, 1)
    for kinds in ((CABLE, bus), (bus, CABLE)):
        usual, *others = replace(TOKEN, link_kinds=kinds).links
        assert (usual.width_bits, usual.latency_cycles, usual.flit_cycles) == (256, 8, 1)
        assert others == [bus, CABLE]
