"""Partitioning by rings: the product is wherever it is to be, as the interpreter finds it."""

from dataclasses import replace

import numpy as np
import pytest

from compiler.errors import LinkPortsExceededError, ShardPlanError, SharedLinkBarrierError
from compiler.ir.body import Literal, Max, Operand
from compiler.ir.graph import LoopOrder
from compiler.ir.layout import At, Replicate, Shard
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Recv
from compiler.passes.lower import lower
from compiler.passes.partition import partition
from compiler.pipeline import compile, run_passes
from compiler.shard_plan import ShardPlan
from compiler.targets import get
from compiler.workload import MatmulSpec
from sim.interpreter import interpret
from tests.programs import random_operands

TILE = 2
TARGET = get("token-mesh", tile=TILE, compute_engines=4)
RECTIFIER = Max(Operand(0), Literal(0))
RESULTS = ("home", "all", "scattered")
results = pytest.mark.parametrize("result", RESULTS)


def assert_computes(program: Program, *, mapped: bool = False) -> None:
    """Every output tensor holds its part of the product, and all parts are all of it."""
    a, b = random_operands(program, seed=3)
    expected = np.maximum(a @ b, 0) if mapped else a @ b
    covered = np.zeros(expected.shape, int)
    stored = interpret(program, a, b).stored
    for tensor in program.tensors_of[program.claim.output]:
        rows = slice(tensor.part.row, tensor.part.row + tensor.rows)
        cols = slice(tensor.part.col, tensor.part.col + tensor.cols)
        assert np.array_equal(stored[tensor.name], expected[rows, cols])
        covered[rows, cols] += 1
    assert covered.min() == covered.max()


@pytest.mark.covers("values")
@pytest.mark.parametrize("chips", [2, 3, 5, 8])
@results
@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("mapped", [False, True])
def test_a_ring_leaves_the_product_as_the_plan_says(chips, result, uneven, mapped):
    """Uneven ones have a tile more than chips, the last tile of each dimension being short."""
    n, k = (TILE * (chips + 1) - 1, TILE * (2 * chips - 1)) if uneven else (2 * chips, 4 * chips)
    spec = MatmulSpec(5, n, k, map=RECTIFIER if mapped else None)
    program = compile(spec, TARGET, ShardPlan(chips, "ring", result=result, uneven=uneven))
    assert_computes(program, mapped=mapped)
    outputs = program.tensors_of["c"]
    assert len(outputs) == (1 if result == "home" else chips)
    placement = {"home": At(0), "all": Replicate(), "scattered": Shard("n")}[result]
    assert program.graph.value_by_name["c"].layout == (placement,)
    assert {t.cols for t in outputs} == {n} or result == "scattered"


@pytest.mark.covers("values")
@pytest.mark.parametrize("mesh", [Mesh(row=2, col=2), Mesh(row=2, col=3)], ids=str)
@pytest.mark.parametrize("axis", ["row", "col"])
@pytest.mark.parametrize("other", ["m", "n", None])
@results
@pytest.mark.parametrize("uneven", [False, True])
def test_rings_run_along_one_axis_of_a_mesh(mesh, axis, other, result, uneven):
    """What is scattered is cut along the axis of the ring: columns, or rows if those are cut."""
    (across,) = {*mesh.names} - {axis}
    shard = {"k": axis, **({other: across} if other else {})}
    extra = uneven * TILE
    spec = MatmulSpec(12 + extra, 12 + extra, 12 + extra)
    program = compile(
        spec, TARGET, ShardPlan(mesh, "ring", shard=shard, result=result, uneven=uneven)
    )
    assert_computes(program)
    dim = "m" if other == "n" else "n"
    placement = {"home": At(0), "all": Replicate(), "scattered": Shard(dim)}[result]
    assert program.graph.value_by_name["c"].layout[mesh.names.index(axis)] == placement
    assert len(program.collectives) == mesh.size(across)
    for edge in program.edges:
        if program.crosses(edge):
            chips = [program.stage_by_name[name].chip for name in (edge.source, edge.destination)]
            near, far = map(mesh.coordinates, chips)
            along = mesh.names.index(axis)
            assert (far[along] - near[along]) % mesh.size(axis) == 1
            assert far[1 - along] == near[1 - along]


