"""The reduction: what is no sum of every contribution exactly once is refused."""

from dataclasses import replace

import pytest

from compiler.ir.body import Add, Literal, Max, Operand, left_fold
from compiler.ir.buffer import BufferKind
from compiler.ir.distribution import Partial, Replicated, Sharded
from compiler.ir.edge import Edge, ValidReady
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Load, Map, Site, Stage
from compiler.ir.tensor import SliceOf
from compiler.validate import validate
from tests.compiler.programs import TOKEN, changed, compiled, names_on_chip, sharded, without
from tests.compiler.validate.mutants import (
    Mutant,
    assert_every_rule_has_a_mutant,
    assert_refused,
    parametrize,
)

TWO = sharded(2)
FOUR = sharded(4)


def slice_claimed(program: Program, chip: int, index: int, count: int) -> Program:
    """Chip ``chip`` says everywhere that it holds slice ``index`` of ``count``."""
    for operand in ("a", "b"):
        tensor = program.tensor_by_name[f"c{chip}.{operand}"]
        assert tensor.slice_of is not None
        piece = replace(tensor.slice_of, index=index, count=count)
        program = changed(program, tensor.name, slice_of=piece)
        sliced = Sharded("k", index, count)
        program = changed(program, f"c{chip}.{operand}_pages", distribution=sliced)
    return changed(program, f"c{chip}.partial", distribution=Partial((index,), count))


def arrives_as(program: Program, landing: str, *contributions: int, count: int = 4) -> Program:
    return changed(program, landing, distribution=Partial(contributions, count))


def folds_whole_products() -> Program:
    """Both chips load all of A and B, and the two equal products are added."""
    program = replace(TWO, tensors=compiled(k=32).tensors)
    for chip in (0, 1):
        for operand in ("a", "b"):
            program = changed(program, f"c{chip}.load_{operand}", kind=Load(operand))
            program = changed(program, f"c{chip}.{operand}_pages", distribution=Replicated())
        program = changed(program, f"c{chip}.partial", distribution=Replicated())
    return changed(program, "c0.landing_0", distribution=Replicated())


def stores_an_operand() -> Program:
    """Chip 0 stores its slice of A, and nothing else happens."""
    keep = {"c0.load_a", "c0.store_c", "c0.a_pages", "c0.load_a->c0.matmul", "c0.a", "c0.b", "c"}
    records = (TWO.tensors, TWO.stages, TWO.buffers, TWO.edges, TWO.links or ())
    drop = {record.name for group in records for record in group} - keep
    program = changed(without(TWO, *drop), "c0.store_c", ins=("c0.a_pages",))
    return changed(program, "c0.load_a->c0.matmul", destination="c0.store_c")


def forgets_chip_3() -> Program:
    """Chip 2 sends its own partial as it is, and chip 3 does not exist."""
    program = without(FOUR, *names_on_chip(FOUR, 3), "c2.recv_0", "c2.landing_0", "c2.fold")
    program = without(program, "c2.subtotal", "c2.matmul->c2.fold", "c2.recv_0->c2.fold")
    kind = FOUR.buffer_by_name["c2.subtotal"].kind
    program = changed(program, "c2.partial", kind=kind)
    program = changed(program, "c2.fold->c0.recv_1", source="c2.matmul", buffer="c2.partial")
    return arrives_as(program, "c0.landing_1", 2)


def maps_before_the_fold() -> Program:
    """Chip 1 maps what it sends: the largest of zero and a partial sum."""
    stage = Stage(
        "c1.map", Map(Max(Operand(0), Literal(0))), ("c1.partial",), ("c1.mapped",), Site(1)
    )
    mapped = replace(TWO.buffer_by_name["c1.partial"], name="c1.mapped")
    program = replace(
        TWO,
        memory=(),
        stages=(*TWO.stages, stage),
        buffers=(*TWO.buffers, mapped),
        edges=(*TWO.edges, Edge("c1.map->c0.recv_0", "c1.map", "c1.mapped", "c0.recv_0")),
    )
    program = changed(program, "c1.map->c0.recv_0", route=("c1->c0",))
    program = changed(program, "c1.partial", kind=BufferKind.FIFO)
    return changed(
        program, "c1.matmul->c0.recv_0", destination="c1.map", route=(), handoff=ValidReady()
    )


