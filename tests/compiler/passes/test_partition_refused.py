"""What cannot be sharded is refused, with the values and the way out."""

from dataclasses import replace

import pytest

from compiler.errors import (
    AlreadyShardedError,
    AxisNotDivisibleError,
    LinkPortsExceededError,
    NoCrossChipHandoffError,
    NoEngineError,
    NothingToShardError,
    ShardError,
    SliceNotTileAlignedError,
    TooFewTilesError,
    UnsliceableFillError,
    ValidationError,
)
from compiler.ir.body import left_fold
from compiler.ir.edge import Edge
from compiler.ir.init import RandomBf16, Values
from compiler.ir.mesh import Mesh
from compiler.ir.stage import Fold, Load, MatmulTiles, Stage, Store
from compiler.passes.partition import partition
from compiler.pipeline import compile, shard
from compiler.shard_plan import ShardPlan
from compiler.targets import get
from compiler.workload import MatmulSpec
from tests.compiler.programs import (
    LOCAL_ONLY,
    TOKEN,
    changed,
    compiled,
    lowered,
    sharded,
    without,
)

TWO = ShardPlan(2)
HOME = "with the result at home it needs {} (--result home)"
FEWER = "choose fewer chips, or a target with more link ports"


def no_product():
    program = lowered()
    drop = ("load_b", "matmul", "b_pages", "partial", "load_b->matmul", "matmul->store_c")
    program = changed(without(program, *drop), "store_c", ins=("a_pages",))
    return changed(program, "load_a->matmul", destination="store_c")


def with_stage(program, stage: Stage, ins: str, feeds: str):
    """``program`` with ``stage`` between buffer ``ins`` and stage ``feeds``."""
    reader = program.stage_by_name[feeds]
    (edge,) = (edge for edge in program.edges if edge.buffer == ins)
    (out,) = stage.outs
    program = changed(program, feeds, ins=tuple(out if b == ins else b for b in reader.ins))
    program = changed(program, edge.name, destination=stage.name)
    return replace(
        program,
        stages=(*program.stages, stage),
        buffers=(*program.buffers, replace(program.buffer_by_name[ins], name=out)),
        edges=(*program.edges, Edge(f"{stage.name}->{feeds}", stage.name, out, feeds)),
    )


def loaded_beside(program, buffer: str, reader: str):
    """``program`` with one more load of A, into ``buffer`` for ``reader``."""
    return replace(
        program,
        stages=(*program.stages, Stage("load_more", Load("a"), outs=(buffer,))),
        buffers=(*program.buffers, replace(program.buffer_by_name["a_pages"], name=buffer)),
        edges=(*program.edges, Edge(f"load_more->{reader}", "load_more", buffer, reader)),
    )


def two_products():
    stage = Stage("power", MatmulTiles(), ins=("partial", "more"), outs=("powers",))
    return loaded_beside(with_stage(lowered(), stage, "partial", "store_c"), "more", "power")


def folded_operand():
    stage = Stage("fold", Fold(left_fold(2)), ins=("a_pages", "more"), outs=("folded",))
    return loaded_beside(with_stage(lowered(), stage, "a_pages", "matmul"), "more", "fold")


def two_stores():
    program = replace(lowered(), stages=(*lowered().stages, Stage("s", Store("c"), ("more",))))
    return loaded_beside(program, "more", "s")


def disagreeing():
    return changed(lowered(), "a", cols=32)


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (no_product(), "it has 0 products"),
        (two_products(), "it has 2 products"),
        (folded_operand(), "operand 'folded' of 'matmul' is not loaded from a tensor"),
        (two_stores(), "its product has 2 operands and it has 2 stores"),
        (disagreeing(), "its operands do not agree on the contraction axis (32 and 64)"),
    ],
)
def test_a_program_that_is_no_product_of_two_loaded_operands(program, why):
    for step in (shard, partition):
        with pytest.raises(NothingToShardError) as refusal:
            step(program, TWO, TOKEN)
        assert isinstance(refusal.value, ShardError)
        assert (refusal.value.program, refusal.value.why) == (program.name, why)
        assert str(refusal.value) == (
            f"program 'matmul_16x16x64' has nothing to shard: {why}; a shard splits a "
            f"matrix product of two loaded tensors"
        )


def test_an_operand_that_nothing_fills_is_not_loaded():
    program = changed(without(lowered(), "load_a", "load_a->matmul"), "matmul", ins=("a_pages",))
    with pytest.raises(NothingToShardError, match="operand 'a_pages' of 'matmul' is not loaded"):
        partition(program, TWO, TOKEN)


def test_a_product_of_one_operand():
    program = changed(lowered(), "matmul", ins=("a_pages",))
    with pytest.raises(NothingToShardError, match="its product has 1 operands and it has 1 stores"):
        partition(program, TWO, TOKEN)


