"""Orientation: a beat that is taken for something else than it is is refused."""

from dataclasses import replace

import pytest

from compiler.ir.mesh import Mesh
from compiler.ir.orientation import Orientation
from compiler.ir.program import Program
from compiler.ir.stage import Load, MatmulTiles
from compiler.validate import validate
from tests.compiler.programs import TOKEN, changed, compiled, sharded, spread
from tests.compiler.validate.mutants import (
    Mutant,
    assert_every_rule_has_a_mutant,
    assert_refused,
    parametrize,
)

ONE, FOUR = compiled(), sharded(4)
ALL = spread(mesh=Mesh(tp=3), k=48, result="all")
ROWS, COLUMNS = Orientation.ROWS, Orientation.COLUMNS


def paged(program: Program, buffer: str, orientation: Orientation) -> Program:
    page = replace(program.buffer_by_name[buffer].page, orientation=orientation)
    return changed(program, buffer, page=page)


def turned(buffer: str, orientation: Orientation, text: str, program: Program = FOUR) -> Mutant:
    what = f"{buffer} by {orientation}"
    return Mutant(what, paged(program, buffer, orientation), "Orientation", buffer, text)


def both_by(program: Program, tensor: str, buffer: str, orientation: Orientation) -> Program:
    return paged(changed(program, tensor, orientation=orientation), buffer, orientation)


MUTANTS = (
    turned(
        "c1.a_pages",
        ROWS,
        "holds tiles by rows, but Load stage 'c1.load_a' reads them by columns",
    ),
    turned("c1.b_pages", COLUMNS, "but Load stage 'c1.load_b' reads them by rows"),
    turned("c1.partial", COLUMNS, "but MatmulTiles stage 'c1.matmul' makes them by rows"),
    turned("c0.landing_0", COLUMNS, "but Recv stage 'c0.recv_0' is given them by rows"),
    turned("c0.reduced", COLUMNS, "but Fold stage 'c0.fold' is given them by rows"),
    turned("c0.whole_0", COLUMNS, "but Copy stage 'c0.copy' is given them by rows", ALL),
    Mutant(
        "an operand that stands by rows is read by columns",
        changed(ONE, "a", orientation=ROWS),
        "Orientation",
        "a_pages",
        "holds tiles by columns, but Load stage 'load_a' reads them by rows",
    ),
    Mutant(
        "a product is given rows on its left",
        both_by(ONE, "a", "a_pages", ROWS),
        "Orientation",
        "a_pages",
        "holds tiles by rows, but MatmulTiles stage 'matmul' takes them by columns",
    ),
    Mutant(
        "a product is given columns on its right",
        both_by(ONE, "b", "b_pages", COLUMNS),
        "Orientation",
        "b_pages",
        "holds tiles by columns, but MatmulTiles stage 'matmul' takes them by rows",
    ),
    Mutant(
        "an output is to stand by columns",
        changed(ONE, "c", orientation=COLUMNS),
        "Orientation",
        "partial",
        "holds tiles by rows, but Store stage 'store_c' writes them by columns",
    ),
)


@parametrize(MUTANTS)
def test_a_beat_that_is_taken_for_something_else_is_refused(mutant):
    assert_refused(mutant)


def test_every_rule_of_orientation_has_a_mutant():
    assert_every_rule_has_a_mutant("orientation", MUTANTS)


@pytest.mark.parametrize("program", [ONE, FOUR, ALL], ids=lambda p: p.name)
def test_products_of_compiled_programs_take_columns_and_rows(program):
    validate(program, TOKEN)
    pages = {buffer.name: buffer.page.orientation for buffer in program.buffers}
    tensors = {tensor.name: tensor.orientation for tensor in program.tensors}
    for stage in program.stages:
        if isinstance(stage.kind, MatmulTiles):
            assert [pages[name] for name in stage.ins] == [COLUMNS, ROWS]
        if isinstance(stage.kind, Load):
            assert tensors[stage.kind.tensor] is pages[stage.outs[0]]
