"""Between chips: receives, hand-offs, semaphores, barriers, links and ways over other chips."""

from dataclasses import replace

from compiler.ir.buffer import BufferKind
from compiler.ir.edge import (
    CROSSING_HANDOFFS,
    LOCAL_HANDOFFS,
    Barrier,
    Edge,
    Fifo,
    Handoff,
    Link,
    Semaphore,
    Token,
    ValidReady,
)
from compiler.ir.program import Program
from tests.compiler.programs import changed, without
from tests.mutation.mutation import breaks
from tests.mutation.parts import crossings, leaf_edges, reader

HANDOFFS: dict[str, Handoff] = {
    "Fifo": Fifo(),
    "ValidReady": ValidReady(),
    "Token": Token(),
    "Semaphore": Semaphore("go", "done"),
    "Barrier": Barrier("tree_reduce"),
}


def semaphore_edges(program: Program) -> list[Edge]:
    return [edge for edge in program.edges if isinstance(edge.handoff, Semaphore)]


@breaks("landing: MissingReceive")
def a_fold_reads_the_buffer_of_another_chip(program: Program) -> Program | None:
    """The receive is bypassed: the edge leads from the sender straight into the fold."""
    edges = leaf_edges(program)
    if not edges:
        return None
    receive = program.stage_by_name[edges[0].destination]
    (landed,) = program.edges_by_source[receive.name]
    fold = reader(program, edges[0])
    ins = tuple(edges[0].buffer if name in receive.outs else name for name in fold.ins)
    program = without(program, receive.name, *receive.outs, landed.name)
    program = changed(program, fold.name, ins=ins)
    return changed(program, edges[0].name, destination=fold.name)


@breaks("well formed: BufferProducerCount")
def a_receive_is_left_out(program: Program) -> Program | None:
    """The fold still reads the landing buffer, which nobody fills."""
    edges = leaf_edges(program)
    if not edges:
        return None
    receive = edges[0].destination
    (landed,) = program.edges_by_source[receive]
    program = without(program, receive, edges[0].name, landed.name)
    spare = replace(landed, name="spare", source=edges[0].source, buffer=edges[0].buffer)
    return replace(program, edges=(*program.edges, spare))


@breaks("landing: LandingElsewhere")
def a_receive_writes_a_buffer_of_the_sender(program: Program) -> Program | None:
    edges = crossings(program)
    if not edges:
        return None
    landing = program.landing(edges[0]).name
    return changed(program, landing, site=program.stage_by_name[edges[0].source].site)


@breaks("landing: MissingReceive")
def a_receive_stands_beside_the_sender(program: Program) -> Program | None:
    edges = crossings(program)
    if not edges:
        return None
    receive = program.stage_by_name[edges[0].destination]
    site = program.stage_by_name[edges[0].source].site
    return changed(changed(program, receive.name, site=site), receive.outs[0], site=site)


@breaks("landing: FifoLeavesSite")
def an_outgoing_buffer_is_said_to_be_local(program: Program) -> Program | None:
    edges = crossings(program)
    return changed(program, edges[0].buffer, kind=BufferKind.FIFO) if edges else None


@breaks("landing: IntermStays")
def a_local_buffer_is_said_to_be_outgoing(program: Program) -> Program | None:
    edge = next(edge for edge in program.edges if not program.crosses(edge))
    return changed(program, edge.buffer, kind=BufferKind.INTERM)


@breaks("landing: NoSite")
def a_stage_stands_nowhere(program: Program) -> Program | None:
    return changed(program, program.stages[-1].name, site=None)


@breaks("hand-offs: CrossSiteLocalEdge")
def a_local_handoff_crosses_chips(program: Program) -> Program | None:
    edges = crossings(program)
    local = HANDOFFS[program.target.local_handoff or ""]
    return changed(program, edges[0].name, handoff=local) if edges else None


@breaks("hand-offs: LocalCrossSiteEdge")
def a_crossing_handoff_stays_inside_a_chip(program: Program) -> Program | None:
    edge = next(edge for edge in program.edges if not program.crosses(edge))
    crossing = HANDOFFS[program.target.crossing_handoff or ""]
    return changed(program, edge.name, handoff=crossing)


