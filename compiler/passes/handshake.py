"""Handshake: spell every edge's hand-off, by where its data travels."""

from dataclasses import replace

from compiler.errors import NoCrossChipHandoffError, NoHandoffError
from compiler.ir.edge import Barrier, Edge, Fifo, Handoff, Semaphore, Token, ValidReady
from compiler.ir.program import Program
from compiler.targets import Target

LOCAL = {"ValidReady": ValidReady(), "Fifo": Fifo()}


def handshake(program: Program, target: Target) -> Program:
    """Give each edge without a hand-off the target's preferred one for its locality.

    A Semaphore hand-off gets a pair of semaphores of its own.

    Raises
    ------
    NoHandoffError
        If the target has no hand-off inside a site.
    NoCrossChipHandoffError
        If an edge crosses chips and the target has no hand-off for it.
    """
    edges = tuple(
        edge if edge.handoff else replace(edge, handoff=_handoff(program, edge, target))
        for edge in program.edges
    )
    semaphores = [
        name
        for edge in edges
        if isinstance(edge.handoff, Semaphore)
        for name in (edge.handoff.ready, edge.handoff.valid)
    ]
    requires = replace(
        program.requires,
        handoffs=tuple(sorted({type(edge.handoff).__name__ for edge in edges})),
    )
    return replace(program, edges=edges, semaphores=tuple(semaphores), requires=requires)


def _handoff(program: Program, edge: Edge, target: Target) -> Handoff:
    if not program.crosses(edge):
        if target.local_handoff is None:
            raise NoHandoffError(target=target.name, edge=edge.name)
        return LOCAL[target.local_handoff]
    match target.crossing_handoff:
        case "Token":
            return Token()
        case "Semaphore":
            return Semaphore(ready=f"{edge.buffer}.ready", valid=f"{edge.buffer}.valid")
        case "Barrier":
            return Barrier(group=program.collectives[0].name if program.collectives else "")
        case _:
            raise NoCrossChipHandoffError(target=target.name, provided=target.handoffs)
