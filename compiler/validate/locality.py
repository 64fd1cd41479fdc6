"""Where data travels: landing buffers, hand-offs, links.

An edge crosses if its two stages are on different chips. A chip is one site; the rules of the
machine hold that.
"""

from collections import Counter
from collections.abc import Iterator

from compiler.errors import ValidationError
from compiler.ir.buffer import BufferKind
from compiler.ir.edge import HANDOFFS, Edge, Semaphore
from compiler.ir.program import Program
from compiler.ir.stage import Recv
from compiler.targets import Target


def check_locality(program: Program, target: Target) -> None:
    """Buffers stand beside their producers, and each edge is spelled as it travels."""
    check_landing(program)
    check_handoffs(program, target)
    check_links(program)


def check_landing(program: Program) -> None:
    """What crosses to a chip lands in a buffer of that chip, by way of a Recv."""
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
    """Each edge between chips has a link that joins its two chips, and no link has two edges."""
    for edge, source, destination in _placed_edges(program):
        _via(program, edge, local=source == destination)
        if source != destination and edge.link is not None:
            _link(program, edge, edge.link, source, destination)
    _links_used_once(program)


def _placed_edges(program: Program) -> Iterator[tuple[Edge, int, int]]:
    """Edges whose ends are both placed, with the chips of their source and destination."""
    for edge in program.edges:
        source = program.stage_by_name[edge.source].chip
        destination = program.stage_by_name[edge.destination].chip
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
    if edge.link is not None:
        raise ValidationError(
            "LinkMismatch",
            edge.name,
            f"edge {edge.name!r} stays inside its chip, but is carried by link {edge.link!r}",
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
    assert edge.handoff is not None
    spelled = type(edge.handoff).__name__
    if not local and not edge.handoff.crosses:
        raise ValidationError(
            "CrossSiteLocalEdge",
            edge.name,
            f"edge {edge.name!r} runs between two chips, but its hand-off {spelled} is local",
        )
    if local and edge.handoff.crosses:
        raise ValidationError(
            "LocalCrossSiteEdge",
            edge.name,
            f"edge {edge.name!r} stays inside a chip, but its hand-off {spelled} crosses chips",
        )
    if spelled not in target.handoffs:
        provided = [handoff for handoff in HANDOFFS if handoff in target.handoffs]
        raise ValidationError(
            "HandoffNotProvided",
            edge.name,
            f"edge {edge.name!r} is handed off by {spelled}, which target {target.name!r} does not "
            f"provide ({', '.join(provided)})",
        )


def _via(program: Program, edge: Edge, *, local: bool) -> None:
    """An edge between chips may be told to pass others, each of which exists."""
    if edge.via and local:
        raise ValidationError(
            "ViaChip",
            edge.name,
            f"edge {edge.name!r} stays inside its chip, but is to pass chip {edge.via[0]}",
        )
    for chip in edge.via:
        if not 0 <= chip < program.chip_count:
            raise ValidationError(
                "ViaChip",
                edge.name,
                f"edge {edge.name!r} is to pass chip {chip} of {program.chip_count}",
            )


def _link(program: Program, edge: Edge, name: str, source: int, destination: int) -> None:
    link = program.link_by_name[name]
    if (link.source_chip, link.destination_chip) != (source, destination):
        raise ValidationError(
            "LinkMismatch",
            edge.name,
            f"edge {edge.name!r} runs from chip {source} to chip {destination}, but its link "
            f"{name!r} from chip {link.source_chip} to chip {link.destination_chip}",
        )


def _links_used_once(program: Program) -> None:
    carried = Counter(edge.link for edge in program.edges)
    for link in program.links:
        if carried[link.name] != 1:
            raise ValidationError(
                "LinkUse",
                link.name,
                f"link {link.name!r} carries {carried[link.name]} edges; it must carry one",
            )


def _semaphores_used_once(program: Program) -> None:
    used = Counter(
        name
        for edge in program.edges
        if isinstance(edge.handoff, Semaphore)
        for name in (edge.handoff.ready, edge.handoff.valid)
    )
    for name, times in used.items():
        if times != 1:
            raise ValidationError(
                "SemaphoreUse",
                name,
                f"semaphore {name!r} is used {times} times by hand-offs; it must be used once",
            )
