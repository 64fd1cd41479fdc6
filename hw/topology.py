"""What a system is made of: chips, the channels between them, and where hand-offs meet.

It is derived from a program once, for all who put a system together: of Amaranth components, of
Verilog modules, of compiled models, or of boards.
"""

from dataclasses import dataclass

from compiler.ir.edge import Edge, Link
from compiler.ir.program import Program
from hw.handoffs import Protocol, protocol_of
from hw.interfaces import CreditLinkSignature, SemaphoreLinkSignature
from hw.link_ports import credits_port, landing_pages, receiver_port, sender_port
from hw.names import link_name, module_name


@dataclass(frozen=True)
class Channel:
    """A link with the edge that it carries, and the ports of the two chips that it joins.

    Parameters
    ----------
    name : str
        Its name in the system.
    depth_pages : int
        Pages that fit into the buffer that it lands in.
    """

    name: str
    link: Link
    edge: Edge
    protocol: Protocol
    depth_pages: int

    @property
    def signature(self) -> CreditLinkSignature | SemaphoreLinkSignature:
        """The link as the sending chip sees it."""
        return self.protocol.signature(self.link.width_bits)

    @property
    def latency_cycles(self) -> int:
        """Cycles on the way, in each direction."""
        return self.link.latency_cycles

    @property
    def source(self) -> int:
        """The chip that sends."""
        return self.link.source_chip

    @property
    def destination(self) -> int:
        """The chip that receives."""
        return self.link.destination_chip

    @property
    def sender_port(self) -> str:
        """The port of the chip that sends."""
        return sender_port(self.edge)

    @property
    def receiver_port(self) -> str:
        """The port of the chip that receives."""
        return receiver_port(self.edge)

    @property
    def kind_name(self) -> str:
        """A name that channels share which are the same hardware."""
        handoff = type(self.edge.handoff).__name__.lower()
        return f"channel_{handoff}_{self.link.width_bits}_bits_{self.latency_cycles}_cycles"


@dataclass(frozen=True)
class MeetingPoint:
    """Where the offers of a group of receivers meet, before any of the senders hears of them.

    The place of a channel in ``channels`` is that of its receiver's bit at the network.
    """

    name: str
    channels: tuple[Channel, ...]

    @property
    def depth_pages(self) -> int:
        """Pages of the deepest landing buffer."""
        return max(channel.depth_pages for channel in self.channels)

    @property
    def parameters(self) -> dict[str, int]:
        """What its network is made for."""
        return {"receivers": len(self.channels), "depth_pages": self.depth_pages}


@dataclass(frozen=True)
class Topology:
    """A system: its chips by what they are told, its channels and its meeting points.

    ``constants`` holds for each chip the values of the input ports that do not change, which it has
    if it has a host port.
    """

    constants: tuple[dict[str, int], ...]
    channels: tuple[Channel, ...]
    meeting_points: tuple[MeetingPoint, ...]

    def meeting_point(self, channel: Channel) -> MeetingPoint | None:
        """Where the offers to the sender of a channel come by, if they come by anywhere."""
        return next((each for each in self.meeting_points if channel in each.channels), None)


def topology_of(program: Program) -> Topology:
    """The topology of a finished program."""
    program = program.canonical
    channels = tuple(
        Channel(
            link_name(edge.link),
            program.link_by_name[edge.link],
            edge,
            protocol_of(edge),
            landing_pages(program, edge),
        )
        for edge in program.edges
        if edge.link is not None
    )
    constants = tuple({"coordinate": chip} for chip in range(program.chip_count))
    groups: dict[str, list[Channel]] = {}
    for channel in channels:
        if channel.protocol.depth_from_port:
            constants[channel.source][credits_port(channel.edge)] = channel.depth_pages
        if channel.protocol.meets:
            groups.setdefault(channel.edge.handoff.group, []).append(channel)
    return Topology(
        constants,
        channels,
        tuple(
            MeetingPoint(f"barrier_{module_name(group)}", tuple(members))
            for group, members in groups.items()
        ),
    )