@pytest.mark.parametrize("order", ["mn", "nm"])
@pytest.mark.parametrize("result", ["all", "scattered"])
def test_loops_may_run_either_way(order, result):
    program = lower(MatmulSpec(6, 14, 12), TARGET)
    (product,) = program.graph.operations
    operations = (replace(product, order=LoopOrder(order)),)
    program = replace(program, graph=replace(program.graph, operations=operations))
    plan = ShardPlan(3, "ring", result=result, uneven=True)
    assert_computes(run_passes(partition(program, plan, TARGET), TARGET))


@results
@pytest.mark.parametrize("chips", [2, 6])
def test_each_chip_has_a_link_to_the_next_and_adds_for_one_before_it(chips, result):
    program = compile(
        MatmulSpec(2, 2 * chips, 2 * chips), TARGET, ShardPlan(chips, "ring", result=result)
    )
    links = {(link.source_chip, link.destination_chip) for link in program.links}
    expected = {(chip, (chip + 1) % chips) for chip in range(chips)}
    assert links == (expected - {(0, 1 % chips)} if result == "home" else expected)
    for kind in (Fold, Recv):
        each = [stage.chip for stage in program.stages if isinstance(stage.kind, kind)]
        assert len(each) == len({*each})


@pytest.mark.parametrize("passed", [(1,), (1, 0)])
def test_sums_may_pass_other_chips_and_share_links_on_their_way(passed):
    """What is received there, and where a shared link ends, holds beats for a cycle as any does."""
    program = partition(lower(MatmulSpec(4, 4, 8), TARGET), ShardPlan(4, "ring"), TARGET)
    edges = (
        replace(edge, via=passed) if edge.destination == "c3.recv_c2" else edge
        for edge in program.edges
    )
    program = run_passes(replace(program, edges=tuple(edges)), TARGET)
    assert any(stage.name.startswith("c1.pass_") for stage in program.stages)
    assert_computes(program)
    for stage in program.stages:
        for name in stage.outs:
            if isinstance(stage.kind, Recv):
                assert not program.buffer_by_name[name].fall_through


def test_two_ports_are_enough_for_any_ring():
    target = replace(TARGET, link_ports=2)
    for result in RESULTS:
        compile(MatmulSpec(2, 8, 8), target, ShardPlan(4, "ring", result=result))
    with pytest.raises(LinkPortsExceededError):
        compile(
            MatmulSpec(2, 8, 8),
            replace(TARGET, link_ports=1),
            ShardPlan(4, "ring", result="all"),
        )


@pytest.mark.parametrize("reduce", ["star", "tree"])
def test_only_a_ring_scatters(reduce):
    with pytest.raises(ShardPlanError) as refusal:
        ShardPlan(4, reduce, result="scattered")
    assert str(refusal.value) == (
        f"shard plan: result must be home or all with a {reduce}; chain or ring or ring-both-ways "
        f"scatters (--reduce), not 'scattered'"
    )


def test_where_rows_and_columns_are_cut_nothing_is_left_to_scatter():
    shard = {"m": "a", "n": "b", "k": "c"}
    with pytest.raises(ShardPlanError) as refusal:
        ShardPlan(Mesh(a=2, b=2, c=2), "ring", shard=shard, result="scattered")
    assert str(refusal.value) == (
        "shard plan: result must be home or all where rows and columns are both cut already, not "
        "'scattered'"
    )
    plan = ShardPlan(Mesh(a=2, b=2, c=2), "ring", shard=shard, result="all")
    assert_computes(compile(MatmulSpec(8, 8, 8), TARGET, plan))


@pytest.mark.parametrize("result", ["all", "scattered"])
def test_at_barriers_sums_and_wholes_do_not_share_links(result):
    target = replace(TARGET, handoffs=("ValidReady", "Barrier"))
    with pytest.raises(SharedLinkBarrierError, match="hands pages off at barriers"):
        compile(MatmulSpec(4, 6, 6), target, ShardPlan(3, "ring", result=result))
    assert_computes(compile(MatmulSpec(4, 6, 6), target, ShardPlan(3, "ring")))
