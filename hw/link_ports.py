"""How the ends of links appear on chips: names, signatures and constants of their ports."""

from compiler.ir.edge import Barrier, Edge, Semaphore
from compiler.ir.program import Program
from hw.interfaces import CreditLinkSignature, SemaphoreLinkSignature
from hw.names import local_name

PAGE_GRANULAR = (Semaphore, Barrier)
"""Hand-offs whose pages cross by ready and valid, store and forward."""


def sender_port(edge: Edge) -> str:
    """Name of the sending chip's port of an edge between chips."""
    return f"{local_name(edge.buffer)}_link"


def receiver_port(edge: Edge) -> str:
    """Name of the receiving chip's port of an edge between chips."""
    return f"{local_name(edge.destination)}_link"


def credits_port(edge: Edge) -> str:
    """Name of the sending chip's port that tells the depth of an edge's landing buffer."""
    return f"{sender_port(edge)}_credits"


def landing_pages(program: Program, edge: Edge) -> int:
    """Depth of the landing buffer of an edge between chips, in pages."""
    (landing,) = program.stage_by_name[edge.destination].outs
    return program.buffer_by_name[landing].depth_pages or 0


def deepest_landing(program: Program) -> int:
    """Depth of the deepest landing buffer of a program, in pages."""
    return max(landing_pages(program, edge) for edge in program.edges if program.crosses(edge))


def constants(program: Program, chip: int) -> dict[str, int]:
    """Values of the input ports of a chip with a host port that do not change."""
    values = {"coordinate": chip}
    for edge in program.edges:
        site = program.stage_by_name[edge.source].site
        leaves = site is not None and site.chip == chip and program.crosses(edge)
        if leaves and not isinstance(edge.handoff, PAGE_GRANULAR):
            values[credits_port(edge)] = landing_pages(program, edge)
    return values


def link_signature(program: Program, edge: Edge) -> CreditLinkSignature | SemaphoreLinkSignature:
    """Signature of the link that carries an edge, seen from the sending chip."""
    assert edge.route, f"edge {edge.name!r} has no route"
    width_bits = program.link_by_name[edge.route[0]].width_bits
    if isinstance(edge.handoff, PAGE_GRANULAR):
        return SemaphoreLinkSignature(width_bits)
    return CreditLinkSignature(width_bits)
