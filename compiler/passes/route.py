"""Route: give every edge between chips the links that carry it."""

from dataclasses import replace

from compiler.errors import LinkPortsExceededError
from compiler.ir.edge import Edge, Link
from compiler.ir.program import Program
from compiler.targets import Target


def route(program: Program, target: Target) -> Program:
    """Join each pair of chips that an edge crosses by one direct link, where none is stated.

    Raises
    ------
    LinkPortsExceededError
        If a chip would hold more ends of links than the target has ports.
    """
    links = {link.name: link for link in program.links or ()}
    edges: list[Edge] = []
    for edge in program.edges:
        if edge.route is None and not program.crosses(edge):
            edge = replace(edge, route=())
        elif edge.route is None:
            link = _link(program, edge, target)
            links.setdefault(link.name, link)
            edge = replace(edge, route=(link.name,))
        edges.append(edge)
    ports = [
        sum(chip in (link.source_chip, link.destination_chip) for link in links.values())
        for chip in range(program.chip_count)
    ]
    for chip, needed in enumerate(ports):
        if needed > target.link_ports:
            raise LinkPortsExceededError(
                chip=chip,
                needed=needed,
                ports=target.link_ports,
                algorithm=program.collectives[0].algorithm if program.collectives else "routed",
                way_out="choose fewer chips, or a target with more link ports",
            )
    requires = replace(program.requires, link_ports=max(ports))
    return replace(program, edges=tuple(edges), links=tuple(links.values()), requires=requires)


def _link(program: Program, edge: Edge, target: Target) -> Link:
    source = program.stage_by_name[edge.source].site
    destination = program.stage_by_name[edge.destination].site
    assert source is not None
    assert destination is not None
    return Link(
        name=f"c{source.chip}->c{destination.chip}",
        source_chip=source.chip,
        destination_chip=destination.chip,
        width_bits=target.link_width_bits,
        latency_cycles=target.link_latency_cycles,
        flit_cycles=target.link_flit_cycles,
    )
