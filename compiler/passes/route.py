"""Route: give every edge between chips the link that carries it."""

from collections import Counter
from dataclasses import replace

from compiler.errors import LinkPortsExceededError
from compiler.ir.edge import Edge, Link
from compiler.ir.program import Program
from compiler.passes.forward import forwarded
from compiler.passes.hops import Hop, hop_of
from compiler.passes.share import shared
from compiler.targets import Target


def route(program: Program, target: Target) -> Program:
    """Join each pair of chips that an edge crosses by one direct link, where none is stated.

    An edge that is to pass other chips on its way is received there and sent on. Edges between the
    same two chips take turns on one link.

    Raises
    ------
    LinkPortsExceededError
        If a chip would hold more ends of links than the target has ports.
    """
    program = shared(forwarded(program))
    links = {link.name: link for link in program.links}
    edges: list[Edge] = []
    for edge in program.edges:
        hop = hop_of(program, edge)
        if hop and edge.link is None:
            link = _link(hop, target)
            links.setdefault(link.name, link)
            edge = replace(edge, link=link.name)
        edges.append(edge)
    _check_ports(program, tuple(links.values()), target)
    return replace(program, edges=tuple(edges), links=tuple(links.values()))


def _link(hop: Hop, target: Target) -> Link:
    source, destination = hop
    return Link(
        name=f"c{source}->c{destination}",
        source_chip=source,
        destination_chip=destination,
        width_bits=target.link_width_bits,
        latency_cycles=target.link_latency_cycles,
        flit_cycles=target.link_flit_cycles,
    )


def _check_ports(program: Program, links: tuple[Link, ...], target: Target) -> None:
    ports = Counter(chip for link in links for chip in (link.source_chip, link.destination_chip))
    for chip, needed in sorted(ports.items()):
        if needed > target.link_ports:
            raise LinkPortsExceededError(
                chip=chip,
                needed=needed,
                ports=target.link_ports,
                algorithm=program.collectives[0].algorithm if program.collectives else None,
                way_out="choose fewer chips, or a target with more link ports",
            )