MUTANTS = (
    Mutant(
        "an operand is sliced along a result axis",
        changed(FOUR, "c1.a", slice_of=SliceOf("a", "rows", 1, 4)),
        "SliceAxis",
        "c1.a",
        "is a slice of 'a' along its rows, which is not the contraction axis",
    ),
    Mutant(
        "a slice beyond the last",
        slice_claimed(FOUR, 1, 4, 4),
        "SliceIndex",
        "c1.a",
        "is slice 4 of 4 of 'a', which does not exist",
    ),
    Mutant(
        "a slice before the first",
        slice_claimed(FOUR, 1, -1, 4),
        "SliceIndex",
        "c1.a",
        "is slice -1 of 4",
    ),
    Mutant(
        "the operands hold two different slices",
        changed(
            changed(FOUR, "c1.b", slice_of=SliceOf("b", "rows", 2, 4)),
            "c1.b_pages",
            distribution=Sharded("k", 2, 4),
        ),
        "SliceMismatch",
        "c1.matmul",
        "multiplies slice 1 of 4 along k of A with slice 2 of 4 along k of B",
    ),
    Mutant(
        "one operand is whole",
        changed(changed(TWO, "c1.b", slice_of=None), "c1.b_pages", distribution=Replicated()),
        "SliceMismatch",
        "c1.matmul",
        "multiplies slice 1 of 2 along k of A with whole of B",
    ),
    Mutant(
        "a partial sum is declared whole",
        changed(FOUR, "c1.partial", distribution=Replicated()),
        "DistributionMismatch",
        "c1.partial",
        "is declared as whole, but 'c1.matmul' makes it a partial sum of {1} of 4",
    ),
    Mutant(
        "a landing buffer is declared to hold more than was sent",
        arrives_as(FOUR, "c0.landing_0", 1, 2),
        "DistributionMismatch",
        "c0.landing_0",
        "is declared as partial sum of {1,2} of 4",
    ),
    Mutant(
        "whole products are added",
        folds_whole_products(),
        "FoldOfWhole",
        "c0.fold",
        "adds a whole, not a partial sum",
    ),
    Mutant(
        "partial sums of two products are added",
        arrives_as(slice_claimed(FOUR, 1, 1, 8), "c0.landing_0", 1, count=8),
        "FoldOfStrangers",
        "c0.fold",
        "adds partial sums of [4, 8] contributions",
    ),
    Mutant(
        "one slice arrives from two chips",
        changed(
            arrives_as(slice_claimed(FOUR, 3, 1, 4), "c2.landing_0", 1),
            "c2.subtotal",
            distribution=Partial((1, 2), 4),
        ),
        "DistributionMismatch",
        "c0.landing_1",
        "makes it a partial sum of {1,2} of 4",
    ),
    Mutant(
        "one slice arrives from two chips, and every buffer says so",
        arrives_as(
            changed(
                arrives_as(slice_claimed(FOUR, 3, 1, 4), "c2.landing_0", 1),
                "c2.subtotal",
                distribution=Partial((1, 2), 4),
            ),
            "c0.landing_1",
            1,
            2,
        ),
        "ContributionRepeated",
        "c0.fold",
        "adds the partial sum of slice 1 2 times",
    ),
    Mutant(
        "the maximum of partial sums",
        changed(TWO, "c0.fold", kind=Fold(Max(Operand(0), Operand(1)))),
        "MaxOfPartials",
        "c0.fold",
        "takes the maximum of partial sums, which is no sum",
    ),
    Mutant(
        "a maximum deep inside of a sum",
        changed(FOUR, "c0.fold", kind=Fold(Add(Operand(0), Max(Operand(1), Operand(2))))),
        "MaxOfPartials",
        "c0.fold",
        "takes the maximum",
    ),
    Mutant(
        "a chip of the tree is forgotten, and the sum still declared whole",
        forgets_chip_3(),
        "DistributionMismatch",
        "c0.reduced",
        "is declared as whole, but 'c0.fold' makes it a partial sum of {0,1,2} of 4",
    ),
    Mutant(
        "a chip of the tree is forgotten",
        arrives_as(forgets_chip_3(), "c0.reduced", 0, 1, 2),
        "PartialStored",
        "c0.store_c",
        "would store a partial sum of {0,1,2} of 4: the contributions of slices 3 are missing",
    ),
    Mutant(
        "a literal is added to the sum",
        changed(TWO, "c0.fold", kind=Fold(Add(left_fold(2), Literal(1)))),
        "LiteralInFold",
        "c0.fold",
        "adds the literal 1, which is part of no product",
    ),
    Mutant(
        "a chip maps its own partial sum",
        maps_before_the_fold(),
        "MapOfPartial",
        "c1.map",
        "applies max(op0, 0) to a partial sum of {1} of 2; it must come after the reduction",
    ),
    Mutant(
        "a slice of an operand is stored",
        stores_an_operand(),
        "PartialStored",
        "c0.store_c",
        "would store a slice 0 of 2 along k",
    ),
)


@parametrize(MUTANTS)
def test_what_is_not_the_whole_sum_is_refused(mutant):
    assert_refused(mutant)


def test_every_rule_of_reduction_has_a_mutant():
    assert_every_rule_has_a_mutant("reduction", MUTANTS)


@pytest.mark.parametrize("order", [(2, 0, 1), (1, 2, 0)])
def test_partial_sums_may_be_added_in_any_order(order):
    first, second, third = map(Operand, order)
    fold = Fold(Add(first, Add(second, third)))
    validate(changed(FOUR, "c0.fold", kind=fold), TOKEN)
