"""Order of tiles: walks that bring together tiles that do not belong together are refused."""

import itertools
import re
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from compiler.errors import ValidationError
from compiler.flow.errors import FlowError
from compiler.ir.buffer import BufferKind
from compiler.ir.edge import Edge
from compiler.ir.graph import LoopOrder
from compiler.ir.program import Program
from compiler.ir.stage import Load, MatmulTiles, Recv, Stage, Store
from compiler.ir.walk import Loop, Walk
from compiler.validate import validate
from compiler.validate.tile_order import check_order
from tests.compiler.programs import TOKEN, changed, compiled, lowered, partitioned, sharded, without
from tests.compiler.validate.mutants import (
    Mutant,
    assert_every_rule_has_a_mutant,
    assert_refused,
    parametrize,
    rules_in,
)

ONE = compiled()
FOUR = sharded(4)


def walked(program: Program, **walks: tuple[tuple[int, int], ...]) -> Program:
    """``program`` with other walks: ``stage=((count, stride), ...)``, ``__`` standing for a dot."""
    for stage, loops in walks.items():
        name = stage.replace("__", ".")
        walk = Walk(tuple(Loop(count, stride) for count, stride in loops))
        kind = replace(program.stage_by_name[name].kind, walk=walk)
        program = changed(program, name, kind=kind)
    return program


def stated(program: Program, loops: str) -> Program:
    """``program`` with another loop order in its graph."""
    (product,) = program.graph.operations
    operation = replace(product, order=LoopOrder(loops))
    return replace(program, graph=replace(program.graph, operations=(operation,)))


def order(what: str, stage: str, text: str, program: Program) -> Mutant:
    rule = "ContractionOrder" if stage.endswith("matmul") else "ResultOrder"
    return Mutant(what, program, rule, stage, text)


def swapped_operands() -> Program:
    return changed(ONE, "matmul", ins=("b_pages", "a_pages"))


def two_products() -> Program:
    """The product of A and B is multiplied by B once more."""
    program = lowered(16, 16, 16)
    again = replace(program.buffer_by_name["b_pages"], name="b_again")
    powers = replace(program.buffer_by_name["partial"], name="powers")
    program = changed(program, "store_c", ins=("powers",))
    program = changed(program, "matmul->store_c", destination="power")
    return replace(
        program,
        stages=(
            *program.stages,
            Stage("load_again", Load("b"), outs=("b_again",)),
            Stage("power", MatmulTiles(), ins=("partial", "b_again"), outs=("powers",)),
        ),
        buffers=(*program.buffers, again, powers),
        edges=(
            *program.edges,
            Edge("load_again->power", "load_again", "b_again", "power"),
            Edge("power->store_c", "power", "powers", "store_c"),
        ),
    )


def operand_stored() -> Program:
    """No product: what is loaded is stored."""
    program = lowered()
    drop = ("load_b", "matmul", "b_pages", "partial", "load_b->matmul", "matmul->store_c")
    program = changed(without(program, *drop), "store_c", ins=("a_pages",))
    return changed(program, "load_a->matmul", destination="store_c")


def operand_received() -> Program:
    """Chip 1's slice of B stands on chip 0 and is sent over."""
    program = partitioned(2)
    home = program.stage_by_name["c0.load_b"].site
    landing = replace(program.buffer_by_name["c1.b_pages"], name="c1.landed")
    program = changed(program, "c1.b", chip=0)
    program = changed(program, "c1.load_b", site=home, engine=None)
    program = changed(program, "c1.b_pages", kind=BufferKind.INTERM)
    program = changed(program, "c1.load_b->c1.matmul", destination="c1.recv", handoff=None)
    program = changed(program, "c1.matmul", ins=("c1.a_pages", "c1.landed"))
    site = program.stage_by_name["c1.matmul"].site
    return replace(
        program,
        stages=(*program.stages, Stage("c1.recv", Recv(), outs=("c1.landed",), site=site)),
        buffers=(*program.buffers, landing),
        edges=(*program.edges, Edge("c1.recv->c1.matmul", "c1.recv", "c1.landed", "c1.matmul")),
    )


def unstored() -> Program:
    return replace(ONE, stages=(), buffers=(), edges=())


