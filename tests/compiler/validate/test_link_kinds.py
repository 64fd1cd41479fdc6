"""Kinds of links: every link of a program is of a kind that the machine has."""

from dataclasses import replace

import pytest

from compiler.check import check
from compiler.ir.program import Program
from compiler.targets import LinkKind
from compiler.validate import validate
from tests.compiler.programs import TOKEN, changed, sharded
from tests.compiler.validate.mutants import (
    Mutant,
    assert_every_rule_has_a_mutant,
    assert_refused,
    parametrize,
)

FOUR = sharded(4)
CABLES = replace(TOKEN, link_kinds=(LinkKind("cable", 8, 40, 2), LinkKind("bus", 512, 1)))


def linked(text: str, *, target=TOKEN, **changes: int) -> Mutant:
    program = replace(changed(FOUR, "c2->c0", **changes), target=target)
    return Mutant(f"{changes} on {target.links}", program, "LinkKind", "c2->c0", text, target)


MUTANTS = (
    linked(
        "link 'c2->c0' is of 8000 bits, 1 cycle each way, but target 'token-mesh' has links of "
        "256 bits, 8 cycles each way",
        width_bits=8_000,
        latency_cycles=1,
    ),
    linked("is of 257 bits, 8 cycles each way", width_bits=257),
    linked("is of 128 bits, 8 cycles each way", width_bits=128),
    linked("is of 256 bits, 7 cycles each way", latency_cycles=7),
    linked("is of 256 bits, 9 cycles each way", latency_cycles=9),
    linked("is of 256 bits every 2 cycles, 8 cycles each way", flit_cycles=2),
    linked(
        "has links of 256 bits, 8 cycles each way; or of 512 bits, 1 cycle each way; or of 8 bits "
        "every 2 cycles, 40 cycles each way",
        target=CABLES,
        width_bits=8,
        latency_cycles=1,
        flit_cycles=2,
    ),
)


@parametrize(MUTANTS)
def test_a_link_that_the_target_does_not_have_is_refused(mutant):
    assert_refused(mutant)
    capacity = next(o for o in check(mutant.program).violated if o.name == "capacity")
    assert mutant.text in capacity.violations[0]


def test_every_rule_of_link_kinds_has_a_mutant():
    assert_every_rule_has_a_mutant("link_kinds", MUTANTS)


@pytest.mark.parametrize("figures", [(8, 40, 2), (512, 1, 1), (256, 8, 1)])
def test_a_link_of_any_kind_of_the_target_is_accepted(figures):
    width_bits, latency_cycles, flit_cycles = figures
    program: Program = changed(
        FOUR,
        "c2->c0",
        width_bits=width_bits,
        latency_cycles=latency_cycles,
        flit_cycles=flit_cycles,
    )
    validate(program, CABLES)
