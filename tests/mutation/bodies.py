"""What products, folds and maps compute."""

from dataclasses import replace

from compiler.ir.body import Add, Body, Literal, Max, Operand, left_fold
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Map, Stage
from tests.compiler.programs import changed, without
from tests.mutation.certified import completed
from tests.mutation.mutation import breaks
from tests.mutation.parts import (
    feeding,
    home_fold,
    last_product,
    leaf_edges,
    of_kind,
    product_of,
    store,
    with_map,
)

RECTIFIER = Max(Operand(0), Literal(0))


def folding(program: Program, fold: Stage, body: Body) -> Program:
    return changed(program, fold.name, kind=Fold(body))


def map_of(program: Program) -> Stage | None:
    return next(iter(of_kind(program, Map)), None)


@breaks("reduced once: takes the right operand first", "layout: ")
def the_operands_of_a_product_are_swapped(program: Program) -> Program | None:
    product = last_product(program)
    return changed(program, product.name, ins=product.ins[::-1])


@breaks("well formed: FoldOperandUnused")
def a_fold_leaves_an_operand_out(program: Program) -> Program | None:
    fold = home_fold(program)
    if fold is None or len(fold.ins) < 3:
        return None
    return folding(program, fold, left_fold(len(fold.ins) - 1))


@breaks("well formed: FoldOperandRepeated")
def a_fold_adds_an_operand_twice(program: Program) -> Program | None:
    fold = home_fold(program)
    return folding(program, fold, Add(fold.kind.body, Operand(0))) if fold else None


@breaks("well formed: FoldOperandRepeated")
def a_fold_adds_an_operand_in_place_of_another(program: Program) -> Program | None:
    fold = home_fold(program)
    if fold is None:
        return None
    body = Add(left_fold(len(fold.ins) - 1), Operand(0)) if len(fold.ins) > 2 else None
    return folding(program, fold, body or Add(Operand(0), Operand(0)))


@breaks("well formed: FoldOperandMissing")
def a_fold_adds_an_operand_that_it_does_not_have(program: Program) -> Program | None:
    fold = home_fold(program)
    return folding(program, fold, left_fold(len(fold.ins) + 1)) if fold else None


@breaks("reduced once: which is no sum", "layout: MaxOfPartials")
def a_fold_takes_the_greatest_operand(program: Program) -> Program | None:
    fold = home_fold(program)
    return folding(program, fold, _greatest(fold.kind.body)) if fold else None


def _greatest(body: Body) -> Body:
    return Max(_greatest(body.left), _greatest(body.right)) if isinstance(body, Add) else body


@breaks("reduced once: which is no sum", "layout: LiteralInFold")
def a_fold_adds_one(program: Program) -> Program | None:
    fold = home_fold(program)
    return folding(program, fold, Add(fold.kind.body, Literal(1))) if fold else None


@breaks("well formed: EdgeDestination")
def two_folds_read_each_others_landing_buffers(program: Program) -> Program | None:
    folds = of_kind(program, Fold)
    if len(folds) < 2:
        return None
    one, other = folds[:2]
    program = changed(program, one.name, ins=(*one.ins[:-1], other.ins[-1]))
    return changed(program, other.name, ins=(*other.ins[:-1], one.ins[-1]))


@breaks("reduced once: is not the sum of", "layout: MapOfPartial")
def a_chip_maps_its_partial_sum(program: Program) -> Program | None:
    """The map is the claimed one, and the sender applies it as well."""
    edges = leaf_edges(program)
    return completed(with_map(program, edges[-1], RECTIFIER)) if edges else None


@breaks("reduced once: the sum is mapped by nothing, not by max(op0, 0)")
def the_map_is_left_out(program: Program) -> Program | None:
    stage = map_of(program)
    if stage is None:
        return None
    (leaving,) = program.edges_by_source[stage.name]
    taker = program.stage_by_name[leaving.destination]
    edge = feeding(program, stage)
    program = without(program, stage.name, *stage.outs, leaving.name)
    program = changed(program, taker.name, ins=stage.ins)
    return completed(changed(program, edge.name, destination=taker.name))


@breaks("reduced once: the sum is mapped by max(op0, 0)max(op0, 0), not by max(op0, 0)")
def the_map_is_applied_twice(program: Program) -> Program | None:
    stage = map_of(program)
    if stage is None:
        return None
    (edge,) = program.edges_by_source[stage.name]
    return completed(with_map(program, edge, stage.kind.body))


@breaks("reduced once: the sum is mapped by max(op0, 1)")
def the_map_is_another(program: Program) -> Program | None:
    stage = map_of(program)
    body = Max(Operand(0), Literal(1))
    return changed(program, stage.name, kind=Map(body)) if stage else None


@breaks("reduced once: the sum is mapped by max(op0, 0), not by nothing")
def a_map_is_applied_that_nobody_claims(program: Program) -> Program | None:
    if map_of(program):
        return None
    return completed(with_map(program, feeding(program, store(program)), RECTIFIER))


@breaks("reduced once: the sum is mapped by")
def another_map_is_claimed(program: Program) -> Program | None:
    product = product_of(program)
    claimed = replace(product, map=None if product.map else RECTIFIER)
    return replace(program, graph=replace(program.graph, operations=(claimed,)))


@breaks("well formed: FoldBody")
def a_map_computes_nothing(program: Program) -> Program | None:
    stage = map_of(program)
    return changed(program, stage.name, kind=Map(Operand(0))) if stage else None


@breaks("reduced once: feed each other in a circle", "no deadlock: feed each other in a circle")
def two_stages_feed_each_other(program: Program) -> Program | None:
    """Two maps on the way to the store: each takes what the other one makes."""
    program = with_map(program, feeding(program, store(program)), RECTIFIER)
    first = program.stages[-1]
    (between,) = program.edges_by_source[first.name]
    program = with_map(program, between, RECTIFIER)
    second = program.stages[-1]
    (entering,) = (e for e in program.edges if e.destination == first.name)
    (leaving,) = (e for e in program.edges if e.source == second.name)
    last, source = store(program), entering.buffer
    program = changed(program, first.name, ins=second.outs)
    program = changed(program, leaving.name, destination=first.name)
    program = changed(program, entering.name, destination=last.name)
    return changed(program, last.name, ins=(source,))
