"""Hops: which edges cross between which chips."""

from collections import defaultdict

from compiler.ir.edge import Edge
from compiler.ir.program import Program

Hop = tuple[int, int]
"""The chip that an edge leaves, and the one that it crosses to."""


def hop_of(program: Program, edge: Edge) -> Hop | None:
    """The two chips that an edge crosses between, if it does. What has no site is on chip 0."""
    source, destination = (
        program.stage_by_name[name].chip or 0 for name in (edge.source, edge.destination)
    )
    return None if source == destination else (source, destination)


def unlinked_by_hop(program: Program) -> dict[Hop, list[Edge]]:
    """The edges that no link carries yet, by the chips that they cross between."""
    hops: defaultdict[Hop, list[Edge]] = defaultdict(list)
    for edge in program.edges:
        hop = hop_of(program, edge)
        if hop and edge.link is None:
            hops[hop].append(edge)
    return hops
