"""Partitioning along one axis: one program in which every partial sum comes home."""

from collections import Counter
from dataclasses import replace

import pytest

from compiler.errors import AlreadyShardedError
from compiler.ir.body import Add, Operand
from compiler.ir.buffer import BufferKind
from compiler.ir.layout import Partial, Replicate, Shard
from compiler.ir.mesh import Mesh
from compiler.ir.stage import Copy, Fold, MatmulTiles, Recv, Store
from compiler.passes.algorithms import ALGORITHMS
from compiler.passes.partition import partition
from compiler.pipeline import compile, shard
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from tests.compiler.programs import MANY_PORTS, compiled, lowered, partitioned, receives, sharded

over_many = pytest.mark.parametrize("chips", [2, 3, 4, 5, 6, 7, 12, 16])
either_way = pytest.mark.parametrize("reduce", ["star", "tree"])
WIDE = replace(MANY_PORTS, link_ports=30)
"""Ports for a star of sixteen, there and back."""


def program_over(chips: int, reduce: str):
    return partitioned(chips, reduce, target=MANY_PORTS)


def to_all(chips: int, reduce: str):
    plan = ShardPlan(chips, reduce, result="all")
    target = MANY_PORTS if chips < 9 else WIDE
    return partition(lowered(k=16 * chips, target=target), plan, target)


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
        case Copy():
            return contributions(program, producer.ins[0])
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
    assert shard(program, ShardPlan(1), program.target) is program


def test_one_chip_of_another_mesh_or_target_is_made_anew():
    program = compiled()
    mesh = Mesh(row=1, col=1)
    assert shard(program, ShardPlan(mesh, shard={}), MANY_PORTS).mesh == mesh
    assert shard(program, ShardPlan(1), WIDE).target == WIDE


def test_a_program_of_several_chips_is_not_taken_for_one_of_one():
    program = sharded(2)
    with pytest.raises(AlreadyShardedError):
        shard(program, ShardPlan(1), MANY_PORTS)


def test_axes_of_long_names_make_no_name_that_is_too_long():
    names = [letter * 32 for letter in "abc"]
    plan = ShardPlan(Mesh(**dict.fromkeys(names, 2)), shard={"k": names[1]}, result="all")
    program = shard(compiled(), plan, MANY_PORTS)
    assert program.name == f"{compiled().name}_mesh8_tree_all"


def test_one_chip_in_another_mesh_is_as_if_compiled_for_it():
    spec, plan = MatmulSpec(8, 8, 16), ShardPlan(Mesh(row=1, col=1), shard={"k": "col"})
    program = shard(compile(spec, MANY_PORTS), plan, MANY_PORTS)
    assert program.mesh == Mesh(row=1, col=1)
    assert program == compile(spec, MANY_PORTS, plan)


@pytest.mark.parametrize(
    "plan",
    [
        ShardPlan(1),
        ShardPlan(1, "star", result="all", uneven=True),
        ShardPlan(Mesh(row=1, col=1), shard={"m": "row", "k": "col"}),
    ],
    ids=lambda plan: str(plan.mesh),
)
def test_a_plan_for_one_chip_changes_no_name(plan):
    program = partition(lowered(), plan, MANY_PORTS)
    assert program.name == lowered().name
    assert program.mesh == plan.mesh
    for group in ("tensors", "stages", "buffers", "edges"):
        names = [record.name for record in getattr(program, group)]
        assert names == [record.name for record in getattr(lowered(), group)]
    assert program.collectives == ()


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


@over_many
@either_way
def test_every_receive_lands_in_a_buffer_of_its_own_chip_that_the_fold_reads(chips, reduce):
    program = program_over(chips, reduce)
    for recv in receives(program):
        (landing,) = recv.outs
        (edge,) = program.edges_by_source[recv.name]
        fold = program.stage_by_name[edge.destination]
        assert fold.site == recv.site
        assert landing in fold.ins
        assert chip_of(landing) == fold.chip


@over_many
@either_way
def test_a_fold_adds_its_own_product_first_and_then_what_arrives_in_order(chips, reduce):
    program = program_over(chips, reduce)
    plan = ALGORITHMS[reduce](chips)
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
@pytest.mark.parametrize("made", [program_over, to_all])
def test_every_buffer_says_what_it_holds(chips, reduce, made):
    program = made(chips, reduce)
    for buffer in program.buffers:
        if buffer.name.endswith("_pages"):
            assert buffer.holds == ((Shard("k"),),)
            continue
        held = tuple(sorted(contributions(program, buffer.name)))
        whole = held == tuple(range(chips))
        assert buffer.holds == (((Replicate() if whole else Partial(held)),),)


@over_many
@either_way
def test_slices_of_the_operands_follow_one_another_and_the_output_stays_whole(chips, reduce):
    whole = lowered(k=16 * chips, target=MANY_PORTS)
    program = program_over(chips, reduce)
    for operand, place in (("a", lambda first: (0, first)), ("b", lambda first: (first, 0))):
        for chip in range(chips):
            piece = program.tensor_by_name[f"c{chip}.{operand}"]
            assert (piece.rows, piece.cols, piece.chip) == (16, 16, chip)
            assert (piece.value, (piece.part.row, piece.part.col)) == (operand, place(16 * chip))
            assert piece.value_range == whole.tensor_by_name[operand].value_range
            assert piece.orientation == whole.tensor_by_name[operand].orientation
    assert program.tensor_by_name["c"] == whole.tensor_by_name["c"]
    assert len(program.tensors) == 2 * chips + 1
    assert program.claim == whole.claim


