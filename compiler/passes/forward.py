"""Forward: take an edge over the chips that it is to pass."""

from dataclasses import replace

from compiler.errors import RouteError
from compiler.ir.buffer import Buffer, BufferKind
from compiler.ir.edge import Edge, Semaphore
from compiler.ir.program import Program
from compiler.ir.stage import Recv, Site, Stage


def forwarded(program: Program) -> Program:
    """Put a receive on each chip that an edge passes, whose buffer is sent on from there.

    Raises
    ------
    RouteError
        If an edge is to pass a chip that does not exist, or that it comes from, passes already or
        ends on.
    """
    if not any(edge.via for edge in program.edges):
        return program
    stages, buffers, edges = list(program.stages), list(program.buffers), list[Edge]()
    for edge in program.edges:
        _check_way(program, edge)
        source, buffer = edge.source, program.buffer_by_name[edge.buffer]
        for chip in edge.via:
            passes = f"c{chip}.pass_{_local(edge.destination)}_from_{_local(edge.buffer)}"
            edges.append(_hop(edge, source, buffer, passes))
            buffer = replace(
                buffer,
                name=f"{passes}_pages",
                kind=BufferKind.INTERM,
                site=None,
                depth=None,
                fall_through=False,
            )
            buffers.append(buffer)
            stages.append(Stage(passes, Recv(), outs=(buffer.name,), site=_site(program, chip)))
            source = passes
        edges.append(_hop(edge, source, buffer, edge.destination) if edge.via else edge)
    return replace(program, stages=tuple(stages), buffers=tuple(buffers), edges=tuple(edges))


def _hop(edge: Edge, source: str, buffer: Buffer, destination: str) -> Edge:
    """One hop of an edge, handed off as the edge is to be; semaphores have two ends alone."""
    name = f"{source}->{destination}"
    handoff = edge.handoff
    if isinstance(handoff, Semaphore) and buffer.name != edge.buffer:
        handoff = None
    return replace(
        edge,
        name=name,
        source=source,
        buffer=buffer.name,
        destination=destination,
        handoff=handoff,
        via=(),
    )


def _local(name: str) -> str:
    """A name with its chip, as one word."""
    return name.replace(".", "_")


def _site(program: Program, chip: int) -> Site:
    """The site of the chip's other stages."""
    sites = (stage.site for stage in program.stages if stage.chip == chip and stage.site)
    return next(sites, Site(chip))


def _check_way(program: Program, edge: Edge) -> None:
    ends = [program.stage_by_name[name].chip or 0 for name in (edge.source, edge.destination)]
    for position, chip in enumerate(edge.via):
        if chip not in range(program.chip_count):
            raise RouteError(edge=edge.name, chip=chip, why=f"none of the {program.chip_count}")
        if chip in ends or chip in edge.via[:position]:
            raise RouteError(edge=edge.name, chip=chip, why="on its way already")
