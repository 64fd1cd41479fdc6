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
    ShardPlanError,
    SliceNotTileAlignedError,
    UnsliceableFillError,
    ValidationError,
)
from compiler.ir.body import left_fold
from compiler.ir.edge import Edge
from compiler.ir.init import RandomBf16, Values
from compiler.ir.stage import Fold, Load, MatmulTiles, Stage, Store
from compiler.passes.shard import ShardPlan, replicate
from compiler.pipeline import compile, shard
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
    for step in (shard, replicate):
        with pytest.raises(NothingToShardError) as refusal:
            step(program, TWO, TOKEN)
        assert isinstance(refusal.value, ShardError)
        assert (refusal.value.program, refusal.value.why) == (program.name, why)
        assert str(refusal.value) == (
            f"program 'matmul_16x16x64' has nothing to shard: {why}; a shard splits the "
            f"contraction axis of a matrix product of two loaded tensors"
        )


def test_an_operand_that_nothing_fills_is_not_loaded():
    program = changed(without(lowered(), "load_a", "load_a->matmul"), "matmul", ins=("a_pages",))
    with pytest.raises(NothingToShardError, match="operand 'a_pages' of 'matmul' is not loaded"):
        replicate(program, TWO, TOKEN)


def test_a_product_of_one_operand():
    program = changed(lowered(), "matmul", ins=("a_pages",))
    with pytest.raises(NothingToShardError, match="its product has 1 operands and it has 1 stores"):
        replicate(program, TWO, TOKEN)


@pytest.mark.parametrize("chips", [2, 4])
def test_a_program_that_is_sharded_already(chips):
    for step in (shard, replicate):
        with pytest.raises(AlreadyShardedError) as refusal:
            step(sharded(chips), TWO, TOKEN)
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
        f"count that divides it, or pad it with zeros (--pad-k)"
    )


@pytest.mark.parametrize(("k", "chips"), [(64, 16), (24, 2), (12, 3)])
def test_slices_that_are_no_whole_tiles(k, chips):
    with pytest.raises(SliceNotTileAlignedError) as refusal:
        shard(compiled(k=k), ShardPlan(chips), TOKEN)
    error = refusal.value
    assert (error.axis, error.extent, error.chips, error.tile) == ("k", k, chips, 8)
    assert str(error) == (
        f"axis k of {k} over {chips} chips gives slices of {k // chips}, which is not a multiple "
        f"of the tile 8; choose a smaller tile or fewer chips, or pad it with zeros (--pad-k)"
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
        replicate(program, TWO, TOKEN)
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
        replicate(lowered(), TWO, get("token-mesh", handoffs=()))


@pytest.mark.parametrize(
    ("chips", "ports", "reduce", "chip", "needed", "way_out"),
    [
        (16, 8, "star", 0, 15, "a tree needs 4 (--reduce tree)"),
        (8, 3, "star", 0, 7, "a tree needs 3 (--reduce tree)"),
        (8, 2, "star", 0, 7, "choose fewer chips, or a target with more link ports"),
        (8, 2, "tree", 0, 3, "choose fewer chips, or a target with more link ports"),
        (2, 0, "tree", 0, 1, "choose fewer chips, or a target with more link ports"),
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
        f"a {reduce} reduction needs {needed} links at chip {chip}, which has {ports} link "
        f"ports; {way_out}"
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


@pytest.mark.parametrize("chips", [0, -2, 2.0, "4", None, True])
def test_chip_counts_that_do_not_exist(chips):
    with pytest.raises(ShardPlanError) as refusal:
        ShardPlan(chips)
    error = refusal.value
    assert (error.field, error.rule) == ("chips", "a positive integer")
    assert error.value is chips
    assert str(error) == f"shard plan: chips must be a positive integer, not {chips!r}"


@pytest.mark.parametrize("reduce", ["ring", "", None])
def test_algorithms_that_do_not_exist(reduce):
    with pytest.raises(ShardPlanError) as refusal:
        ShardPlan.row_parallel(4, reduce=reduce)
    assert (refusal.value.field, refusal.value.value) == ("reduce", reduce)
    assert str(refusal.value) == f"shard plan: reduce must be one of star, tree, not {reduce!r}"


def test_a_row_parallel_plan_reduces_by_a_tree_unless_said_otherwise():
    assert ShardPlan.row_parallel(4) == ShardPlan(4, "tree")
    assert ShardPlan.row_parallel(4, reduce="star") == ShardPlan(4, "star")
