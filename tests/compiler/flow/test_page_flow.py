"""Page flow: what every page is said to hold is what it holds in a run."""

import gc
import weakref
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from compiler import targets
from compiler.flow.errors import FlowError
from compiler.flow.follower import PageFollower
from compiler.flow.page_flow import page_flow
from compiler.flow.tile_grid import contraction_blocks
from compiler.ir.body import Add, Body, Literal, Max, Operand, left_fold
from compiler.ir.edge import Edge
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Copy, Fold, Load, Map, MatmulTiles, Merge, Split, Stage, Store
from compiler.ir.tensor import Part
from compiler.ir.walk import Loop, Walk
from compiler.passes.lower import lower
from compiler.passes.partition import partition
from compiler.passes.tile import tile
from compiler.pipeline import compile
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from sim.interpreter import PageQueue, interpret
from tests.compiler.programs import changed, compiled, sharded

TILE = 4
TARGET = targets.get("token-mesh", tile=TILE, compute_engines=4)
RECTIFIER = Max(Operand(0), Literal(0))
MESH = Mesh(row=2, col=2)
PROGRAMS = [
    (MatmulSpec(8, 12, 16), None),
    (MatmulSpec(8, 12, 16), ShardPlan(2)),
    (MatmulSpec(7, 10, 19, k_pad=5), ShardPlan(3)),
    (MatmulSpec(8, 8, 32), ShardPlan(4, "star")),
    (MatmulSpec(8, 4, 32), ShardPlan(8)),
    (MatmulSpec(8, 8, 28), ShardPlan(3, result="all", uneven=True)),
    (MatmulSpec(12, 8, 16), ShardPlan(MESH, shard={"m": "row", "k": "col"}, uneven=True)),
    (MatmulSpec(8, 16, 16), ShardPlan(MESH, shard={"n": "row", "k": "col"}, result="all")),
    (MatmulSpec(8, 10, 16), ShardPlan(MESH, shard={"m": "row", "n": "col"}, uneven=True)),
]


def tile_of(matrix: np.ndarray, row: int, col: int) -> np.ndarray:
    block = matrix[row * TILE : (row + 1) * TILE, col * TILE : (col + 1) * TILE]
    return np.pad(block, [(0, TILE - block.shape[0]), (0, TILE - block.shape[1])])


