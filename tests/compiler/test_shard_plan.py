"""A plan states a mesh, a cut along axes of their own, an algorithm and a result that exist."""

import re
from itertools import product

import pytest

from compiler.errors import ShardError, ShardPlanError
from compiler.ir.limits import CHIPS
from compiler.ir.mesh import Mesh
from compiler.shard_plan import DIMS, ShardPlan

GRID = Mesh(row=2, col=3)


@pytest.mark.parametrize("chips", [0, -2, 2.0, "4", None, True])
def test_chip_counts_that_do_not_exist(chips):
    with pytest.raises(ShardPlanError) as refusal:
        ShardPlan(chips)
    error = refusal.value
    assert (error.field, error.rule) == ("chips", "a positive integer")
    assert error.value is chips
    assert str(error) == f"shard plan: chips must be a positive integer, not {chips!r}"


@pytest.mark.parametrize("reduce", ["torus", "", None])
def test_algorithms_that_do_not_exist(reduce):
    with pytest.raises(ShardPlanError) as refusal:
        ShardPlan.row_parallel(4, reduce=reduce)
    assert (refusal.value.field, refusal.value.value) == ("reduce", reduce)
    known = "chain, ring, ring-both-ways, star, tree"
    assert str(refusal.value) == f"shard plan: reduce must be one of {known}, not {reduce!r}"


def test_a_row_parallel_plan_reduces_by_a_tree_unless_said_otherwise():
    assert ShardPlan.row_parallel(4) == ShardPlan(4, "tree")
    assert ShardPlan.row_parallel(4, reduce="star") == ShardPlan(4, "star")


def test_a_number_of_chips_is_a_mesh_of_one_axis_along_which_k_is_cut():
    plan = ShardPlan(4)
    assert plan == ShardPlan(Mesh(tp=4)) == ShardPlan(Mesh(tp=4), shard={"k": "tp"})
    assert (plan.chips, plan.axis_of("k"), plan.axis_of("m")) == (4, "tp", None)
    assert (plan.reduce, plan.result, plan.uneven) == ("tree", "home", False)


def test_more_chips_than_there_may_be_are_none():
    assert ShardPlan(CHIPS).chips == CHIPS
    with pytest.raises(ShardPlanError, match=f"of at most {CHIPS} chips, not {CHIPS + 1}"):
        ShardPlan(CHIPS + 1)


@pytest.mark.parametrize(
    "shard", [dict(zip(DIMS, way, strict=True)) for way in product(("row", "col", None), repeat=3)]
)
def test_each_dimension_is_cut_along_an_axis_of_its_own(shard):
    shard = {dim: axis for dim, axis in shard.items() if axis}
    if len(set(shard.values())) < len(shard):
        with pytest.raises(ShardPlanError, match="along another axis than"):
            ShardPlan(GRID, shard=shard)
        return
    plan = ShardPlan(GRID, shard=shard)
    assert {dim: plan.axis_of(dim) for dim in DIMS} == dict.fromkeys(DIMS) | shard
    for axis in GRID.names:
        assert plan.dim_of(axis) == next((d for d, along in shard.items() if along == axis), None)
    assert plan == ShardPlan(GRID, shard=tuple(sorted(shard.items(), reverse=True)))


def test_an_axis_of_one_chip_cuts_nothing():
    plan = ShardPlan(Mesh(row=1, col=3), shard={"m": "row", "k": "col"})
    assert (plan.axis_of("m"), plan.dim_of("row")) == (None, None)
    assert (plan.axis_of("k"), plan.dim_of("col")) == ("col", "k")


@pytest.mark.parametrize(
    ("shard", "text"),
    [
        (None, "shard must be stated for a mesh of several axes (row, col), as k=row, not None"),
        ({"q": "row"}, "shard must be of m, n, k, not 'q'"),
        ({"m": "nope"}, "shard m must be along one of row, col, not 'nope'"),
        ({"m": "row", "n": ""}, "shard n must be along one of row, col, not ''"),
        (
            {"m": "row", "k": "row"},
            "shard m must be along another axis than k, not 'row'",
        ),
        (
            (("k", "row"), ("k", "col")),
            "shard k must be along col alone, not 'row'",
        ),
    ],
)
def test_cuts_that_do_not_exist(shard, text):
    with pytest.raises(ShardPlanError, match=re.escape(f"shard plan: {text}") + "$") as refusal:
        ShardPlan(GRID, shard=shard)
    assert isinstance(refusal.value, ShardError)


@pytest.mark.parametrize(
    "shard", ["k=tp", ("k", "tp"), (("k", "tp", 1),), [("k", "tp")], {1: "tp"}, 4]
)
def test_shardings_that_are_no_mapping(shard):
    with pytest.raises(ShardPlanError, match="shard must be axes by dimension, as"):
        ShardPlan(2, shard=shard)


def test_pairs_are_a_sharding_too():
    mesh = Mesh(row=2, col=2)
    plan = ShardPlan(mesh, shard={"m": "row", "k": "col"})
    for pairs in (("m", "row"), ("k", "col")), (("k", "col"), ("m", "row")):
        assert ShardPlan(mesh, shard=pairs) == plan


@pytest.mark.parametrize("result", ["everywhere", "", None])
def test_results_that_do_not_exist(result):
    with pytest.raises(ShardPlanError) as refusal:
        ShardPlan(4, result=result)
    assert (refusal.value.field, refusal.value.value) == ("result", result)
    assert (
        str(refusal.value)
        == f"shard plan: result must be one of all, home, scattered, not {result!r}"
    )
