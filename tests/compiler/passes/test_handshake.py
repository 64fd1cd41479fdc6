"""Hand-offs are spelled by where the data travels, and kept where they are set."""

import pytest

from compiler.errors import (
    NoCrossChipHandoffError,
    NoHandoffError,
    PassError,
    ShardError,
    SharedLinkBarrierError,
)
from compiler.ir.choice import Chooser
from compiler.ir.edge import Barrier, Fifo, Semaphore, Token, ValidReady
from compiler.ir.mesh import Mesh
from compiler.passes.handshake import handshake
from compiler.passes.partition import partition
from compiler.passes.place import place
from compiler.passes.route import route
from compiler.passes.tile import tile
from compiler.shard_plan import ShardPlan
from compiler.targets import get
from tests.compiler.programs import TOKEN, changed, lowered, partitioned

ONE = place(lowered(), TOKEN)
FOUR = place(partitioned(4), TOKEN)
CROSSING = [edge for edge in FOUR.edges if FOUR.crosses(edge)]


def blank(program):
    for edge in program.edges:
        program = changed(program, edge.name, handoff=None)
    return program


def handoffs(program, target) -> tuple[list, list]:
    """Hand-offs inside chips and between them."""
    edges = handshake(program, target).edges
    local = [edge.handoff for edge in edges if not program.crosses(edge)]
    return local, [edge.handoff for edge in edges if program.crosses(edge)]


@pytest.mark.parametrize(
    ("provided", "local", "crossing"),
    [
        (("ValidReady", "Token"), ValidReady(), Token()),
        (("Fifo", "Token"), Fifo(), Token()),
        (("Fifo", "Barrier"), Fifo(), Barrier("tree_reduce")),
        (("Barrier", "Token", "Fifo", "ValidReady"), ValidReady(), Token()),
    ],
)
def test_edges_take_the_preferred_handoff_of_their_locality(provided, local, crossing):
    inside, between = handoffs(blank(FOUR), get("token-mesh", handoffs=provided))
    assert set(inside) == {local}
    assert between == [crossing] * 3


def test_each_semaphore_handoff_has_a_pair_of_its_own():
    program = handshake(blank(FOUR), get("semaphore-mesh"))
    pairs = [edge.handoff for edge in program.edges if isinstance(edge.handoff, Semaphore)]
    assert len(pairs) == len(CROSSING)
    names = [name for pair in pairs for name in (pair.ready, pair.valid)]
    assert len(set(names)) == 2 * len(pairs)


@pytest.mark.parametrize(
    ("name", "handoff"),
    [
        ("c1.load_a->c1.matmul", Fifo()),
        ("c1.matmul->c0.recv_0", Barrier()),
        ("c1.matmul->c0.recv_0", Semaphore("go", "done")),
    ],
)
def test_a_handoff_that_is_set_is_kept(name, handoff):
    program = handshake(changed(FOUR, name, handoff=handoff), TOKEN)
    kept = {edge.name: edge.handoff for edge in program.edges}
    assert kept.pop(name) == handoff
    assert set(kept.values()) == {ValidReady(), Token()}
    by = {edge.name: edge.handoff.by for edge in program.edges}
    assert by.pop(name) is Chooser.HAND
    assert set(by.values()) == {Chooser.COMPILER}


GRID = Mesh(row=2, col=3)
BARRIER = get("token-mesh", handoffs=("ValidReady", "Barrier"))


@pytest.mark.parametrize("result", ["home", "all"])
@pytest.mark.parametrize("reduce", ["star", "tree"])
@pytest.mark.parametrize("axis", ["row", "col"])
def test_each_collective_has_a_barrier_of_its_own_that_its_chips_alone_wait_at(
    axis, reduce, result
):
    plan = ShardPlan(GRID, reduce, shard={"k": axis}, result=result)
    program = partition(lowered(16, 16, 96), plan, BARRIER)
    program = handshake(place(program, BARRIER), BARRIER)
    waiting: dict[str, set[int]] = {}
    for edge in program.edges:
        if program.crosses(edge):
            ends = (program.stage_by_name[name].chip for name in (edge.source, edge.destination))
            waiting.setdefault(edge.handoff.group, set()).update(ends)
    groups = {collective.name: set(collective.chips) for collective in program.collectives}
    assert waiting == groups
    assert len(groups) == (1 if result == "home" else 2) * len(list(GRID.groups(axis)))


def test_the_way_over_other_chips_belongs_to_the_collective_that_it_leads_to():
    edge = FOUR.edge_by_buffer["c3.partial"]
    program = place(route(tile(changed(FOUR, edge.name, via=(1,))), BARRIER), BARRIER)
    handoffs = [e.handoff for e in handshake(program, BARRIER).edges if program.crosses(e)]
    assert handoffs == [Barrier("tree_reduce")] * 4


def test_spelling_again_changes_nothing():
    for target in (TOKEN, get("semaphore-mesh")):
        once = handshake(blank(FOUR), target)
        assert handshake(once, target) == once


def test_a_target_without_a_local_handoff_is_refused():
    with pytest.raises(NoHandoffError) as refusal:
        handshake(ONE, get("token-mesh", handoffs=("Token",)))
    error = refusal.value
    assert isinstance(error, PassError)
    assert (error.target, error.edge) == ("token-mesh", "load_a->matmul")
    assert str(error) == (
        "target 'token-mesh' has no local hand-off for edge 'load_a->matmul'; "
        "it must provide Fifo or ValidReady"
    )


def test_a_target_without_a_crossing_handoff_is_refused():
    with pytest.raises(NoCrossChipHandoffError) as refusal:
        handshake(FOUR, get("token-mesh", handoffs=("ValidReady",)))
    assert isinstance(refusal.value, ShardError)
    assert (refusal.value.target, refusal.value.provided) == ("token-mesh", ("ValidReady",))


def test_edges_that_share_a_link_cannot_wait_at_a_barrier():
    """Chip 2 sends over chip 1, which sends its own sum over the same link."""
    edge = FOUR.edge_by_buffer["c2.subtotal"]
    program = place(route(tile(changed(FOUR, edge.name, via=(1,))), BARRIER), BARRIER)
    with pytest.raises(SharedLinkBarrierError) as refusal:
        handshake(program, BARRIER)
    error = refusal.value
    assert isinstance(error, PassError)
    assert (error.edge, error.target) == ("c1.merge_c0->c0.recv_c1", BARRIER.name)
    assert str(error) == (
        f"edge 'c1.merge_c0->c0.recv_c1' carries the pages of several over one link, and target "
        f"{BARRIER.name!r} hands pages off at barriers, where each edge has one in a round; let "
        f"the edges take other ways, or use a target with tokens or semaphores"
    )
