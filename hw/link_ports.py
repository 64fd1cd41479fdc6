"""How the ends of links appear on chips: the names of their ports, and what is at the other end."""

from compiler.ir.edge import Edge, Link
from compiler.ir.program import Program
from hw.names import local_name


def sender_port(edge: Edge) -> str:
    """Name of the sending chip's port of an edge between chips."""
    return f"{local_name(edge.buffer)}_link"


def receiver_port(edge: Edge) -> str:
    """Name of the receiving chip's port of an edge between chips."""
    return f"{local_name(edge.destination)}_link"


def credits_port(edge: Edge) -> str:
    """Name of the sending chip's port that tells the depth of an edge's landing buffer."""
    return f"{sender_port(edge)}_credits"


def link_of(program: Program, edge: Edge) -> Link:
    """The link that carries an edge between chips."""
    assert edge.link is not None, f"edge {edge.name!r} has no link"
    return program.link_by_name[edge.link]


def landing_pages(program: Program, edge: Edge) -> int:
    """Depth of the landing buffer of an edge between chips, in pages."""
    return program.landing(edge).depth_pages or 0


def deepest_landing(program: Program) -> int:
    """Depth of the deepest landing buffer of a program, in pages."""
    return max(landing_pages(program, edge) for chip in program.chips for edge in chip.outgoing)