def stored_again() -> Program:
    again = replace(ONE.stage_by_name["store_c"], name="again")
    return replace(ONE, stages=(*ONE.stages, again))


def stored(tensor: str) -> Program:
    return changed(lowered(), "store_c", kind=Store(tensor))


COLUMNS_FIRST = {
    "load_a": ((2, 0), (2, 8), (8, 1)),
    "load_b": ((2, 1), (2, 0), (8, 2)),
    "store_c": ((2, 1), (2, 2)),
}

REFUSED = (
    order(
        "one block again and again",
        "matmul",
        "multiplies block 0 of 'a' along the contraction with block 1 of 'b', at page 1",
        walked(ONE, load_a=((2, 8), (2, 0), (8, 0))),
    ),
    order(
        "half of the blocks twice",
        "matmul",
        "walks 2x+8 2x+0 2x+0 4x+1 over 'a' and 2x+0 2x+1 2x+0 4x+2 over 'b'; that does not add "
        "each of the 8 blocks of the contraction once to each result tile",
        walked(
            ONE,
            load_a=((2, 8), (2, 0), (2, 0), (4, 1)),
            load_b=((2, 0), (2, 1), (2, 0), (4, 2)),
        ),
    ),
    order(
        "blocks in two different orders",
        "matmul",
        "multiplies block 2 of 'a' along the contraction with block 1 of 'b', at page 1",
        walked(ONE, load_a=((2, 8), (2, 0), (2, 1), (4, 2))),
    ),
    order(
        "rows of A with rows of B",
        "matmul",
        "multiplies block 1 of 'a' along the contraction with block 0 of 'b', at page 1",
        walked(ONE, load_b=((2, 0), (2, 8), (8, 1))),
    ),
    order(
        "the contraction outermost",
        "matmul",
        "mixes tiles of 'a' of different results in one sum",
        walked(ONE, load_a=((8, 1), (2, 8), (2, 0)), load_b=((8, 2), (2, 0), (2, 1))),
    ),
    order(
        "loops that do not nest around the contraction",
        "matmul",
        "multiplies block 0 of 'a' along the contraction with block 1 of 'b', at page 1",
        walked(ONE, load_a=((32, 0),)),
    ),
    order(
        "one chip's product walks otherwise",
        "c3.matmul",
        "multiplies block 6 of 'a' along the contraction with block 7 of 'b', at page 1",
        walked(FOUR, c3__load_a=((2, 2), (2, 0), (2, 0))),
    ),
    order(
        "a store in another order than the product",
        "store_c",
        "takes page 1 for tile 1 of the output and writes it to the place of tile 2",
        walked(ONE, store_c=COLUMNS_FIRST["store_c"]),
    ),
    order(
        "loads in another order than the store",
        "store_c",
        "takes page 1 for tile 2 of the output and writes it to the place of tile 1",
        walked(ONE, load_a=COLUMNS_FIRST["load_a"], load_b=COLUMNS_FIRST["load_b"]),
    ),
    order(
        "one chip makes its results in another order",
        "c0.fold",
        "takes page 1 for tile 1 of the output and for tile 2",
        walked(
            FOUR,
            c1__load_a=((2, 0), (2, 2), (2, 1)),
            c1__load_b=((2, 1), (2, 0), (2, 2)),
        ),
    ),
    Mutant(
        "columns first where rows are stated to be",
        walked(ONE, **COLUMNS_FIRST),
        "LoopOrder",
        "store_c",
        "store 'store_c' walks 2x+1 2x+2, which is not the order mn of 2 x 2 tiles that is stated",
    ),
    Mutant("an empty program", unstored(), "OutputStored", "c", "it stores nothing"),
)

