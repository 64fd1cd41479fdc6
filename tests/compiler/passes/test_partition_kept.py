"""Sharding keeps what was chosen for one chip, and slices what the operands hold."""

from dataclasses import replace

import numpy as np
import pytest

from compiler.ir.buffer import Depth
from compiler.ir.choice import Chooser
from compiler.ir.edge import Fifo, ValidReady
from compiler.ir.graph import LoopOrder
from compiler.ir.init import Const, External, Init, Pattern, Values, Zero
from compiler.ir.mesh import Mesh
from compiler.ir.stage import Engine, EngineKind, Site
from compiler.ir.tensor import ValueRange
from compiler.passes.lower import lower
from compiler.pipeline import compile, run_passes, shard
from compiler.shard_plan import ShardPlan
from compiler.targets import get
from compiler.workload import MatmulSpec
from tests.compiler.programs import TOKEN, changed, compiled, lowered

ROOMY = get(
    "token-mesh",
    compute_engines=4,
    movement_engines=6,
    handoffs=("ValidReady", "Fifo", "Token", "Barrier"),
)
PLAN = ShardPlan(4)


def ordered(program, loops: str):
    """The program with a loop order that somebody chose."""
    (product,) = program.graph.operations
    graph = replace(program.graph, operations=(replace(product, order=LoopOrder(loops)),))
    return replace(program, graph=graph)


def on_every_chip(program, local: str, group: str = "stage"):
    records = getattr(program, f"{group}_by_name")
    return [records[f"c{chip}.{local}"] for chip in range(program.chip_count)]


def test_a_site_survives():
    site = Site(0, 3, 2)
    program = lowered(target=ROOMY)
    for stage in program.stages:
        program = changed(program, stage.name, site=site)
    program = shard(run_passes(program, ROOMY), PLAN, ROOMY)
    assert {(stage.site.x, stage.site.y) for stage in program.stages} == {(3, 2)}
    assert {(buffer.site.x, buffer.site.y) for buffer in program.buffers} == {(3, 2)}


@pytest.mark.parametrize(
    ("stage", "engine"),
    [
        ("matmul", Engine(EngineKind.COMPUTE, 3)),
        ("load_a", Engine(EngineKind.MOVEMENT, 5)),
        ("load_b", Engine(EngineKind.MOVEMENT, 0)),
    ],
)
def test_an_engine_survives_on_every_chip(stage, engine):
    program = run_passes(changed(lowered(target=ROOMY), stage, engine=engine), ROOMY)
    assert program.stage_by_name[stage].engine == engine
    program = shard(program, PLAN, ROOMY)
    assert {copy.engine for copy in on_every_chip(program, stage)} == {engine}


@pytest.mark.parametrize(("buffer", "depth"), [("a_pages", 5), ("b_pages", 1), ("partial", 9)])
def test_a_depth_survives_on_every_chip(buffer, depth):
    program = run_passes(changed(lowered(), buffer, depth=Depth(depth)), TOKEN)
    assert program.buffer_by_name[buffer].depth_pages == depth
    program = shard(program, PLAN, TOKEN)
    assert {copy.depth_pages for copy in on_every_chip(program, buffer, "buffer")} == {depth}


@pytest.mark.parametrize("buffer", ["a_pages", "b_pages", "partial"])
def test_a_depth_survives_though_it_is_the_one_that_the_pass_would_have_chosen(buffer):
    chosen = compiled(32, 32, 64).buffer_by_name[buffer].depth_pages
    program = changed(lowered(32, 32, 64), buffer, depth=Depth(chosen))
    program = run_passes(program, TOKEN)
    assert program == compiled(32, 32, 64)
    sliced = shard(program, ShardPlan(4), TOKEN)
    depths = on_every_chip(sliced, buffer, "buffer")
    assert {(each.depth_pages, each.depth.by) for each in depths} == {(chosen, Chooser.HAND)}


def test_depths_that_nobody_chose_are_chosen_anew():
    """A shard's results come more often than the whole's, so more of them are on the way."""
    whole = compiled(32, 32, 64)
    program = shard(whole, ShardPlan(8), TOKEN)
    for partial in on_every_chip(program, "partial", "buffer"):
        assert partial.depth_pages > whole.buffer_by_name["partial"].depth_pages


@pytest.mark.parametrize("edge", ["load_a->matmul", "load_b->matmul", "matmul->store_c"])
def test_a_handoff_survives_on_every_chip_where_it_stays_local(edge):
    program = run_passes(changed(lowered(target=ROOMY), edge, handoff=Fifo()), ROOMY)
    buffer = next(e.buffer for e in program.edges if e.name == edge)
    program = shard(program, PLAN, ROOMY)
    for each in program.edges:
        if not program.crosses(each):
            kept = each.buffer.split(".")[1] == buffer
            assert each.handoff == (Fifo() if kept else ValidReady())