@pytest.mark.parametrize("plan", [ShardPlan(1), TWO], ids=lambda plan: str(plan.mesh))
@pytest.mark.parametrize("chips", [2, 4])
def test_a_program_that_is_sharded_already(chips, plan):
    for step in (shard, partition):
        with pytest.raises(AlreadyShardedError) as refusal:
            step(sharded(chips), plan, TOKEN)
        assert (refusal.value.program, refusal.value.chips) == (sharded(chips).name, chips)
        assert str(refusal.value) == (
            f"program {sharded(chips).name!r} is sharded over {chips} chips already; "
            f"shard the one-chip program that it came from"
        )


@pytest.mark.parametrize(("k", "chips", "rest"), [(64, 3, 1), (64, 6, 4), (8, 16, 8)])
def test_an_axis_that_does_not_divide(k, chips, rest):
    with pytest.raises(AxisNotDivisibleError) as refusal:
        shard(compiled(k=k), ShardPlan(chips), TOKEN)
    assert (refusal.value.axis, refusal.value.extent, refusal.value.chips) == ("k", k, chips)
    assert str(refusal.value) == (
        f"axis k of {k} does not divide over {chips} chips ({rest} left over); choose a chip "
        f"count that divides it, or pad it with zeros (--pad-k), or let slices differ by a tile "
        f"(--uneven)"
    )


@pytest.mark.parametrize(("k", "chips"), [(64, 16), (24, 2), (12, 3)])
def test_slices_that_are_no_whole_tiles(k, chips):
    with pytest.raises(SliceNotTileAlignedError) as refusal:
        shard(compiled(k=k), ShardPlan(chips), TOKEN)
    error = refusal.value
    assert (error.axis, error.extent, error.chips, error.tile) == ("k", k, chips, 8)
    assert str(error) == (
        f"axis k of {k} over {chips} chips gives slices of {k // chips}, which is not a multiple "
        f"of the tile 8; choose a smaller tile or fewer chips, or pad it with zeros "
        f"(--pad-k), or let slices differ by a tile (--uneven)"
    )


@pytest.mark.parametrize(("k", "chips"), [(64, 3), (64, 16), (24, 2), (1, 7)])
def test_padding_is_the_way_out_of_both(k, chips):
    spec = MatmulSpec(16, 16, k).padded_k(8 * chips)
    assert shard(compile(spec, TOKEN), ShardPlan(chips), TOKEN).chip_count == chips


@pytest.mark.parametrize("operand", ["a", "b"])
def test_random_values_that_depend_on_the_whole_shape(operand):
    program = changed(compile(MatmulSpec(16, 16, 64), TOKEN), operand, init=RandomBf16(1))
    with pytest.raises(UnsliceableFillError) as refusal:
        shard(program, TWO, TOKEN)
    assert refusal.value.tensor == operand
    assert f"tensor {operand!r} cannot be sliced: RandomBf16 is a function" in str(refusal.value)


@pytest.mark.parametrize("operand", ["a", "b"])
def test_values_of_another_length(operand):
    program = changed(compiled(), operand, init=Values((1, 2, 3)))
    text = f"tensor {operand!r} cannot be sliced: it lists 3 values for "
    with pytest.raises(UnsliceableFillError, match=text):
        partition(program, TWO, TOKEN)
    with pytest.raises(ValidationError, match=f"FillLength: tensor {operand!r} lists 3 values"):
        shard(program, TWO, TOKEN)


@pytest.mark.parametrize(
    ("target", "provided"),
    [
        (LOCAL_ONLY, "ValidReady"),
        (get("token-mesh", handoffs=("Fifo", "ValidReady")), "Fifo, ValidReady"),
    ],
)
def test_a_target_whose_handoffs_do_not_cross(target, provided):
    with pytest.raises(NoCrossChipHandoffError) as refusal:
        shard(compiled(target=target), TWO, target)
    assert (refusal.value.target, refusal.value.provided) == (target.name, target.handoffs)
    assert str(refusal.value) == (
        f"target {target.name!r} has no hand-off between chips (it provides {provided}); a "
        f"reduction needs Token, Semaphore or Barrier: choose another target, or one chip"
    )


def test_a_target_without_any_handoff():
    with pytest.raises(NoCrossChipHandoffError, match=r"\(it provides none\)"):
        partition(lowered(), TWO, get("token-mesh", handoffs=()))


@pytest.mark.parametrize(
    ("chips", "ports", "reduce", "chip", "needed", "way_out"),
    [
        (16, 8, "star", 0, 15, "a tree needs 4 (--reduce tree)"),
        (8, 3, "star", 0, 7, "a tree needs 3 (--reduce tree)"),
        (8, 2, "star", 0, 7, FEWER),
        (8, 2, "tree", 0, 3, FEWER),
        (2, 0, "tree", 0, 1, FEWER),
    ],
)
def test_a_reduction_of_more_links_than_ports(chips, ports, reduce, chip, needed, way_out):
    program = compiled(k=16 * chips)
    target = get("token-mesh", link_ports=ports)
    with pytest.raises(LinkPortsExceededError) as refusal:
        shard(program, ShardPlan(chips, reduce), target)
    error = refusal.value
    assert (error.chip, error.needed, error.ports) == (chip, needed, ports)
    assert error.algorithm == reduce
    assert str(error) == (
        f"a {reduce} needs {needed} links at chip {chip}, which has {ports} link ports; {way_out}"
    )