BY_ITSELF = (
    Mutant(
        "operands are swapped",
        swapped_operands(),
        "ProductOperand",
        "matmul",
        "multiplies 'b' by 'a'; the program claims to multiply 'a' by 'b'",
    ),
    Mutant(
        "an operand is multiplied by itself",
        changed(lowered(16, 16, 16), "load_b", kind=Load("a")),
        "ProductOperand",
        "matmul",
        "multiplies 'a' by 'a'",
    ),
    Mutant("a product of a product", two_products(), "ProductOperand", "power", "a result by 'b'"),
    Mutant(
        "an operand is stored",
        operand_stored(),
        "OperandPassedOn",
        "store_c",
        "takes tiles of 'a' as if they were sums, but only tiles of a product can be received",
    ),
    Mutant(
        "an operand is received",
        operand_received(),
        "OperandPassedOn",
        "c1.recv",
        "Recv stage 'c1.recv' takes tiles of 'b'",
    ),
    Mutant("a result in an operand's place", stored("a"), "OutputStored", "c", "it stores 'a'"),
    Mutant(
        "a part of the output is stored twice",
        stored_again(),
        "OutputStored",
        "c",
        "the parts are 'c', and it stores 'c', 'c'",
    ),
)
"""Of these programs, other rules say something before the order of tiles is looked at."""

MUTANTS = (*REFUSED, *BY_ITSELF)


@parametrize(REFUSED)
def test_tiles_that_do_not_belong_together_are_refused(mutant):
    assert_refused(mutant)


@parametrize(BY_ITSELF)
def test_the_order_of_tiles_is_refused_by_itself(mutant):
    with pytest.raises((ValidationError, FlowError), match=re.escape(mutant.text)) as refusal:
        check_order(mutant.program)
    assert (refusal.value.rule, refusal.value.subject) == (mutant.rule, mutant.subject)


def test_every_rule_of_order_has_a_mutant():
    assert_every_rule_has_a_mutant("tile_order", MUTANTS)
    assert rules_in("../flow/operands") <= {mutant.rule for mutant in MUTANTS}


@pytest.mark.parametrize(
    "walks",
    [
        COLUMNS_FIRST,
        {"load_a": ((2, 8), (2, 0), (4, 1), (2, 4)), "load_b": ((2, 0), (2, 1), (4, 2), (2, 8))},
        {"load_a": ((2, 8), (2, 0), (2, 4), (4, 1)), "load_b": ((2, 0), (2, 1), (8, 2))},
        {"store_c": ((4, 1),)},
    ],
    ids=["columns first", "even blocks first", "loops split", "loops joined"],
)
def test_any_other_nest_of_the_same_order_is_accepted(walks):
    loops = "nm" if walks is COLUMNS_FIRST else "mn"
    validate(stated(walked(ONE, **walks), loops), TOKEN)


def nests(pages: int) -> list[tuple[tuple[int, int], ...]]:
    """All nests of loops of 2, 4 or 8 steps and strides up to 4 that visit so many pages."""
    if pages == 1:
        return [()]
    loops = itertools.product((2, 4, 8), (0, 1, 2, 4))
    return [
        (loop, *rest) for loop in loops if pages % loop[0] == 0 for rest in nests(pages // loop[0])
    ]


def pages_of(nest: tuple[tuple[int, int], ...]) -> list[int]:
    steps = itertools.product(*(range(count) for count, _ in nest))
    return [sum(i * stride for i, (_, stride) in zip(step, nest, strict=True)) for step in steps]


def test_of_all_walks_those_are_accepted_that_add_each_block_once_to_each_tile():
    """On 2 x 2 x 2 tiles, against the plainest meaning: what is multiplied at which step."""
    wanted = {(2 * m + n, 2 * m + k, 2 * k + n) for m, n, k in np.ndindex(2, 2, 2)}
    operands = [nest for nest in nests(8) if max(pages_of(nest)) < 4]
    outputs = [nest for nest in nests(4) if sorted(pages_of(nest)) == [0, 1, 2, 3]]
    small = compiled(16, 16, 16)
    verdicts = []
    for a, b, c in itertools.product(operands, operands, outputs):
        tiles = np.repeat(pages_of(c), 2).tolist()
        added = set(zip(tiles, pages_of(a), pages_of(b), strict=True))
        verdicts.append(added == wanted)
        program = walked(small, load_a=a, load_b=b, store_c=c)
        program = stated(program, "mn" if pages_of(c) == [0, 1, 2, 3] else "nm")
        with nullcontext() if verdicts[-1] else pytest.raises(ValidationError, match="Order: "):
            validate(program, TOKEN)
    assert 0 < verdicts.count(True) < verdicts.count(False)


def test_order_is_silent_where_nothing_is_chosen():
    check_order(lowered())
    check_order(changed(FOUR, "c2.load_b", kind=Load("c2.b")))
