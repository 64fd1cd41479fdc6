"""The graph of work: what is no product of two values that fit each other is refused."""

from dataclasses import replace
from typing import Any

import pytest

from compiler.ir.graph import LoopOrder, Value
from compiler.ir.layout import At, Layout, Partial, Replicate, Shard
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.validate import check_structure
from tests.collective_programs import collective
from tests.compiler.programs import TOKEN, compiled, sharded, spread
from tests.compiler.validate.mutants import (
    Mutant,
    assert_every_rule_has_a_mutant,
    assert_refused,
    parametrize,
)

ONE, FOUR = compiled(), sharded(4)
GRID = spread(mesh=Mesh(row=2, col=2), shard=(("m", "row"), ("k", "col")))
WHOLE = Replicate()
SUM = collective("all_reduce", "star", 2, rows=16, cols=16, target=TOKEN)
"""Slices of 16 x 16 elements, one on each of two chips, and their sum on both."""
GATHERED = collective("all_gather", "star", 2, rows=16, cols=16, target=TOKEN)


def valued(program: Program, value: str, /, **changes: Any) -> Program:
    values = (replace(v, **changes) if v.name == value else v for v in program.graph.values)
    return replace(program, graph=replace(program.graph, values=tuple(values)))


def multiplied(**changes: Any) -> Program:
    (product,) = ONE.graph.operations
    return replace(ONE, graph=replace(ONE.graph, operations=(replace(product, **changes),)))


def redistributed(program: Program, **changes: Any) -> Program:
    (moved,) = program.graph.operations
    return replace(program, graph=replace(program.graph, operations=(replace(moved, **changes),)))


def with_value(value: Value) -> Program:
    return replace(ONE, graph=replace(ONE.graph, values=(*ONE.graph.values, value)))


def unfit(text: str, name: str, **changes: Any) -> Mutant:
    return Mutant(f"{name} of {changes}", valued(ONE, name, **changes), "ValueShape", name, text)


def unlike(text: str, subject: str, name: str, **changes: Any) -> Mutant:
    what = f"{name} of {changes}"
    return Mutant(what, valued(ONE, name, **changes), "ValueExtents", subject, text)


def laid(program: Program, name: str, layout: Layout, text: str) -> Mutant:
    broken = valued(program, name, layout=layout)
    return Mutant(f"{name} is {layout}", broken, "ValueLayout", name, text)


def nowhere(field: str) -> Mutant:
    """The value that a product takes or makes is called otherwise than it calls it."""
    (product,) = ONE.graph.operations
    renamed = valued(multiplied(**{field: "nowhere"}), getattr(product, field), name="other")
    kept = tuple(v for v in renamed.graph.values if v.name != "other")
    program = replace(renamed, graph=replace(renamed.graph, values=kept))
    text = "the product names value 'nowhere', which does not exist"
    return Mutant(f"{field} is nowhere", program, "UnknownName", "nowhere", text)


A = ONE.graph.value_by_name["a"]

