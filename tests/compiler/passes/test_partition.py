"""Sharding: one program in which every partial sum comes home."""

from collections import Counter

import pytest

from compiler.ir.body import Add, Operand
from compiler.ir.buffer import BufferKind
from compiler.ir.distribution import Partial, Replicated, Sharded
from compiler.ir.stage import Fold, MatmulTiles, Recv, Store
from compiler.passes.reduction import star, tree
from compiler.passes.shard import ShardPlan
from compiler.pipeline import shard
from tests.compiler.programs import MANY_PORTS, compiled, receives, sharded

REDUCTIONS = {"star": star, "tree": tree}

over_many = pytest.mark.parametrize("chips", [2, 3, 4, 5, 6, 7, 12, 16])
either_way = pytest.mark.parametrize("reduce", ["star", "tree"])


def program_over(chips: int, reduce: str):
    return sharded(chips, reduce, target=MANY_PORTS)


def chip_of(name: str) -> int:
    return int(name.split(".")[0].removeprefix("c"))


def contributions(program, buffer: str) -> Counter:
    """Which products' results a buffer's pages sum, found by walking back to the products."""
    (producer,) = (stage for stage in program.stages if buffer in stage.outs)
    match producer.kind:
        case MatmulTiles():
            return Counter([producer.site.chip])
        case Recv():
            (edge,) = program.edges_by_destination[producer.name]
            return contributions(program, edge.buffer)
        case Fold(body):
            return summed(program, producer.ins, body)


def summed(program, ins, body) -> Counter:
    match body:
        case Operand(index):
            return contributions(program, ins[index])
        case Add(left, right):
            return summed(program, ins, left) + summed(program, ins, right)


def test_one_chip_is_left_as_it_is():
    program = compiled()
    assert shard(program, ShardPlan(1), MANY_PORTS) is program


@over_many
@either_way
def test_what_is_stored_sums_every_chips_product_once(chips, reduce):
    program = program_over(chips, reduce)
    (store,) = (stage for stage in program.stages if isinstance(stage.kind, Store))
    assert contributions(program, store.ins[0]) == Counter(range(chips))


@over_many
@either_way
def test_there_is_one_receive_per_partial_sum_that_crosses(chips, reduce):
    program = program_over(chips, reduce)
    crossing = [edge for edge in program.edges if program.crosses(edge)]
    assert len(crossing) == chips - 1
    assert sorted(e.destination for e in crossing) == sorted(s.name for s in receives(program))
    assert {program.buffer_by_name[e.buffer].kind for e in crossing} == {BufferKind.INTERM}
    local = {edge.buffer for edge in program.edges} - {edge.buffer for edge in crossing}
    assert {program.buffer_by_name[name].kind for name in local} == {BufferKind.FIFO}


def test_sixteen_chips_are_crossed_fifteen_times():
    for reduce in ("star", "tree"):
        program = program_over(16, reduce)
        assert sum(program.crosses(edge) for edge in program.edges) == 15
        assert len(program.links) == 15


@over_many
@either_way
def test_every_receive_lands_in_a_buffer_of_its_own_site_that_the_fold_reads(chips, reduce):
    program = program_over(chips, reduce)
    for recv in receives(program):
        (landing,) = recv.outs
        assert program.buffer_by_name[landing].site == recv.site
        (edge,) = program.edges_by_source[recv.name]
        fold = program.stage_by_name[edge.destination]
        assert fold.site == recv.site
        assert landing in fold.ins


@over_many
@either_way
def test_a_fold_adds_its_own_product_first_and_then_what_arrives_in_order(chips, reduce):
    program = program_over(chips, reduce)
    plan = REDUCTIONS[reduce](chips)
    for chip, children in enumerate(plan.children):
        if not children:
            assert f"c{chip}.fold" not in program.stage_by_name
            continue
        fold = program.stage_by_name[f"c{chip}.fold"]
        text = "op0"
        for index in range(len(children)):
            text = f"({text} + op{index + 1})"
        assert str(fold.kind.body) == text
        senders = [
            chip_of(program.edges_by_destination[f"c{chip}.recv_{i}"][0].source)
            for i in range(len(children))
        ]
        assert senders == list(children)
        landings = [f"c{chip}.landing_{index}" for index in range(len(children))]
        assert list(fold.ins) == [f"c{chip}.partial", *landings]


@over_many
@either_way
def test_every_buffer_says_what_it_holds(chips, reduce):
    program = program_over(chips, reduce)
    for buffer in program.buffers:
        chip = chip_of(buffer.name)
        if buffer.name.endswith("_pages"):
            assert buffer.distribution == Sharded("k", chip, chips)
            continue
        held = tuple(sorted(contributions(program, buffer.name)))
        whole = held == tuple(range(chips))
        assert buffer.distribution == (Replicated() if whole else Partial(held, chips))
        assert whole == (buffer.name == "c0.reduced")


@over_many
@either_way
def test_slices_of_the_operands_follow_one_another_and_the_output_stays_whole(chips, reduce):
    program, whole = program_over(chips, reduce), compiled(k=16 * chips, target=MANY_PORTS)
    for operand, axis, shape in (("a", "cols", (16, 16)), ("b", "rows", (16, 16))):
        for chip in range(chips):
            piece = program.tensor_by_name[f"c{chip}.{operand}"]
            assert (piece.rows, piece.cols, piece.chip) == (*shape, chip)
            assert piece.slice_of.whole == operand
            assert (piece.slice_of.axis, piece.slice_of.index) == (axis, chip)
            assert piece.slice_of.count == chips
            assert piece.value_range == whole.tensor_by_name[operand].value_range
    assert program.tensor_by_name["c"] == whole.tensor_by_name["c"]
    assert len(program.tensors) == 2 * chips + 1
    assert program.claim == whole.claim


@over_many
@either_way
def test_names_are_unique(chips, reduce):
    program = program_over(chips, reduce)
    for group in (program.tensors, program.stages, program.buffers, program.edges, program.links):
        names = [record.name for record in group]
        assert len(set(names)) == len(names)


@over_many
@either_way
def test_the_collective_is_named_with_all_its_stages(chips, reduce):
    program = program_over(chips, reduce)
    (collective,) = program.collectives
    assert (collective.name, collective.kind) == (f"{reduce}_reduce", "reduce")
    assert (collective.algorithm, collective.home) == (reduce, 0)
    assert collective.chips == tuple(range(chips))
    reducing = [s.name for s in program.stages if isinstance(s.kind, Recv | Fold)]
    assert list(collective.stages) == reducing


@over_many
@either_way
def test_all_chips_are_the_same_but_for_the_reduction(chips, reduce):
    program = program_over(chips, reduce)
    common = {}
    for chip in range(chips):
        mine = [stage for stage in program.stages if stage.site.chip == chip]
        common[chip] = [
            (str(stage.kind).replace(f"c{chip}.", ""), stage.engine, stage.site.x, stage.site.y)
            for stage in mine
            if not isinstance(stage.kind, Recv | Fold | Store)
        ]
        assert len(common[chip]) == 3
    assert all(stages == common[0] for stages in common.values())
    assert {stage.site.chip for stage in program.stages if isinstance(stage.kind, Store)} == {0}


def test_the_name_says_how_it_is_sharded():
    assert sharded(4).name == "matmul_16x16x64_tree4"
    assert sharded(3, "star").name == "matmul_16x16x48_star3"
