"""Components: stages that edges join, and what passes in one of their rounds."""

import pytest

from compiler.flow.components import components
from compiler.flow.counts import page_counts
from compiler.ir.mesh import Mesh
from compiler.ir.stage import Load, MatmulTiles
from tests.compiler.flow.taking_turns import merged
from tests.compiler.programs import compiled, sharded, spread

MESH = Mesh(row=2, col=2)
SPREAD = {
    "k": spread(mesh=MESH, shard=(("k", "col"),)),
    "m, n": spread(mesh=MESH, shard=(("m", "row"), ("n", "col"))),
    "m, k uneven": spread(40, 16, 64, mesh=MESH, shard=(("m", "row"), ("k", "col")), uneven=True),
}


@pytest.mark.parametrize("program", [compiled(), sharded(4), sharded(5, "star")])
def test_chips_that_reduce_are_one_component(program):
    (part,) = components(program)
    assert {stage.name for stage in part.stages} == program.stage_by_name.keys()
    assert part.rounds == 4
    operands = {
        name for stage in program.stages if isinstance(stage.kind, Load) for name in stage.outs
    }
    assert part.share == dict.fromkeys(program.buffer_by_name.keys() - operands, 1)


@pytest.mark.parametrize(
    ("name", "chips", "rounds"),
    [
        ("k", [{0, 1}, {2, 3}], [16, 16]),
        ("m, n", [{0}, {1}, {2}, {3}], [4, 4, 4, 4]),
        ("m, k uneven", [{0, 1}, {2, 3}], [6, 4]),
    ],
)
def test_chips_that_no_edge_joins_are_apart(name, chips, rounds):
    parts = components(SPREAD[name])
    assert [{stage.chip for stage in part.stages} for part in parts] == chips
    assert [part.rounds for part in parts] == rounds


@pytest.mark.parametrize("name", SPREAD)
def test_stages_stand_behind_what_feeds_them(name):
    program = SPREAD[name]
    for part in components(program):
        place = {stage.name: index for index, stage in enumerate(part.stages)}
        for edge in program.edges:
            if edge.source in place:
                assert place[edge.source] < place[edge.destination]


@pytest.mark.parametrize(
    ("turns", "again", "rounds"),
    [
        ((0, 1), (0, 1), 8),
        ((0, 0, 1, 1), (0, 1), 4),
        ((0, 1), (0, 1, 1, 0, 0, 1, 1, 0), 2),
        ((0, 1) * 3 + (0, 1), (0, 1), 2),
    ],
)
def test_in_a_round_all_turns_come_whole(turns, again, rounds):
    program = merged(turns, again)
    (part,) = components(program)
    assert part.rounds == rounds
    each = 8 // rounds
    assert part.share == {
        "c0.partial": each,
        "c1.partial": each,
        "joint": 2 * each,
        "x": each,
        "y": each,
    }
    counts = page_counts(program)
    assert all(counts[name] == rounds * share for name, share in part.share.items())


def test_operand_buffers_have_what_each_product_takes():
    program = SPREAD["m, k uneven"]
    counts = page_counts(program)
    for part in components(program):
        for stage in part.stages:
            if isinstance(stage.kind, MatmulTiles):
                taken = part.rounds * stage.kind.block_count
                assert {counts[name] for name in stage.ins} == {taken}