@pytest.mark.parametrize(("chips", "ports"), [(16, 4), (8, 3), (4, 2), (7, 3)])
def test_the_tree_that_is_suggested_fits(chips, ports):
    target = get("token-mesh", link_ports=ports)
    with pytest.raises(LinkPortsExceededError, match=f"a tree needs {ports}"):
        shard(compiled(k=16 * chips), ShardPlan(chips, "star"), target)
    shard(compiled(k=16 * chips), ShardPlan(chips, "tree"), target)


def test_a_site_without_an_engine_for_the_fold():
    target = get("token-mesh", compute_engines=1)
    with pytest.raises(NoEngineError, match=r"stage 'c0.fold' finds no free compute engine"):
        shard(compiled(target=target), TWO, target)


MESH = Mesh(row=2, col=2)


@pytest.mark.parametrize(
    ("shard", "extents", "error", "text"),
    [
        ({"m": "row"}, (15, 16, 16), AxisNotDivisibleError, "axis m of 15 does not divide over 2"),
        ({"n": "col"}, (16, 15, 16), AxisNotDivisibleError, "axis n of 15 does not divide over 2"),
        ({"k": "col"}, (16, 16, 15), AxisNotDivisibleError, "axis k of 15 does not divide over 2"),
        ({"m": "col"}, (20, 16, 16), SliceNotTileAlignedError, "m of 20 over 2 chips gives slices"),
        ({"n": "row"}, (16, 24, 16), SliceNotTileAlignedError, "n of 24 over 2 chips gives slices"),
    ],
)
def test_each_axis_that_does_not_divide_is_named(shard, extents, error, text):
    plan = ShardPlan(MESH, shard=shard)
    with pytest.raises(error, match=text):
        partition(lowered(*extents), plan, TOKEN)
    assert partition(lowered(*extents), replace_uneven(plan), TOKEN).chip_count == 4


def replace_uneven(plan: ShardPlan) -> ShardPlan:
    return ShardPlan(plan.mesh, plan.reduce, shard=plan.shard, result=plan.result, uneven=True)


@pytest.mark.parametrize(
    ("dim", "extents"), [("m", (8, 16, 16)), ("n", (16, 3, 16)), ("k", (16, 16, 1))]
)
def test_fewer_tiles_than_chips_are_refused_even_where_slices_may_differ(dim, extents):
    plan = ShardPlan(MESH, shard={dim: "row"}, uneven=True)
    with pytest.raises(TooFewTilesError, match=f"axis {dim} of .* has 1 tile of 8, fewer than"):
        partition(lowered(*extents), plan, TOKEN)


@pytest.mark.parametrize("result", ["home", "all"])
def test_cuts_without_sums_need_no_handoff_between_chips(result):
    plan = ShardPlan(MESH, shard={"m": "row", "n": "col"}, result=result)
    program = partition(lowered(target=LOCAL_ONLY), plan, LOCAL_ONLY)
    assert not any(program.crosses(edge) for edge in program.edges)
    plan = ShardPlan(MESH, shard={"m": "row", "k": "col"}, result=result)
    with pytest.raises(NoCrossChipHandoffError):
        partition(lowered(target=LOCAL_ONLY), plan, LOCAL_ONLY)


@pytest.mark.parametrize(
    ("mesh", "axis", "reduce", "ports", "chip", "needed", "way_out"),
    [
        (Mesh(tp=4), "tp", "star", 5, 0, 6, "a tree needs 4 (--reduce tree)"),
        (Mesh(tp=4), "tp", "tree", 3, 0, 4, HOME.format(2)),
        (Mesh(tp=8), "tp", "tree", 2, 0, 6, FEWER),
        (Mesh(row=4, col=2), "row", "star", 5, 0, 6, "a tree needs 4 (--reduce tree)"),
        (
            Mesh(row=2, col=2),
            "col",
            "tree",
            1,
            0,
            2,
            HOME.format(1),
        ),
    ],
)
def test_a_sum_on_every_chip_needs_ports_for_both_ways(
    mesh, axis, reduce, ports, chip, needed, way_out
):
    plan = ShardPlan(mesh, reduce, shard={"k": axis}, result="all")
    program = lowered(k=128)
    with pytest.raises(LinkPortsExceededError) as refusal:
        partition(program, plan, get("token-mesh", link_ports=ports))
    assert (refusal.value.chip, refusal.value.needed) == (chip, needed)
    assert str(refusal.value) == (
        f"a {reduce} needs {needed} links at chip {chip}, which has {ports} link ports; {way_out}"
    )
    assert partition(program, plan, get("token-mesh", link_ports=needed)).chip_count
