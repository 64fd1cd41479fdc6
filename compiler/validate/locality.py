"""Where data travels: sites, landing buffers, hand-offs, links."""

from collections.abc import Iterator

from compiler.errors import ValidationError
from compiler.ir.buffer import BufferKind
from compiler.ir.edge import CROSSING_HANDOFFS, LOCAL_HANDOFFS, Edge, Semaphore
from compiler.ir.program import Program
from compiler.ir.stage import Recv, Site
from compiler.targets import Target


def check_locality(program: Program, target: Target) -> None:
    """Buffers stand beside their producers, and each edge is spelled as it travels."""
    check_landing(program)
    check_handoffs(program, target)
    check_links(program)


def check_landing(program: Program) -> None:
    """What crosses to a site lands in a buffer of that site, by way of a Recv."""
    _buffer_sites(program)
    placed = list(_placed_edges(program))
    for edge, source, destination in placed:
        if source != destination:
            _crossing_edge(program, edge)
    for edge, source, destination in placed:
        if source == destination:
            _local_edge(program, edge)


def check_handoffs(program: Program, target: Target) -> None:
    """Each hand-off is spelled as the edge travels and provided by the target."""
    for edge, source, destination in _placed_edges(program):
        if edge.handoff is not None:
            _handoff(edge, local=source == destination, target=target)
    _semaphores_used_once(program)


def check_links(program: Program) -> None:
    """Each edge between chips has links that join its two chips, and no link has two edges."""
    for edge, source, destination in _placed_edges(program):
        if source != destination and edge.route is not None:
            _route(program, edge, source.chip, destination.chip)
    _links_used_once(program)


def _placed_edges(program: Program) -> Iterator[tuple[Edge, Site, Site]]:
    for edge in program.edges:
        source = program.stage_by_name[edge.source].site
        destination = program.stage_by_name[edge.destination].site
        if source is not None and destination is not None:
            yield edge, source, destination


def _buffer_sites(program: Program) -> None:
    for stage in program.stages:
        for name in stage.outs:
            buffer = program.buffer_by_name[name]
            if stage.site is None or buffer.site is None or buffer.site == stage.site:
                continue
            if isinstance(stage.kind, Recv):
                raise ValidationError(
                    "LandingElsewhere",
                    stage.name,
                    f"receive {stage.name!r} at site {stage.site} writes buffer {name!r} of site "
                    f"{buffer.site}; what arrives must land in a buffer of the receiving site",
                )
            raise ValidationError(
                "BufferSite",
                name,
                f"buffer {name!r} is at site {buffer.site}, but its producer {stage.name!r} is at "
                f"{stage.site}",
            )


def _local_edge(program: Program, edge: Edge) -> None:
    buffer = program.buffer_by_name[edge.buffer]
    if isinstance(program.stage_by_name[edge.destination].kind, Recv):
        raise ValidationError(
            "RecvSource",
            edge.destination,
            f"receive {edge.destination!r} takes edge {edge.name!r} from its own site",
        )
    if buffer.kind is BufferKind.INTERM:
        raise ValidationError(
            "IntermStays",
            buffer.name,
            f"buffer {buffer.name!r} is an outgoing partial (Interm), but edge {edge.name!r} stays "
            f"inside its site",
        )
    if edge.route:
        raise ValidationError(
            "RouteMismatch",
            edge.name,
            f"edge {edge.name!r} stays inside its site, but is routed over {', '.join(edge.route)}",
        )


def _crossing_edge(program: Program, edge: Edge) -> None:
    destination = program.stage_by_name[edge.destination]
    buffer = program.buffer_by_name[edge.buffer]
    if not isinstance(destination.kind, Recv):
        raise ValidationError(
            "MissingReceive",
            edge.name,
            f"edge {edge.name!r} crosses to site {destination.site} and ends in "
            f"{destination.name!r}, which reads the sender's buffer {edge.buffer!r}; it must end "
            f"in a Recv with a landing buffer of its own",
        )
    if buffer.kind is not BufferKind.INTERM:
        raise ValidationError(
            "FifoLeavesSite",
            buffer.name,
            f"buffer {buffer.name!r} is a local Fifo, but edge {edge.name!r} takes it to another "
            f"site; an outgoing partial is an Interm",
        )


def _handoff(edge: Edge, *, local: bool, target: Target) -> None:
    spelled = type(edge.handoff).__name__
    if not local and spelled in LOCAL_HANDOFFS:
        raise ValidationError(
            "CrossSiteLocalEdge",
            edge.name,
            f"edge {edge.name!r} runs between two sites, but its hand-off {spelled} is local",
        )
    if local and spelled in CROSSING_HANDOFFS:
        raise ValidationError(
            "LocalCrossSiteEdge",
            edge.name,
            f"edge {edge.name!r} stays inside a site, but its hand-off {spelled} crosses sites",
        )
    if spelled not in target.handoffs:
        provided = [h for h in LOCAL_HANDOFFS + CROSSING_HANDOFFS if h in target.handoffs]
        raise ValidationError(
            "HandoffNotProvided",
            edge.name,
            f"edge {edge.name!r} is handed off by {spelled}, which target {target.name!r} does not "
            f"provide ({', '.join(provided)})",
        )
    if isinstance(edge.handoff, Semaphore) and edge.handoff.ready_count != 1:
        raise ValidationError(
            "SemaphoreReceivers",
            edge.name,
            f"edge {edge.name!r} waits for {edge.handoff.ready_count} receivers, but ends in one",
        )


def _route(program: Program, edge: Edge, source_chip: int, destination_chip: int) -> None:
    links = [program.link_by_name[name] for name in edge.route or ()]
    ends = [(link.source_chip, link.destination_chip) for link in links]
    if ends != [(source_chip, destination_chip)]:
        raise ValidationError(
            "RouteMismatch",
            edge.name,
            f"edge {edge.name!r} runs from chip {source_chip} to chip {destination_chip}, but its "
            f"route {edge.route} joins {ends or 'nothing'}",
        )


def _links_used_once(program: Program) -> None:
    carried = [name for edge in program.edges for name in edge.route or ()]
    for link in program.links or ():
        if carried.count(link.name) != 1:
            raise ValidationError(
                "LinkUse",
                link.name,
                f"link {link.name!r} carries {carried.count(link.name)} edges; it must carry one",
            )


def _semaphores_used_once(program: Program) -> None:
    used = [
        name
        for edge in program.edges
        if isinstance(edge.handoff, Semaphore)
        for name in (edge.handoff.ready, edge.handoff.valid)
    ]
    for name in sorted(set(used) | set(program.semaphores)):
        if used.count(name) != 1 or program.semaphores.count(name) != 1:
            raise ValidationError(
                "SemaphoreUse",
                name,
                f"semaphore {name!r} is declared {program.semaphores.count(name)} times and used "
                f"by {used.count(name)} hand-offs; each must be once",
            )