def test_a_handoff_of_another_target_is_spelled_anew():
    program = compile(MatmulSpec(16, 16, 64), get("local-only"))
    target = get("semaphore-mesh")
    program = shard(program, PLAN, target)
    local = {edge.handoff for edge in program.edges if not program.crosses(edge)}
    assert local == {Fifo()}


def test_the_loop_order_survives():
    program = shard(run_passes(ordered(lowered(), "nm"), TOKEN), PLAN, TOKEN)
    (product,) = program.graph.operations
    assert (str(product.order), product.order.by) == ("nm", Chooser.HAND)
    for load in on_every_chip(program, "load_b"):
        assert list(load.kind.walk.pages()) == [0, 2, 0, 2, 1, 3, 1, 3]
    (store,) = (s for s in program.stages if s.name.endswith("store_c"))
    assert list(store.kind.walk.pages()) == [0, 2, 1, 3]


def test_an_unplaced_program_is_sharded_as_a_placed_one():
    assert shard(lowered(), PLAN, TOKEN) == shard(compiled(), PLAN, TOKEN)


def elements(init: Init, rows: int, cols: int) -> np.ndarray:
    flat = np.arange(rows * cols)
    match init:
        case Zero():
            flat = 0 * flat
        case Const(value):
            flat = 0 * flat + value
        case Pattern(modulus, shift):
            flat = flat % modulus - shift
        case Values(values):
            flat = np.array(values)
    return flat.reshape(rows, cols)


FILLS = [
    Zero(),
    Const(-3),
    Pattern(13, 6),
    Values(tuple(int(v) for v in np.random.default_rng(5).integers(-128, 128, 15 * 60))),
]


CUTS = (
    ShardPlan(2),
    ShardPlan(3),
    ShardPlan(4),
    ShardPlan(Mesh(row=2, col=3), shard={"m": "row", "k": "col"}, uneven=True),
    ShardPlan(Mesh(row=2, col=2), shard={"n": "row", "k": "col"}, uneven=True),
    ShardPlan(Mesh(row=2, col=2), shard={"m": "row", "n": "col"}, uneven=True),
)


@pytest.mark.parametrize("init", FILLS, ids=lambda init: type(init).__name__)
@pytest.mark.parametrize("plan", CUTS, ids=lambda plan: f"{plan.mesh} {plan.shard}")
def test_the_slices_products_sum_to_the_product(init, plan):
    """What the chips hold, multiplied and added by numpy, against the operands of the user."""
    spec = MatmulSpec(15, 15, 60, a=init, b=init)
    if not plan.uneven:
        spec = spec.padded_k(8 * plan.chips)
    program = shard(compile(spec, TOKEN), plan, TOKEN)
    total = np.zeros((15, 15), dtype=int)
    for a, b in zip(
        on_every_chip(program, "a", "tensor"), on_every_chip(program, "b", "tensor"), strict=True
    ):
        rows, cols = (slice(begin, begin + count) for begin, count in (
            (a.part.row, a.rows), (b.part.col, b.cols)
        ))  # fmt: skip
        left, right = (elements(t.init, *program.real_shape(t)) for t in (a, b))
        total[rows, cols] += left @ right
    assert np.array_equal(total, elements(init, 15, 60) @ elements(init, 60, 15))


def test_what_the_host_supplies_is_supplied_to_each_slice():
    program = shard(compiled(), PLAN, TOKEN)
    assert {tensor.init for tensor in program.tensors} == {External()}


def test_narrow_ranges_allow_a_long_contraction_on_every_chip():
    """A slice is as narrow as the whole: 2**18 products of [-1, 1] fit anywhere."""
    narrow = ValueRange(-1, 1)
    spec = MatmulSpec(8, 8, 2**18, a_range=narrow, b_range=narrow)
    program = shard(compile(spec, TOKEN), ShardPlan(2), TOKEN)
    assert program.tensor_by_name["c1.a"].value_range == narrow
    assert program.tensor_by_name["c"].value_range == ValueRange(-(2**18), 2**18)


def test_padding_beyond_the_elements_of_a_slice_overflows_nothing():
    spec = MatmulSpec(1, 1, 131_071, k_pad=131_071 * 7 + 56)
    target = get("token-mesh", memory_bytes=2**26)
    program = shard(lower(spec, target), ShardPlan(2), target)
    assert program.tensor_by_name["c0.a"].cols == (131_071 * 8 + 56) // 2
