"""Fall-through: buffers whose fillers wait for room by pages are refused, all others are taken."""

from dataclasses import replace

import pytest

from compiler.check import check
from compiler.ir.stage import Load, MatmulTiles, Recv, Store
from compiler.validate import validate
from tests.compiler.programs import changed, sharded, spread
from tests.compiler.random_programs import shared_links
from tests.compiler.validate.mutants import (
    Mutant,
    assert_every_rule_has_a_mutant,
    assert_refused,
    parametrize,
)

FOUR = sharded(4)


def fallen(buffer: str, who: str) -> Mutant:
    text = f"buffer {buffer!r} must not fall through: {who} fills it, which is none of Fold, Map, "
    program = changed(FOUR, buffer, fall_through=True)
    return Mutant(f"{buffer} falls through", program, "FallThrough", buffer, text)


MUTANTS = (
    fallen("c1.a_pages", "Load stage 'c1.load_a'"),
    fallen("c1.partial", "MatmulTiles stage 'c1.matmul'"),
    fallen("c0.landing_0", "Recv stage 'c0.recv_0'"),
)


@parametrize(MUTANTS)
def test_a_buffer_that_is_filled_by_pages_does_not_fall_through(mutant):
    assert_refused(mutant)


def test_every_rule_of_fall_through_has_a_mutant():
    assert_every_rule_has_a_mutant("fall_through", MUTANTS)


@parametrize(MUTANTS)
def test_no_chip_can_be_built_with_such_a_buffer(mutant):
    (said,) = (o for o in check(mutant.program).violated if o.name == "capacity")
    assert said.violations[0].startswith(f"FallThrough: buffer {mutant.subject!r} must not")


@pytest.mark.parametrize("program", [FOUR, shared_links(1)], ids=["folds", "switches"])
def test_all_others_may(program):
    filled = {
        name
        for stage in program.stages
        if not isinstance(stage.kind, Load | MatmulTiles | Recv | Store)
        for name in stage.outs
    }
    assert filled
    buffers = (replace(b, fall_through=b.name in filled) for b in program.buffers)
    validate(replace(program, buffers=tuple(buffers)), program.target)


def test_no_pass_lets_a_buffer_fall_through():
    for program in (FOUR, spread(mesh=FOUR.mesh, result="all"), shared_links(1)):
        assert not any(buffer.fall_through for buffer in program.buffers)