@over_many
@either_way
@pytest.mark.parametrize("made", [program_over, to_all])
def test_names_are_unique(chips, reduce, made):
    program = made(chips, reduce)
    for group in (program.tensors, program.stages, program.buffers, program.edges):
        names = [record.name for record in group]
        assert len(set(names)) == len(names)


@over_many
@either_way
def test_the_collective_is_named_with_all_its_stages(chips, reduce):
    program = program_over(chips, reduce)
    (collective,) = program.collectives
    assert (collective.name, collective.kind) == (f"{reduce}_reduce", "reduce")
    assert (collective.algorithm, collective.home) == (reduce, 0)
    assert (collective.value, collective.axis) == ("c", "tp")
    assert collective.chips == tuple(range(chips))
    reducing = [s.name for s in program.stages if isinstance(s.kind, Recv | Fold)]
    assert list(collective.stages) == reducing


@over_many
@either_way
def test_all_chips_are_the_same_but_for_the_reduction(chips, reduce):
    program = program_over(chips, reduce)
    common = {}
    for view in program.chips:
        common[view.chip] = [
            (str(stage.kind).replace(f"c{view.chip}.", ""), stage.engine, stage.site.x)
            for stage in view.stages
            if not isinstance(stage.kind, Recv | Fold | Store)
        ]
        assert len(common[view.chip]) == 3
    assert all(stages == common[0] for stages in common.values())
    assert {stage.chip for stage in program.stages if isinstance(stage.kind, Store)} == {0}


# --- The sum on every chip ------------------------------------------------------------------------


@over_many
@either_way
def test_every_chip_stores_the_sum_of_every_chips_product(chips, reduce):
    program = to_all(chips, reduce)
    stores = [stage for stage in program.stages if isinstance(stage.kind, Store)]
    assert [store.chip for store in stores] == list(range(chips))
    for store in stores:
        assert contributions(program, store.ins[0]) == Counter(range(chips))
        output = program.tensor_by_name[store.kind.tensor]
        assert (output.name, output.chip) == (f"c{store.chip}.c", store.chip)
        assert (output.rows, output.cols, output.part.row, output.part.col) == (16, 16, 0, 0)


@over_many
@either_way
def test_the_whole_goes_back_the_way_that_its_parts_have_come(chips, reduce):
    program = to_all(chips, reduce)
    hops = Counter(
        (program.stage_by_name[e.source].chip, program.stage_by_name[e.destination].chip)
        for e in program.edges
        if program.crosses(e)
    )
    there = {(chip, above) for chip, above in enumerate(ALGORITHMS[reduce](chips).parent) if chip}
    assert hops == Counter(there | {(above, chip) for chip, above in there})


@over_many
@either_way
def test_a_chip_keeps_one_copy_and_sends_one_to_each_that_it_adds(chips, reduce):
    program = to_all(chips, reduce)
    for chip, children in enumerate(ALGORITHMS[reduce](chips).children):
        whole = "reduced" if chip == 0 else "landing_whole"
        store = program.stage_by_name[f"c{chip}.store_c"]
        if not children:
            assert f"c{chip}.copy" not in program.stage_by_name
            assert store.ins == (f"c{chip}.{whole}",)
            continue
        copy = program.stage_by_name[f"c{chip}.copy"]
        wholes = [f"c{chip}.whole_{index}" for index in range(len(children))]
        assert copy.ins == (f"c{chip}.{whole}",)
        assert list(copy.outs) == [f"c{chip}.kept", *wholes]
        assert store.ins == (f"c{chip}.kept",)
        kinds = [program.buffer_by_name[name].kind for name in copy.outs]
        assert kinds == [BufferKind.FIFO] + [BufferKind.INTERM] * len(children)
        assert [program.edge_by_buffer[name].destination for name in wholes] == [
            f"c{child}.recv_whole" for child in children
        ]


@over_many
@either_way
def test_reduction_and_broadcast_are_collectives_of_their_own(chips, reduce):
    program = to_all(chips, reduce)
    there, back = program.collectives
    assert (there.name, there.kind) == (f"{reduce}_reduce", "reduce")
    assert (back.name, back.kind) == (f"{reduce}_broadcast", "broadcast")
    for collective in (there, back):
        assert (collective.algorithm, collective.home) == (reduce, 0)
        assert collective.chips == tuple(range(chips))
    stages = {s.name for s in program.stages if isinstance(s.kind, Recv | Fold | Copy)}
    assert set(there.stages) | set(back.stages) == stages
    assert len(there.stages) + len(back.stages) == len(stages)
    assert {program.stage_by_name[name].kind for name in back.stages} <= {Recv(), Copy()}


@over_many
@either_way
def test_with_the_sum_on_every_chip_the_reduction_is_what_it_was(chips, reduce):
    home, everywhere = program_over(chips, reduce), to_all(chips, reduce)
    for stage in home.stages:
        if not isinstance(stage.kind, Store):
            assert everywhere.stage_by_name[stage.name] == stage
    assert everywhere.collectives[0] == home.collectives[0]


def test_the_name_says_how_it_is_sharded():
    assert partitioned(4).name == "matmul_16x16x64_tree4"
    assert partitioned(3, "star").name == "matmul_16x16x48_star3"
    assert to_all(4, "tree").name == "matmul_16x16x64_tree4_all"
