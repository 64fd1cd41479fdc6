"""An edge passes the chips that it is told to: each receives its pages and sends them on."""

from itertools import pairwise

import pytest

from compiler.errors import PassError, RouteError
from compiler.ir.buffer import BufferKind, Depth
from compiler.ir.edge import Barrier, Edge, Semaphore, Token
from compiler.ir.program import Program
from compiler.ir.stage import Recv
from compiler.passes.forward import forwarded
from tests.compiler.programs import changed, partitioned

STAR = partitioned(5, "star")


def passing(via: tuple[int, ...], sender: int = 4, **changes: object) -> Program:
    """A star of five in which what one chip sends is told to pass others."""
    edge = STAR.edge_by_buffer[f"c{sender}.partial"]
    return changed(STAR, edge.name, via=via, **changes)


def way(program: Program, buffer: str) -> list[Edge]:
    """The edges from a buffer on, as long as receives send on what they get."""
    found = [program.edge_by_buffer[buffer]]
    while isinstance((stage := program.stage_by_name[found[-1].destination]).kind, Recv):
        found.append(program.edge_by_buffer[stage.outs[0]])
    return found


def test_without_such_an_edge_nothing_changes():
    assert forwarded(STAR) is STAR


@pytest.mark.parametrize("via", [(1,), (3, 1), (1, 2, 3), (3, 2, 1)])
def test_each_chip_is_passed_in_the_order_that_is_asked_for(via):
    program = forwarded(passing(via))
    *hops, landed = way(program, "c4.partial")
    assert [program.stage_by_name[hop.source].chip for hop in hops] == [4, *via]
    assert [program.stage_by_name[hop.destination].chip for hop in hops] == [*via, 0]
    assert hops[-1].destination == "c0.recv_3"
    assert landed == STAR.edge_by_buffer["c0.landing_3"]
    assert {hop.via for hop in hops} == {()}
    for before, after in pairwise(hops):
        assert after.source == before.destination
        assert program.stage_by_name[after.source].outs == (after.buffer,)


@pytest.mark.parametrize("via", [(1,), (3, 2, 1)])
def test_pages_wait_on_the_way_as_they_do_where_they_come_from(via):
    program = forwarded(changed(passing(via), "c4.partial", depth=Depth(7)))
    source = program.buffer_by_name["c4.partial"]
    for hop in way(program, "c4.partial")[1:-1]:
        buffer = program.buffer_by_name[hop.buffer]
        assert (buffer.page, buffer.holds) == (source.page, source.holds)
        assert (buffer.kind, buffer.depth) == (BufferKind.INTERM, None)


def test_all_else_stays():
    program = forwarded(passing((3, 1)))
    changed_edge = STAR.edge_by_buffer["c4.partial"]
    assert set(STAR.edges) - set(program.edges) == {changed_edge}
    assert program.stages[: len(STAR.stages)] == STAR.stages
    assert program.buffers[: len(STAR.buffers)] == STAR.buffers
    assert program.collectives == STAR.collectives
    names = [record.name for group in ("stages", "buffers", "edges")
             for record in getattr(program, group)]  # fmt: skip
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("handoff", [Token(), Barrier("star_reduce")], ids=str)
def test_every_hop_is_handed_off_as_the_edge_was_to_be(handoff):
    program = forwarded(passing((3, 1), handoff=handoff))
    assert [hop.handoff for hop in way(program, "c4.partial")[:-1]] == [handoff] * 3


def test_a_pair_of_semaphores_serves_one_hop():
    handoff = Semaphore("go", "done")
    program = forwarded(passing((3, 1), handoff=handoff))
    assert [hop.handoff for hop in way(program, "c4.partial")[:-1]] == [handoff, None, None]


@pytest.mark.parametrize(
    ("via", "chip", "why"),
    [
        ((5,), 5, "none of the 5"),
        ((-1,), -1, "none of the 5"),
        ((1, 9), 9, "none of the 5"),
        ((0,), 0, "on its way already"),
        ((4,), 4, "on its way already"),
        ((1, 2, 1), 1, "on its way already"),
    ],
)
def test_a_way_that_cannot_be_taken_is_refused(via, chip, why):
    with pytest.raises(RouteError) as refusal:
        forwarded(passing(via))
    assert isinstance(refusal.value, PassError)
    assert (refusal.value.edge, refusal.value.chip) == ("c4.matmul->c0.recv_3", chip)
    assert str(refusal.value) == (
        f"edge 'c4.matmul->c0.recv_3' is to pass chip {chip}, which is {why}; name each "
        f"chip between its ends once (via)"
    )
