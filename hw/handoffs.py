"""What each hand-off between chips is made of: the one place that knows one from another."""

from collections.abc import Callable
from dataclasses import dataclass

from compiler.ir.edge import Barrier, Edge, Semaphore, Token
from compiler.ir.program import Program
from hw.interfaces import CreditLinkSignature, SemaphoreLinkSignature, beat_layout
from hw.link import LinkReceiver, LinkTransmitter
from hw.link_ports import deepest_landing, landing_pages, link_of
from hw.semaphore_link import SemaphoreReceiver, SemaphoreTransmitter


@dataclass(frozen=True)
class Protocol:
    """The hardware of a hand-off between chips.

    Parameters
    ----------
    signature : callable
        The link as the sending chip sees it, for a width in bits.
    transmitter : class
        The end that sends.
    receiver : callable
        The end that receives, for the layout of a beat, and the keywords ``width_bits`` and
        ``depth_pages``, the pages that its landing buffer holds.
    depth_from_port : bool
        Whether the depth of the landing buffer is told to a transmitter by a port, so that one
        netlist serves several. Otherwise the receiver offers its slots one by one.
    meets : bool
        Whether the offers of all receivers of a group meet before any sender hears of them.
    """

    signature: Callable[[int], CreditLinkSignature | SemaphoreLinkSignature]
    transmitter: type[LinkTransmitter]
    receiver: Callable[..., LinkReceiver | SemaphoreReceiver]
    depth_from_port: bool = False
    meets: bool = False


def _credit_receiver(beat, *, width_bits: int, depth_pages: int) -> LinkReceiver:
    """A receiver of credits need not know its depth: the sender does."""
    del depth_pages
    return LinkReceiver(beat, width_bits=width_bits)


PROTOCOLS: dict[type, Protocol] = {
    Token: Protocol(CreditLinkSignature, LinkTransmitter, _credit_receiver, depth_from_port=True),
    Semaphore: Protocol(SemaphoreLinkSignature, SemaphoreTransmitter, SemaphoreReceiver),
    Barrier: Protocol(SemaphoreLinkSignature, SemaphoreTransmitter, SemaphoreReceiver, meets=True),
}
"""The protocol of each hand-off that crosses."""


def protocol_of(edge: Edge) -> Protocol:
    """The protocol of an edge between chips."""
    return PROTOCOLS[type(edge.handoff)]


def link_signature(program: Program, edge: Edge) -> CreditLinkSignature | SemaphoreLinkSignature:
    """The link of an edge as the sending chip sees it."""
    return protocol_of(edge).signature(link_of(program, edge).width_bits)


def depth_from_port(edge: Edge, *, host: bool) -> bool:
    """Whether a port tells the sending chip, if it has a host port, how deep the landing buffer is.

    Without a host port a chip knows it.
    """
    return host and protocol_of(edge).depth_from_port


def transmitter_of(program: Program, edge: Edge, *, host: bool) -> LinkTransmitter:
    """The sending end of an edge, on a chip with or without a host port."""
    page, link = program.buffer_by_name[edge.buffer].page, link_of(program, edge)
    return protocol_of(edge).transmitter(
        beat_layout(page),
        page_beats=page.beats,
        width_bits=link.width_bits,
        credits=deepest_landing(program) if host else landing_pages(program, edge),
        flit_cycles=link.flit_cycles,
        depth_from_port=depth_from_port(edge, host=host),
    )


def receiver_of(program: Program, edge: Edge) -> LinkReceiver | SemaphoreReceiver:
    """The receiving end of an edge."""
    return protocol_of(edge).receiver(
        beat_layout(program.landing(edge).page),
        width_bits=link_of(program, edge).width_bits,
        depth_pages=landing_pages(program, edge),
    )