MUTANTS = (
    Mutant(
        "no product",
        replace(ONE, graph=replace(ONE.graph, operations=())),
        "OperationCount",
        ONE.name,
        "states 0 products; it must state one",
    ),
    Mutant(
        "two products",
        replace(ONE, graph=replace(ONE.graph, operations=ONE.graph.operations * 2)),
        "OperationCount",
        ONE.name,
        "states 2 products",
    ),
    Mutant(
        "a product of something with itself",
        multiplied(right="a"),
        "OperationNames",
        ONE.name,
        "the operation calls two of its matrices alike: 'c' of 'a' and 'a'",
    ),
    Mutant("two values of one name", with_value(A), "DuplicateName", "a", "2 values are named 'a'"),
    Mutant(
        "a value that nothing takes",
        with_value(replace(A, name="spare")),
        "ValueUnused",
        "spare",
        "value 'spare' is neither taken nor made by the product",
    ),
    *map(nowhere, ("left", "right", "output")),
    Mutant(
        "A the other way round",
        valued(ONE, "a", dims=("k", "m")),
        "ValueDims",
        "a",
        "rows and columns of 'a' must run along m and k, not along k and m",
    ),
    Mutant(
        "a matrix of one axis",
        valued(ONE, "c", dims=("m",)),
        "ValueDims",
        "c",
        "must run along m and n, not along m",
    ),
    Mutant(
        "a matrix of none",
        valued(ONE, "b", dims=()),
        "ValueDims",
        "b",
        "must run along k and n, not along nothing",
    ),
    unfit("has 16 x 0 elements", "a", cols=0),
    unfit("has -16 x 64 elements and (0, 0) of padding; extents must be", "a", rows=-16),
    unfit("has 16 x 0 elements", "c", cols=0),
    unfit("(-8, 0) of padding; extents must be at least 1, and padding", "b", pad=(-8, 0)),
    unfit("and (0,) of padding", "b", pad=(0,)),
    unfit("and () of padding", "b", pad=()),
    unlike("'c' has 16 elements along m and 0 of padding, but 'a' has 24 and 0", "c", "a", rows=24),
    unlike("'b' has 64 elements along k and 0 of padding, but 'a' has 56", "b", "a", cols=56),
    unlike("'c' has 16 elements along n and 0 of padding, but 'b' has 8", "c", "b", cols=8),
    unlike("'b' has 64 elements along k and 8 of padding, but 'a'", "b", "b", pad=(8, 0)),
    unlike("'c' has 16 elements along m and 3 of padding, but 'a'", "c", "c", pad=(3, 0)),
    Mutant(
        "a loop along the contraction",
        multiplied(order=LoopOrder("mk")),
        "LoopOrder",
        "c",
        "the loop order must be mn or nm, not 'mk'",
    ),
    Mutant(
        "a layout along no axis",
        valued(FOUR, "a", layout=()),
        "LayoutLength",
        "a",
        "says how it is spread along 0 axes; the mesh tp=4 has 1",
    ),
    Mutant(
        "a layout along one axis of two",
        valued(GRID, "b", layout=(WHOLE,)),
        "LayoutLength",
        "b",
        "along 1 axes; the mesh row=2,col=2 has 2",
    ),
    laid(FOUR, "a", (Shard("n"),), "cannot be spread as slices of n along tp=4: it is whole, at"),
    laid(FOUR, "c", (Shard("k"),), "each of them along one axis at most"),
    laid(FOUR, "c", (Partial(),), "cannot be spread as partial sums along tp=4"),
    laid(FOUR, "a", (Partial((0,)),), "cannot be spread as partial sum of {0} along tp=4"),
    laid(FOUR, "c", (At(4),), "cannot be spread as at 4 along tp=4"),
    laid(FOUR, "c", (At(-1),), "cannot be spread as at -1 along tp=4"),
    laid(GRID, "a", (Shard("k"), Shard("k")), "cannot be spread as slices of k along col=2"),
    Mutant(
        "a matrix that is made of itself",
        redistributed(SUM, input="y"),
        "OperationNames",
        SUM.name,
        "the operation calls two of its matrices alike: 'y' of 'y'",
    ),
    Mutant(
        "along an axis that is none of the mesh",
        redistributed(SUM, axis="dp"),
        "RedistributionAxis",
        "y",
        "'y' is redistributed along 'dp'; the mesh has tp",
    ),
    Mutant(
        "the product of slices",
        redistributed(SUM, combine="product"),
        "RedistributionCombines",
        "y",
        "slices are combined by sum or max, not by 'product'",
    ),
    Mutant(
        "slices that are said not to be combined",
        redistributed(SUM, combine=None),
        "ValueDims",
        "x",
        "rows and columns of 'x' must run along m and n, not along k and n",
    ),
    Mutant(
        "what is moved is said to be combined",
        redistributed(GATHERED, combine="sum"),
        "ValueDims",
        "x",
        "must run along k and n, not along m and n",
    ),
    Mutant(
        "three slices on two chips",
        valued(SUM, "x", rows=48),
        "ValueExtents",
        "x",
        "'x' of 48 x 16 elements is not 2 times 'y' of 16 x 16, in whole tiles of 8",
    ),
    Mutant(
        "slices that end within a tile",
        valued(valued(SUM, "x", rows=24), "y", rows=12),
        "ValueExtents",
        "x",
        "'x' of 24 x 16 elements is not 2 times 'y' of 12 x 16, in whole tiles of 8",
    ),
    Mutant(
        "slices of other columns",
        valued(SUM, "y", cols=8),
        "ValueExtents",
        "x",
        "'x' of 32 x 16 elements is not 2 times 'y' of 16 x 8",
    ),
    Mutant(
        "more is made than is given",
        valued(GATHERED, "y", rows=24),
        "ValueExtents",
        "x",
        "'x' of 16 x 16 elements is not 1 times 'y' of 24 x 16",
    ),
    laid(SUM, "x", (WHOLE,), "'x' is combined along tp, so it must be cut into rows there, not"),
    laid(SUM, "x", (Shard("n"),), "so it must be cut into rows there, not slices of n"),
    laid(SUM, "x", (), "so it must be cut into rows there, not None"),
    laid(GATHERED, "y", (Shard("k"),), "it is whole, at a chip that exists, or cut along one of m"),
)


@parametrize(MUTANTS)
def test_what_is_no_product_of_values_is_refused(mutant):
    assert_refused(mutant)


def test_every_rule_of_the_graph_has_a_mutant():
    assert_every_rule_has_a_mutant("graph", MUTANTS)


@pytest.mark.parametrize("loops", ["mn", "nm"])
def test_either_loop_may_be_the_outer_one(loops):
    check_structure(multiplied(order=LoopOrder(loops)))
