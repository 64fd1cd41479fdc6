"""Between chips: receives, hand-offs, semaphores, barriers and links."""

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
from tests.mutation.parts import crossings, fold_of, leaf_edges

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
    fold = fold_of(program, receive)
    (landed,) = program.edges_by_source[receive.name]
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
    (landing,) = program.stage_by_name[edges[0].destination].outs
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


@breaks("hand-offs: NoRoute")
def a_route_is_left_open(program: Program) -> Program | None:
    return changed(program, program.edges[-1].name, route=None)


@breaks("hand-offs: SemaphoreReceivers")
def a_semaphore_waits_for_two_receivers(program: Program) -> Program | None:
    edges = semaphore_edges(program)
    if not edges:
        return None
    return changed(program, edges[0].name, handoff=replace(edges[0].handoff, ready_count=2))


@breaks("hand-offs: SemaphoreUse")
def two_edges_share_a_semaphore(program: Program) -> Program | None:
    edges = semaphore_edges(program)
    if len(edges) < 2:
        return None
    return changed(program, edges[1].name, handoff=edges[0].handoff)


@breaks("hand-offs: SemaphoreUse")
def a_semaphore_is_not_declared(program: Program) -> Program | None:
    if not program.semaphores:
        return None
    return replace(program, semaphores=program.semaphores[1:])


@breaks("no deadlock: which nobody joins")
def a_barrier_waits_for_a_group_that_nobody_joins(program: Program) -> Program | None:
    edges = crossings(program)
    if not edges:
        return None
    handoffs = (*program.target.handoffs, "Barrier")
    requires = replace(program.requires, handoffs=(*program.requires.handoffs, "Barrier"))
    semaphores = tuple(
        name
        for edge in semaphore_edges(program)
        if edge is not edges[0]
        for name in (edge.handoff.ready, edge.handoff.valid)
    )
    program = replace(
        program,
        target=replace(program.target, handoffs=handoffs),
        requires=requires,
        semaphores=semaphores,
    )
    return changed(program, edges[0].name, handoff=Barrier("nobody"))


@breaks("hand-offs: RouteMismatch")
def a_link_runs_the_other_way(program: Program) -> Program | None:
    if not program.links:
        return None
    link = program.links[0]
    ends = {"source_chip": link.destination_chip, "destination_chip": link.source_chip}
    return changed(program, link.name, **ends)


@breaks("hand-offs: RouteMismatch")
def an_edge_between_chips_takes_no_link(program: Program) -> Program | None:
    edges = crossings(program)
    return changed(program, edges[0].name, route=()) if edges else None


@breaks("hand-offs: LinkUse")
def a_link_carries_nothing(program: Program) -> Program | None:
    if not program.links:
        return None
    return replace(program, links=(*program.links, Link("spare", 0, 1, 256, 8)))


@breaks("well formed: LinkShape")
def a_link_has_no_wires(program: Program) -> Program | None:
    return changed(program, program.links[0].name, width_bits=0) if program.links else None


@breaks("hand-offs: RequiresIncomplete")
def a_handoff_is_not_required(program: Program) -> Program | None:
    requires = replace(program.requires, handoffs=program.requires.handoffs[:-1])
    return replace(program, requires=requires)


@breaks("capacity: RequiresIncomplete")
def a_link_port_is_not_required(program: Program) -> Program | None:
    requires = replace(program.requires, link_ports=program.requires.link_ports - 1)
    return replace(program, requires=requires)
