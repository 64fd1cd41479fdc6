"""Page flow: what every page is said to hold is what it holds in a run."""

import random
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from compiler.check.page_flow import (
    FlowError,
    OperandPages,
    contraction_blocks,
    in_order,
    page_flow,
    sources_of,
)
from compiler.passes.shard import ShardPlan

from compiler.ir.body import Add, Literal, Max, Operand, left_fold
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Load, MatmulTiles
from compiler.ir.walk import Loop, Walk
from compiler.pipeline import compile, shard
from compiler.targets import get
from compiler.workload import MatmulSpec
from sim.interpreter import PageQueue, interpret
from tests.compiler.programs import changed, compiled, sharded
from tests.mutation.parts import with_map

TILE = 4
TARGET = get("token-mesh", tile=TILE, compute_engines=4)
RECTIFIER = Max(Operand(0), Literal(0))
PROGRAMS = [
    (MatmulSpec(8, 12, 16), ShardPlan(1)),
    (MatmulSpec(8, 12, 16), ShardPlan(2)),
    (MatmulSpec(7, 10, 19, k_pad=5), ShardPlan(3)),
    (MatmulSpec(8, 8, 32), ShardPlan(4, "star")),
    (MatmulSpec(8, 4, 32), ShardPlan(8)),
]


def tile_of(matrix: np.ndarray, row: int, col: int) -> np.ndarray:
    block = matrix[row * TILE : (row + 1) * TILE, col * TILE : (col + 1) * TILE]
    return np.pad(block, [(0, TILE - block.shape[0]), (0, TILE - block.shape[1])])


