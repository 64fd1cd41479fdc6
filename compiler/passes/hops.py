"""Hops: which edges cross between which chips."""

from collections import defaultdict

from compiler.ir.edge import Edge
from compiler.ir.program import Program


def hop_of(program: Program, edge: Edge) -> tuple[int, int] | None:
    """The two chips that an edge crosses between, if it does. What has no site is on chip 0."""
    source, destination = (
        program.stage_by_name[name].chip or 0 for name in (edge.source, edge.destination)
    )
    return None if source == destination else (source, destination)


def unlinked_by_hop(program: Program) -> dict[tuple[int, int], list[Edge]]:
    """The edges that no link carries yet, by the chips that they cross between."""
    hops: defaultdict[tuple[int, int], list[Edge]] = defaultdict(list)
    for edge in program.edges:
        hop = hop_of(program, edge)
        if hop and edge.link is None:
            hops[hop].append(edge)
    return hops
