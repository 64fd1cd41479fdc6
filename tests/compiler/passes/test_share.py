"""Edges between the same two chips take turns on one link, in proportion to their pages."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.flow.counts import page_counts
from compiler.ir.buffer import BufferKind, Depth
from compiler.ir.edge import Token
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Fold, MatmulTiles, Merge, Recv, Split
from compiler.passes.forward import forwarded
from compiler.passes.partition import partition
from compiler.passes.route import route
from compiler.passes.share import shared
from compiler.passes.tile import tile
from compiler.shard_plan import ShardPlan
from tests.compiler.programs import MANY_PORTS, TOKEN, changed, lowered, partitioned


def passing(program: Program, ways: dict[int, tuple[int, ...]]) -> Program:
    """The program with its walks, in which what chips send is told to pass others."""
    program = tile(program)
    for sender, via in ways.items():
        program = changed(program, program.edge_by_buffer[f"c{sender}.partial"].name, via=via)
    return program


CHAIN = {2: (1,), 3: (2, 1), 4: (3, 2, 1)}
"""A star of five over nothing but neighbours."""
WAYS = [{2: (1,)}, {2: (1,), 3: (1,)}, {3: (2, 1), 4: (2, 1)}, {4: (2, 1), 3: (2, 1)}, CHAIN]


def products_in(program: Program, buffer: str, page: int) -> Counter[int]:
    """Whose products are summed in a page, found by walking back over the turns."""
    (stage,) = (stage for stage in program.stages if buffer in stage.outs)
    match stage.kind:
        case MatmulTiles():
            return Counter([stage.chip])
        case Recv():
            (edge,) = program.edges_by_destination[stage.name]
            return products_in(program, edge.buffer, page)
        case Fold():
            return sum((products_in(program, name, page) for name in stage.ins), Counter())
        case Merge(turns):
            turn = turns[page % len(turns)]
            earlier = sum(turns[p % len(turns)] == turn for p in range(page))
            return products_in(program, stage.ins[turn], earlier)
        case Split(turns):
            port = stage.outs.index(buffer)
            pages = [p for p in range(len(turns) * (page + 1)) if turns[p % len(turns)] == port]
            return products_in(program, stage.ins[0], pages[page])


@pytest.mark.parametrize("ways", [{}, {3: (5,)}, {3: (5, 1)}], ids=str)
def test_where_each_hop_has_one_edge_nothing_changes(ways):
    program = forwarded(passing(partitioned(6), ways))
    assert shared(program) is program


@pytest.mark.parametrize("ways", WAYS, ids=str)
def test_every_hop_is_crossed_by_one_edge_and_has_one_link(ways):
    program = route(passing(partitioned(5, "star"), ways), MANY_PORTS)
    hops = Counter(
        (program.stage_by_name[e.source].chip, program.stage_by_name[e.destination].chip)
        for e in program.edges
        if program.crosses(e)
    )
    assert set(hops.values()) == {1}
    assert len(program.links) == len(hops)
    if ways == CHAIN:
        assert set(hops) == {(1, 0), (2, 1), (3, 2), (4, 3)}


@pytest.mark.parametrize("ways", WAYS, ids=str)
def test_names_are_unique(ways):
    program = route(passing(partitioned(5, "star"), ways), MANY_PORTS)
    for group in (program.stages, program.buffers, program.edges, program.links):
        names = [record.name for record in group]
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("ways", WAYS, ids=str)
def test_what_comes_home_is_what_came_home_before(ways):
    before = tile(partitioned(5, "star"))
    program = route(passing(partitioned(5, "star"), ways), MANY_PORTS)
    for fold in (stage for stage in before.stages if isinstance(stage.kind, Fold)):
        assert program.stage_by_name[fold.name] == fold
        for page in range(4):
            for name in fold.ins:
                assert products_in(program, name, page) == products_in(before, name, page)


@pytest.mark.parametrize("ways", WAYS, ids=str)
def test_no_page_is_lost_or_made_on_the_way(ways):
    before = page_counts(tile(partitioned(5, "star")))
    after = page_counts(route(passing(partitioned(5, "star"), ways), MANY_PORTS))
    assert before.items() <= after.items()


@pytest.mark.parametrize("ways", WAYS, ids=str)
def test_merges_split_again_and_say_what_they_hold_by_turns(ways):
    program = route(passing(partitioned(5, "star"), ways), MANY_PORTS)
    merges = [stage for stage in program.stages if isinstance(stage.kind, Merge)]
    assert merges
    for merge in merges:
        (merged,) = merge.outs
        recv = program.stage_by_name[program.edge_by_buffer[merged].destination]
        split = program.stage_by_name[program.edge_by_buffer[recv.outs[0]].destination]
        assert isinstance(recv.kind, Recv)
        assert split.kind == Split(merge.kind.turns)
        holds = tuple(program.buffer_by_name[merge.ins[t]].holds[0] for t in merge.kind.turns)
        for name, kind in ((merged, BufferKind.INTERM), (recv.outs[0], BufferKind.FIFO)):
            buffer = program.buffer_by_name[name]
            assert (buffer.holds, buffer.kind, buffer.depth) == (holds, kind, None)
        for name in (*merge.ins, *split.outs):
            leaves = program.crosses(program.edge_by_buffer[name])
            assert program.buffer_by_name[name].kind is (
                BufferKind.INTERM if leaves else BufferKind.FIFO
            )
        assert merge.site == program.stage_by_name[program.edge_by_buffer[merged].source].site
        assert recv.site == split.site


@given(rows=st.integers(2, 5), more=st.integers(0, 12), n=st.integers(1, 20))
def test_turns_are_in_proportion_to_the_pages_and_spread_over_the_round(rows, more, n):
    """Each row of chips sums a slice of m of its own, and all send over the link of the first."""
    plan = ShardPlan(Mesh(row=rows, col=2), shard={"m": "row", "k": "col"}, uneven=True)
    program = partition(lowered(8 * (rows + more), n, 16), plan, MANY_PORTS)
    ways = {2 * row + 1: (1, 0) for row in range(1, rows)}
    program = shared(forwarded(passing(program, ways)))
    counts = page_counts(program)
    merge = program.stage_by_name["c1.merge_c0"]
    turns, pages = merge.kind.turns, [counts[name] for name in merge.ins]
    assert len(pages) == rows
    assert counts["c1.merged_c0"] == sum(pages)
    for edge, count in enumerate(pages):
        assert turns.count(edge) * sum(pages) == count * len(turns)
        for end in range(len(turns) + 1):
            assert abs(turns[:end].count(edge) * sum(pages) - count * end) < sum(pages)


def test_what_somebody_chose_for_the_ends_stays():
    program = passing(partitioned(4, "star"), {2: (1,), 3: (1,)})
    program = changed(program, "c1.partial", depth=Depth(5))
    program = changed(program, "c0.landing_2", depth=Depth(6))
    program = changed(program, program.edge_by_buffer["c1.partial"].name, handoff=Token())
    program = route(program, TOKEN)
    assert program.buffer_by_name["c1.partial"].depth == Depth(5)
    assert program.buffer_by_name["c0.landing_2"].depth == Depth(6)
    assert program.edge_by_buffer["c1.partial"].handoff is None
    assert program.edge_by_buffer["c1.merged_c0"].handoff == Token()


def test_routing_again_changes_nothing():
    for ways in WAYS:
        once = route(passing(partitioned(5, "star"), ways), MANY_PORTS)
        assert route(once, MANY_PORTS) == once
