"""Handshake: spell every edge's hand-off, by where its data travels."""

from dataclasses import replace

from compiler.errors import NoCrossChipHandoffError, NoHandoffError, SharedLinkBarrierError
from compiler.ir.choice import Chooser
from compiler.ir.edge import Barrier, Edge, Fifo, Handoff, Semaphore, Token, ValidReady
from compiler.ir.program import Program
from compiler.ir.stage import Merge
from compiler.targets import Target


def handshake(program: Program, target: Target) -> Program:
    """Give each edge without a hand-off the target's preferred one for its locality.

    A Semaphore hand-off gets a pair of semaphores of its own, a Barrier the group of the collective
    that it is part of.

    Raises
    ------
    NoHandoffError
        If the target has no hand-off inside a site.
    NoCrossChipHandoffError
        If an edge crosses chips and the target has no hand-off for it.
    SharedLinkBarrierError
        If edges that share a link were to meet others at a barrier.
    """
    groups = {name: group.name for group in program.collectives for name in group.stages}

    def handed_off(edge: Edge) -> Edge:
        if edge.handoff is not None:
            return edge
        return replace(edge, handoff=_handoff(program, edge, target, groups))

    return replace(program, edges=tuple(map(handed_off, program.edges)))


def _handoff(program: Program, edge: Edge, target: Target, groups: dict[str, str]) -> Handoff:
    by = Chooser.COMPILER
    if not program.crosses(edge):
        match target.local_handoff:
            case "ValidReady":
                return ValidReady(by=by)
            case "Fifo":
                return Fifo(by=by)
            case _:
                raise NoHandoffError(target=target.name, edge=edge.name)
    match target.crossing_handoff:
        case "Token":
            return Token(by=by)
        case "Semaphore":
            return Semaphore(f"{edge.buffer}.ready", f"{edge.buffer}.valid", by=by)
        case "Barrier":
            if isinstance(program.stage_by_name[edge.source].kind, Merge):
                raise SharedLinkBarrierError(edge=edge.name, target=target.name)
            return Barrier(_group(program, edge, groups), by=by)
        case _:
            raise NoCrossChipHandoffError(target=target.name, provided=target.handoffs)


def _group(program: Program, edge: Edge, groups: dict[str, str]) -> str:
    """The collective that an edge is part of: that of the first stage behind it that is in one."""
    name = edge.destination
    while name not in groups:
        following = program.edges_by_source.get(name, ())
        if not following:
            return ""
        name = following[0].destination
    return groups[name]