@pytest.mark.parametrize(("spec", "plan"), PROGRAMS, ids=str)
def test_every_page_holds_what_it_is_said_to_hold(spec, plan, monkeypatch):
    program = compile(spec, TARGET, plan)
    passed: dict[str, list[np.ndarray]] = defaultdict(list)
    push = PageQueue.push
    monkeypatch.setattr(
        PageQueue, "push", lambda queue, page: (passed[queue.name].append(page), push(queue, page))
    )
    rng = np.random.default_rng(3)
    a, b = rng.integers(-128, 128, (spec.m, spec.k)), rng.integers(-128, 128, (spec.k, spec.n))
    interpret(program, a, b)
    flow = page_flow(program)
    assert flow.operands.keys() | flow.sums.keys() == passed.keys()

    def summed(pages, index):
        (row, col), intervals = pages.tiles.at(index), pages.adds_of(index).intervals
        return sum(
            times * tile_of(a, row, block) @ tile_of(b, block, col)
            for begin, end, times in intervals
            for block in range(begin, end)
        )

    for name, pages in flow.operands.items():
        assert pages.tiles.length == len(passed[name])
        for index, page in enumerate(passed[name]):
            tile, block = pages.tiles.at(index)
            said = tile_of(a, tile, block).T if pages.side == 0 else tile_of(b, block, tile)
            assert np.array_equal(page, said), (name, index)
    for name, places in flow.sums.items():
        assert sum(pages.length for pages in places) == len(passed[name])
        for index, page in enumerate(passed[name]):
            rounds, place = divmod(index, len(places))
            assert np.array_equal(page, summed(places[place], rounds)), (name, index)
    assert flow.stored.keys() == {s.name for s in program.stages if isinstance(s.kind, Store)}
    for stored in flow.stored.values():
        assert stored.misplaced is None
        assert stored.first_incomplete(-(-spec.k_total // TILE)) is None
    assert contraction_blocks(program) == -(-spec.k_total // TILE)


ONE, TWO = compiled(), sharded(2)


def walked(stage: str, *loops: tuple[int, int], program: Program = ONE) -> Program:
    walk = Walk(tuple(Loop(count, stride) for count, stride in loops))
    kind = program.stage_by_name[stage].kind
    return changed(program, stage, kind=replace(kind, walk=walk))


def folded(body: Body, program: Program = TWO) -> Program:
    return changed(program, "c0.fold", kind=Fold(body))


def mapped(program: Program = TWO) -> Program:
    """The partial sum of chip 1 is mapped before it is sent."""
    (edge,) = (edge for edge in program.edges if edge.buffer == "c1.partial")
    made = replace(program.buffer_by_name["c1.partial"], name="c1.mapped")
    early = Stage("c1.early", Map(RECTIFIER), ins=("c1.partial",), outs=("c1.mapped",))
    program = changed(program, edge.name, source="c1.early", buffer="c1.mapped")
    return replace(
        program,
        stages=(*program.stages, early),
        buffers=(*program.buffers, made),
        edges=(*program.edges, Edge("c1.matmul->c1.early", "c1.matmul", "c1.partial", "c1.early")),
    )


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
    parts = {"a": whole.tensor_by_name["a"], "b": whole.tensor_by_name["b"]}
    program = replace(
        TWO,
        tensors=tuple(
            t if t.value == "c" else replace(parts[t.value], name=t.name, chip=t.chip)
            for t in TWO.tensors
        ),
    )
    for chip in (0, 1):
        for load in ("load_a", "load_b"):
            walk = whole.stage_by_name[load].kind.walk
            kind = replace(program.stage_by_name[f"c{chip}.{load}"].kind, walk=walk)
            program = changed(program, f"c{chip}.{load}", kind=kind)
        program = changed(program, f"c{chip}.matmul", kind=MatmulTiles(4))
    return mapped(program)


def values(**changes: int) -> Program:
    """The values of the program have other extents."""
    graph = replace(
        ONE.graph,
        values=tuple(
            replace(
                value,
                rows=changes.get(value.dims[0], value.rows),
                cols=changes.get(value.dims[1], value.cols),
            )
            for value in ONE.graph.values
        ),
    )
    return replace(ONE, graph=graph)


def part(name: str, row: int, col: int, **changes: int) -> Program:
    return changed(TWO, name, part=Part(TWO.tensor_by_name[name].value, row, col), **changes)


def switched(*stages: Stage, program: Program = ONE, stored: str) -> Program:
    """What the product makes passes copies, merges and splits before it is stored."""
    program = changed(program, "store_c", ins=(stored,))
    return replace(program, stages=(*program.stages, *stages))


TWICE = Stage("copy", Copy(), ins=("partial",), outs=("one", "two"))


def merge(turns: tuple[int, ...], *ins: str, out: str = "joint", name: str = "merge") -> Stage:
    return Stage(name, Merge(turns), ins=ins, outs=(out,))


def split(turns: tuple[int, ...], *outs: str, source: str = "joint", name: str = "split") -> Stage:
    return Stage(name, Split(turns), ins=(source,), outs=outs)


@pytest.mark.parametrize(
    ("program", "rule", "text"),
    [
        (
            changed(ONE, "load_a", kind=Load("a")),
            "WalkMissing",
            "load 'load_a' has no walk",
        ),
        (
            walked("load_a", (3, 8), (2, 0), (8, 1)),
            "WalkLeavesTensor",
            "load 'load_a' reads page 23 of tensor 'a', which has 16",
        ),
        (
            walked("store_c", (2, 2), (3, 1)),
            "WalkLeavesTensor",
            "store 'store_c' writes page 4 of tensor 'c', which has 4",
        ),
        (
            part("c1.a", 0, 12),
            "PartAlignment",
            "tensor 'c1.a' does not begin at a tile of 'a': it is a[0, 12], and tiles are of 8",
        ),
        (
            part("c0.b", 0, 0, rows=12),
            "PartAlignment",
            "tensor 'c0.b' ends at element 12 of 'b', in the midst of a tile of 8",
        ),
        (
            changed(ONE, "load_a", kind=replace(ONE.stage_by_name["load_a"].kind, tensor="c")),
            "ProductOperand",
            "product 'matmul' multiplies 'c' by 'b'; the program claims to multiply 'a' by 'b'",
        ),
        (
            multiplies_a_product(),
            "ProductOperand",
            "product 'again' multiplies pages that are not loaded operands: a result by a result",
        ),
        (
            changed(ONE, "matmul", ins=("b_pages", "a_pages")),
            "ProductOperand",
            "product 'matmul' takes the right operand first and the left operand second",
        ),
        (
            changed(ONE, "matmul", kind=MatmulTiles(5)),
            "CountingImbalance",
            "product 'matmul' takes 5 pages per result from 32 pages of 'a' and 32 of 'b'",
        ),
        (
            changed(ONE, "matmul", kind=MatmulTiles()),
            "CountingImbalance",
            "product 'matmul' takes 0 pages per result from 32",
        ),
        (
            walked("load_a", (2, 8), (2, 0), (8, 0)),
            "ContractionOrder",
            "multiplies block 0 of 'a' along the contraction with block 1 of 'b', at page 1",
        ),
        (
            values(k=56),
            "ContractionOrder",
            "product 'matmul' adds blocks 0 to 7 of the contraction, which has 7",
        ),
        (
            changed(ONE, "matmul", kind=MatmulTiles(16)),
            "ContractionOrder",
            "product 'matmul' mixes tiles of 'b' of different results in one sum",
        ),
        (
            mapped(),
            "MapOfPartial",
            "map 'c1.early' applies max(op0, 0) to a partial sum; max(op0, 0) of a sum is not the "
            "sum of max(op0, 0)",
        ),
        (
            stores_an_operand(),
            "OperandPassedOn",
            "Store stage 'store_c' takes tiles of 'a' as if they were sums",
        ),
        (
            changed(ONE, "store_c", kind=Store("a", ONE.stage_by_name["store_c"].kind.walk)),
            "OutputStored",
            "store 'store_c' writes to tensor 'a', which is no part of 'c'",
        ),
        (
            walked(
                "c1.load_b",
                (2, 1),
                (2, 0),
                (2, 2),
                program=walked("c1.load_a", (2, 0), (2, 2), (2, 1), program=TWO),
            ),
            "ResultOrder",
            "fold 'c0.fold' adds pages that belong to different tiles of the output: it takes page "
            "1 for tile 1 of the output and for tile 2",
        ),
        (
            walked(
                "c1.load_b",
                (1, 0),
                (2, 1),
                (2, 2),
                program=walked("c1.load_a", (1, 2), (2, 0), (2, 1), program=TWO),
            ),
            "CountingImbalance",
            "fold 'c0.fold' adds 4 pages to 2",
        ),
        (
            adds_mapped_values(),
            "MapOfPartial",
            "fold 'c0.fold' adds values that a map has changed",
        ),
        (
            folded(Max(Operand(0), Operand(1))),
            "FoldOfSums",
            "fold 'c0.fold' combines partial sums by max(op0, op1), which is no sum",
        ),
        (
            folded(Add(left_fold(2), Literal(1))),
            "FoldOfSums",
            "fold 'c0.fold' combines partial sums by 1, which is no sum",
        ),
        (
            replace(ONE, stages=ONE.stages[1:]),
            "BufferUnfilled",
            "stage 'matmul' takes from buffer 'a_pages', which nothing fills",
        ),
        (
            switched(TWICE, merge((0, 1, 1), "one", "two"), stored="joint"),
            "CountingImbalance",
            "merge 'merge' passes pages of 'two' in another proportion than the stages that it is",
        ),
    ],
)
def test_pages_that_do_not_belong_together_are_named(program, rule, text):
    with pytest.raises(FlowError) as refusal:
        PageFollower(program).follow()
    assert refusal.value.rule == rule
    assert text in str(refusal.value)
    assert repr(refusal.value.subject) in str(refusal.value)
    with pytest.raises(FlowError) as listed:
        PageFollower(program, loops=False).follow()
    assert str(listed.value) == str(refusal.value)


def test_turns_that_cannot_be_followed_are_refused(monkeypatch):
    stages = (TWICE, merge((0, 1), "one", "two"), split((0, 1, 0), "three", "four"))
    monkeypatch.setattr("compiler.ir.limits.TURNS", 5)
    with pytest.raises(FlowError, match="come whole only after more than 5 pages"):
        PageFollower(switched(*stages, stored="four")).follow()
    monkeypatch.setattr("compiler.ir.limits.TURNS", 6)
    with pytest.raises(FlowError, match="makes 4 pages, but they pass in rounds of 3"):
        PageFollower(switched(*stages, stored="four")).follow()


def test_a_split_deals_the_pages_of_one_stream():
    """Of four results, by turns 0 1 1 0, the second and third pass the longer way."""
    stages = (split((0, 1, 1, 0), "one", "two", source="partial"),)
    program = switched(*stages, merge((0, 1, 1, 0), "one", "two"), stored="joint")
    flow = PageFollower(program).follow()
    tiles = {name: [tile for at in flow.sums[name] for tile in at.tiles] for name in flow.sums}
    assert (tiles["one"], tiles["two"]) == ([(0, 0), (1, 1)], [(0, 1), (1, 0)])
    assert flow.stored["store_c"].misplaced is None
    swapped = switched(*stages, merge((1, 0, 0, 1), "one", "two"), stored="joint")
    assert PageFollower(swapped).follow().stored["store_c"].misplaced == 0


def test_streams_come_apart_as_the_turns_at_both_ends_say():
    """Half of the pages are mapped. What turns are swapped at one end comes out the other way."""
    stages = (
        TWICE,
        Stage("map", Map(RECTIFIER), ins=("two",), outs=("mapped",)),
        merge((0, 1), "one", "mapped"),
    )
    for turns, expected in (((0, 1), ("", "max(op0, 0)")), ((1, 0), ("max(op0, 0)", ""))):
        program = switched(*stages, split(turns, "three", "four"), stored="four")
        sums = PageFollower(program).follow().sums
        assert [[at.mapped for at in sums[name]] for name in ("three", "four")] == [
            [mapped] for mapped in expected
        ]


def test_streams_of_a_merge_of_merges_come_apart_in_two_steps():
    """Of four pages, two are of the first stream: it may leave first, or the other two may."""
    copy = Stage("copy", Copy(), ins=("partial",), outs=("one", "two", "three"))
    stages = (
        copy,
        Stage("map", Map(RECTIFIER), ins=("two",), outs=("mapped",)),
        merge((0, 1), "mapped", "three", out="pair", name="first"),
        merge((0, 1, 1), "one", "pair", name="second"),
    )
    program = switched(
        *stages,
        split((0, 1, 1), "four", "five", name="near"),
        split((0, 1), "six", "seven", source="five", name="far"),
        stored="seven",
    )
    sums = PageFollower(program).follow().sums
    mapped = {name: [at.mapped for at in sums[name]] for name in sums}
    assert mapped["joint"] == ["", "max(op0, 0)", ""]
    assert sum(at.length for at in sums["joint"]) == 12
    assert [mapped[name] for name in ("four", "six", "seven")] == [[""], ["max(op0, 0)"], [""]]


def test_results_that_add_different_blocks_are_told_apart_while_they_are_few(monkeypatch):
    """Two results of four blocks where one of eight is due: each adds one half."""
    halved = changed(ONE, "matmul", kind=MatmulTiles(4))
    partial = PageFollower(halved).follow().sums["partial"][0]
    assert [partial.adds_of(page).intervals for page in (0, 1, 2)] == [
        ((0, 4, 1),),
        ((4, 8, 1),),
        ((0, 4, 1),),
    ]
    monkeypatch.setattr("compiler.ir.limits.INTERVALS", 31)
    with pytest.raises(FlowError, match="product 'matmul' adds other blocks to each of its resu"):
        PageFollower(halved).follow()
    PageFollower(ONE).follow()


def test_pages_that_no_loops_tell_are_listed_while_they_are_few(monkeypatch):
    """A store that goes over the ends of rows in the midst of its loops: 0 2 4, 1 3 5."""
    program = walked("store_c", (2, 1), (3, 2), program=compiled(16, 24, 64))
    flow = PageFollower(program).follow()
    assert list(flow.stored["store_c"].written) == [divmod(p, 3) for p in (0, 2, 4, 1, 3, 5)]
    assert flow.stored["store_c"].misplaced == 1
    monkeypatch.setattr("compiler.ir.limits.ENUMERATED_PAGES", 11)
    with pytest.raises(FlowError, match="must be followed page by page, and the program has over"):
        PageFollower(program).follow()
    monkeypatch.setattr("compiler.ir.limits.ENUMERATED_PAGES", 12)
    PageFollower(program).follow()


def test_blocks_that_lie_too_far_apart_are_refused(monkeypatch):
    monkeypatch.setattr("compiler.ir.limits.INTERVALS", 3)
    program = changed(ONE, "matmul", kind=MatmulTiles(4))
    for load, step in (("load_a", 2), ("load_b", 4)):
        program = walked(load, (4, 0), (4, step), program=program)
    with pytest.raises(FlowError, match="stage 'matmul' adds blocks of the contraction that lie"):
        PageFollower(program).follow()
    monkeypatch.setattr("compiler.ir.limits.INTERVALS", 4)
    PageFollower(program).follow()


def test_blocks_that_lie_too_far_apart_are_refused_over_all_sums(monkeypatch):
    """Each chip adds every other of its four blocks twice: two intervals, and four in the fold."""
    program = sharded(2, k=64)
    for chip in (0, 1):
        for load, step in (("load_a", 2), ("load_b", 4)):
            program = walked(f"c{chip}.{load}", (4, 0), (2, 0), (2, step), program=program)
    for intervals, text in ((1, "c0.matmul"), (4, "c0.fold")):
        monkeypatch.setattr("compiler.ir.limits.INTERVALS", intervals)
        with pytest.raises(FlowError, match=f"stage '{text}' adds blocks of the contraction"):
            PageFollower(program).follow()
    monkeypatch.setattr("compiler.ir.limits.INTERVALS", 5)
    PageFollower(program).follow()


def test_a_flow_is_found_once_and_forgotten_with_its_program():
    program = replace(ONE, name="of its own").canonical
    assert page_flow(program) is page_flow(program)
    assert page_flow(replace(program)) is not page_flow(program)
    shuffled = replace(program, stages=program.stages[::-1])
    assert page_flow(shuffled) is page_flow(shuffled)
    gone = weakref.ref(program)
    del program, shuffled
    gc.collect()
    assert gone() is None


def test_what_is_refused_once_is_refused_again():
    program = changed(ONE, "matmul", kind=MatmulTiles(16))
    refusals = []
    for _ in range(2):
        with pytest.raises(FlowError) as refusal:
            page_flow(program)
        refusals.append(refusal.value)
    one, other = refusals
    assert one is not other
    assert (one.rule, one.subject, str(one)) == (other.rule, other.subject, str(other))


@pytest.mark.parametrize("plan", [None, ShardPlan(16, "star"), ShardPlan(16, result="all")])
def test_what_is_large_costs_what_is_small(plan):
    """5.5e11 pages of each operand; nothing of it is listed."""
    target = targets.get("token-mesh", tile=8, link_ports=32)
    program = lower(MatmulSpec(65536, 65536, 65536), target)
    program = tile(partition(program, plan, target) if plan else program)
    flow = PageFollower(program).follow()
    for stored in flow.stored.values():
        assert stored.first_incomplete(8192) is None
        assert stored.misplaced is None
        assert stored.length == 2**26