@breaks("hand-offs: HandoffNotProvided")
def a_crossing_handoff_is_one_that_the_target_lacks(program: Program) -> Program | None:
    edges = crossings(program)
    lacking = next(name for name in CROSSING_HANDOFFS if name not in program.target.handoffs)
    return changed(program, edges[0].name, handoff=HANDOFFS[lacking]) if edges else None


@breaks("hand-offs: HandoffNotProvided")
def a_local_handoff_is_one_that_the_target_lacks(program: Program) -> Program | None:
    lacking = next(name for name in LOCAL_HANDOFFS if name not in program.target.handoffs)
    edge = next(edge for edge in program.edges if not program.crosses(edge))
    return changed(program, edge.name, handoff=HANDOFFS[lacking])


@breaks("hand-offs: NoHandoff")
def a_handoff_is_left_open(program: Program) -> Program | None:
    return changed(program, program.edges[-1].name, handoff=None)


@breaks("hand-offs: NoLink")
def an_edge_between_chips_takes_no_link(program: Program) -> Program | None:
    edges = crossings(program)
    return changed(program, edges[0].name, link=None) if edges else None


@breaks("hand-offs: ViaOpen")
def an_edge_is_still_to_pass_a_chip(program: Program) -> Program | None:
    """Over a chip that exists, on a link that goes straight to where the edge ends."""
    edges = crossings(program)
    if not edges:
        return None
    return changed(program, edges[0].name, via=(program.chip_count - 1,))


@breaks("hand-offs: ")
def an_edge_is_to_pass_its_own_chip(program: Program) -> Program | None:
    edge = next(edge for edge in program.edges if not program.crosses(edge))
    return changed(program, edge.name, via=(0,))


@breaks("landing: LinkMismatch")
def an_edge_inside_a_chip_takes_a_link(program: Program) -> Program | None:
    if not program.links:
        return None
    edge = next(edge for edge in program.edges if not program.crosses(edge))
    return changed(program, edge.name, link=program.links[0].name)


@breaks("hand-offs: SemaphoreUse")
def two_edges_share_a_semaphore(program: Program) -> Program | None:
    edges = semaphore_edges(program)
    if len(edges) < 2:
        return None
    return changed(program, edges[1].name, handoff=edges[0].handoff)


@breaks("hand-offs: SemaphoreUse")
def a_semaphore_is_its_own_answer(program: Program) -> Program | None:
    """That a slot is free, and that a page has come, is said by one name."""
    edges = semaphore_edges(program)
    if not edges:
        return None
    handoff = edges[0].handoff
    return changed(program, edges[0].name, handoff=replace(handoff, valid=handoff.ready))


@breaks("well formed: NameForm")
def a_semaphore_has_no_name(program: Program) -> Program | None:
    edges = semaphore_edges(program)
    if not edges:
        return None
    return changed(program, edges[0].name, handoff=replace(edges[0].handoff, ready=""))


@breaks("no deadlock: which nobody joins")
def a_barrier_waits_for_a_group_that_nobody_joins(program: Program) -> Program | None:
    edges = crossings(program)
    if not edges:
        return None
    handoffs = (*program.target.handoffs, "Barrier")
    program = replace(program, target=replace(program.target, handoffs=handoffs))
    return changed(program, edges[0].name, handoff=Barrier("nobody"))


@breaks("hand-offs: LinkMismatch")
def a_link_runs_the_other_way(program: Program) -> Program | None:
    if not program.links:
        return None
    link = program.links[0]
    ends = {"source_chip": link.destination_chip, "destination_chip": link.source_chip}
    return changed(program, link.name, **ends)


@breaks("hand-offs: LinkUse")
def a_link_carries_nothing(program: Program) -> Program | None:
    if not program.links:
        return None
    return replace(program, links=(*program.links, Link("spare", 0, 1, 256, 8)))


@breaks("well formed: LinkShape")
def a_link_has_no_wires(program: Program) -> Program | None:
    return changed(program, program.links[0].name, width_bits=0) if program.links else None