@pytest.mark.parametrize(("spec", "plan"), PROGRAMS, ids=str)
def test_every_page_holds_what_it_is_said_to_hold(spec, plan, monkeypatch):
    program = shard(compile(spec, TARGET), plan, TARGET)
    passed: dict[str, list[np.ndarray]] = defaultdict(list)
    push = PageQueue.push
    monkeypatch.setattr(
        PageQueue, "push", lambda queue, page: (passed[queue.name].append(page), push(queue, page))
    )
    rng = np.random.default_rng(3)
    a, b = rng.integers(-128, 128, (spec.m, spec.k)), rng.integers(-128, 128, (spec.k, spec.n))
    interpret(program, a, b)
    held, stored = page_flow(program, with_operands=True)
    assert held.keys() == passed.keys()
    for name, pages in held.items():
        for index, page in enumerate(passed[name]):
            if isinstance(pages, OperandPages):
                matrix = a if pages.side == "left" else b.T
                said = tile_of(matrix, pages.tile[index], pages.block[index])
                said = said if pages.side == "left" else said.T
            else:
                row, col = pages.row[index], pages.col[index]
                said = sum(
                    int(times) * tile_of(a, row, block) @ tile_of(b, block, col)
                    for block, times in enumerate(pages.times_of(index))
                )
            assert np.array_equal(page, said), (name, index)
    (sums,) = stored.values()
    assert (sums.times == 1).all()
    assert sums.times.shape[1] == contraction_blocks(program) == -(-spec.k_total // TILE)


@pytest.mark.parametrize("seed", range(5))
def test_stages_come_behind_all_that_feed_them_in_whatever_order_they_stand(seed):
    stages = list(sharded(8).stages)
    random.Random(seed).shuffle(stages)
    program = replace(sharded(8), stages=tuple(stages))
    filled: set[str] = set()
    for stage in in_order(program):
        assert filled.issuperset(sources_of(program, stage))
        filled.update(stage.outs)
    assert filled == {buffer.name for buffer in program.buffers}


ONE, TWO = compiled(), sharded(2)


def walked(stage: str, *loops: tuple[int, int], program: Program = ONE) -> Program:
    walk = Walk(tuple(Loop(count, stride) for count, stride in loops))
    kind = program.stage_by_name[stage].kind
    return changed(program, stage, kind=replace(kind, walk=walk))


def folded(body: object, program: Program = TWO) -> Program:
    return changed(program, "c0.fold", kind=Fold(body))


def mapped(buffer: str) -> Program:
    (edge,) = (edge for edge in TWO.edges if edge.buffer == buffer)
    return with_map(TWO, edge, RECTIFIER)


def stores_an_operand() -> Program:
    stages = (
        ONE.stage_by_name["load_a"],
        replace(ONE.stage_by_name["store_c"], ins=("a_pages",)),
    )
    edge = replace(ONE.edges[0], destination="store_c")
    return replace(ONE, stages=stages, edges=(edge,))


def multiplies_a_product() -> Program:
    """The product takes what another product has made of the same operands."""
    again = replace(ONE.stage_by_name["matmul"], name="again", ins=("partial", "partial"), outs=())
    return replace(ONE, stages=(*ONE.stages, again))


def adds_mapped_values() -> Program:
    """Chip 1 computes the whole product and maps it; the home adds that to its own."""
    whole = compiled(k=32)
    program = replace(TWO, tensors=whole.tensors)
    for chip in (0, 1):
        for load in ("load_a", "load_b"):
            program = changed(program, f"c{chip}.{load}", kind=whole.stage_by_name[load].kind)
        program = changed(program, f"c{chip}.matmul", kind=MatmulTiles(4))
    (edge,) = (edge for edge in program.edges if edge.buffer == "c1.partial")
    return with_map(program, edge, RECTIFIER)


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (changed(ONE, "load_a", kind=Load("a")), "load 'load_a' has no walk"),
        (
            walked("load_a", (3, 8), (2, 0), (8, 1)),
            "load 'load_a' reads page 23 of tensor 'a', which has 16",
        ),
        (
            changed(TWO, "c1.a", cols=12),
            "tensor 'c1.a' does not begin at a tile of 'a'",
        ),
        (
            replace(ONE, claim=replace(ONE.claim, left="z")),
            "load 'load_a' reads 'a', which is no operand of the claim",
        ),
        (
            multiplies_a_product(),
            "product 'again' multiplies pages that are not loaded operands",
        ),
        (
            changed(ONE, "matmul", ins=("b_pages", "a_pages")),
            "product 'matmul' takes the right operand first and the left operand second",
        ),
        (
            changed(ONE, "matmul", kind=MatmulTiles(5)),
            "product 'matmul' takes 5 pages per result from 32 pages of A and 32 of B",
        ),
        (
            changed(ONE, "matmul", kind=MatmulTiles()),
            "product 'matmul' takes 0 pages per result from 32",
        ),
        (
            walked("load_a", (2, 8), (2, 0), (8, 0)),
            "multiplies block 0 of A's contraction with block 1 of B's, at page 1",
        ),
        (
            replace(ONE, claim=replace(ONE.claim, k=56)),
            "product 'matmul' adds blocks 0 to 7 of the contraction, which has 7",
        ),
        (
            changed(ONE, "matmul", kind=MatmulTiles(16)),
            "product 'matmul' mixes tiles of B of different results in one sum",
        ),
        (
            mapped("c1.partial"),
            "map 'c1.matmul.map' applies max(op0, 0) to a partial sum; max(op0, 0) of a sum is "
            "not the sum of max(op0, 0)",
        ),
        (stores_an_operand(), "stage 'store_c' takes operand pages as if they were sums"),
        (
            walked(
                "c1.load_b",
                (2, 1),
                (2, 0),
                (2, 2),
                program=walked("c1.load_a", (2, 0), (2, 2), (2, 1), program=TWO),
            ),
            "fold 'c0.fold' adds pages that belong to different tiles of the output",
        ),
        (adds_mapped_values(), "fold 'c0.fold' adds values that a map has changed"),
        (
            folded(Max(Operand(0), Operand(1))),
            "fold 'c0.fold' combines partial sums by max(op0, op1), which is no sum",
        ),
        (
            folded(Add(left_fold(2), Literal(1))),
            "fold 'c0.fold' combines partial sums by 1, which is no sum",
        ),
        (
            replace(ONE, stages=ONE.stages[1:]),
            "stages 'matmul', 'store_c' feed each other in a circle",
        ),
    ],
)
def test_pages_that_do_not_belong_together_are_named(program, text):
    with pytest.raises(FlowError) as refusal:
        page_flow(program)
    assert text in str(refusal.value)


def test_results_that_add_different_blocks_are_told_apart_while_they_are_few(monkeypatch):
    """Two results of four blocks where one of eight is due: each adds one half."""
    halved = changed(ONE, "matmul", kind=MatmulTiles(4))
    held, _ = page_flow(halved)
    assert [held["partial"].times_of(page).tolist() for page in (0, 1)] == [
        [1, 1, 1, 1, 0, 0, 0, 0],
        [0, 0, 0, 0, 1, 1, 1, 1],
    ]
    monkeypatch.setattr("compiler.check.page_flow.MIXED_RESULTS", 8 * 8 - 1)
    with pytest.raises(FlowError, match="product 'matmul' adds other blocks to each of its resu"):
        page_flow(halved)
    page_flow(ONE)
