"""Orientations: beats of rows that are taken for columns, one by one and in agreement."""

from dataclasses import replace

from compiler.ir.buffer import Buffer
from compiler.ir.orientation import Orientation
from compiler.ir.program import Program
from compiler.ir.stage import Load, MatmulTiles, Store
from tests.compiler.programs import changed
from tests.mutation.mutation import breaks
from tests.mutation.parts import last_product, leaf_edges, loads, of_kind, operands_on, store, sums

OTHER = {
    Orientation.ROWS: Orientation.COLUMNS,
    Orientation.COLUMNS: Orientation.ROWS,
}


def turned_page(program: Program, buffer: Buffer) -> Program:
    """``program`` with pages of a buffer that are said to be by the other of rows and columns."""
    page = replace(buffer.page, orientation=OTHER[buffer.page.orientation])
    return changed(program, buffer.name, page=page)


def turned_tensor(program: Program, name: str) -> Program:
    """``program`` with a tensor whose words are the other of rows and columns."""
    return changed(program, name, orientation=OTHER[program.tensor_by_name[name].orientation])


def turned_operand(program: Program, load: int) -> Program:
    """``program`` with one operand turned, in memory and in its pages."""
    stage = loads(program)[load]
    program = turned_tensor(program, stage.kind.tensor)
    return turned_page(program, program.buffer_by_name[stage.outs[0]])


@breaks("layout: Orientation")
def the_left_operand_lies_by_rows_in_memory(program: Program) -> Program | None:
    return turned_tensor(program, loads(program)[0].kind.tensor)


@breaks("layout: Orientation")
def the_right_operand_lies_by_columns_in_memory(program: Program) -> Program | None:
    return turned_tensor(program, loads(program)[-1].kind.tensor)


@breaks("layout: Orientation")
def the_left_operand_passes_by_rows(program: Program) -> Program | None:
    return turned_page(program, program.buffer_by_name[loads(program)[0].outs[0]])


@breaks("layout: Orientation")
def the_right_operand_passes_by_columns(program: Program) -> Program | None:
    return turned_page(program, program.buffer_by_name[loads(program)[-1].outs[0]])


@breaks("layout: Orientation")
def the_left_operand_lies_and_passes_by_rows(program: Program) -> Program | None:
    return turned_operand(program, -2)


@breaks("layout: Orientation")
def the_right_operand_lies_and_passes_by_columns(program: Program) -> Program | None:
    return turned_operand(program, 1)


@breaks("layout: Orientation")
def all_operands_are_transposed(program: Program) -> Program | None:
    """Left ones by rows and right ones by columns, everywhere."""
    for index in range(len(loads(program))):
        program = turned_operand(program, index)
    return program


@breaks("reduced once: takes the right operand first", "layout: ")
def the_operands_of_a_product_are_swapped_and_transposed(program: Program) -> Program | None:
    """Each of them is oriented as the place needs that it is taken for."""
    program = turned_operand(turned_operand(program, -1), -2)
    product = last_product(program)
    return changed(program, product.name, ins=product.ins[::-1])


@breaks("layout: Orientation")
def a_product_makes_columns(program: Program) -> Program | None:
    return turned_page(program, program.buffer_by_name[of_kind(program, MatmulTiles)[0].outs[0]])


@breaks("layout: Orientation")
def the_output_lies_by_columns_in_memory(program: Program) -> Program | None:
    return turned_tensor(program, store(program).kind.tensor)


@breaks("layout: Orientation")
def the_output_comes_and_lies_by_columns(program: Program) -> Program | None:
    stage = store(program)
    program = turned_tensor(program, stage.kind.tensor)
    return turned_page(program, program.buffer_by_name[stage.ins[0]])


@breaks("layout: Orientation")
def all_sums_go_by_columns(program: Program) -> Program | None:
    """From the products to the memories: no two records disagree."""
    for buffer in sums(program):
        program = turned_page(program, buffer)
    for stage in of_kind(program, Store):
        program = turned_tensor(program, stage.kind.tensor)
    return program


@breaks("layout: Orientation")
def a_sum_turns_on_its_way_to_another_chip(program: Program) -> Program | None:
    edges = leaf_edges(program)
    return turned_page(program, program.landing(edges[-1])) if edges else None


@breaks("layout: Orientation")
def everything_goes_by_rows(program: Program) -> Program | None:
    for stage in of_kind(program, Load):
        if program.tensor_by_name[stage.kind.tensor].orientation is Orientation.COLUMNS:
            program = turned_tensor(program, stage.kind.tensor)
            program = turned_page(program, program.buffer_by_name[stage.outs[0]])
    return program


@breaks("layout: Orientation")
def one_chip_alone_has_its_operand_by_rows(program: Program) -> Program | None:
    left, _ = operands_on(program, program.chip_count - 1)
    return turned_tensor(program, left.name) if program.chip_count > 1 else None
