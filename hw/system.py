"""The system: all chips of a program, joined by its links."""

from functools import reduce
from operator import and_

from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from compiler.check import require
from compiler.ir.program import Program
from hw.barrier import BarrierNetwork
from hw.chip import Chip
from hw.link_channel import LinkChannel
from hw.start_guard import StartGuard
from hw.topology import Channel, MeetingPoint, topology_of


class System(wiring.Component):
    """Every chip of a program, named ``c0``, ``c1``, ..., and a channel for each of its links.

    Parameters
    ----------
    program : :class:`Program`
        A finished program.
    host : :class:`bool`
        Whether the chips have host ports.

    Members
    -------
    start : ``In(1)``
        Asserted for one cycle to begin a run on all chips at once. Ignored during a run that it has
        begun: until every chip is done.
    done : ``Out(1)``
        Whether every chip is done: the last output beat is in memory.

    Attributes
    ----------
    chips : tuple of :class:`Chip`
        The chips by coordinate.
    """

    def __init__(self, program: Program, *, host: bool = False):
        self.program = program = program.canonical
        self.chips = tuple(Chip(program, chip, host=host) for chip in range(program.chip_count))
        self.topology = topology_of(program)
        self.channels: dict[str, LinkChannel] = {}
        super().__init__({"start": In(1), "done": Out(1)})

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.start_guard = guard = StartGuard()
        m.d.comb += guard.start.eq(self.start)
        m.d.comb += guard.done.eq(self.done)
        for chip, constants in zip(self.chips, self.topology.constants, strict=True):
            m.submodules[f"c{chip.chip}"] = chip
            m.d.comb += chip.start.eq(guard.starts)
            for port, value in constants.items() if chip.has_host else ():
                m.d.comb += getattr(chip, port).eq(value)
        m.d.comb += self.done.eq(reduce(and_, (chip.done for chip in self.chips)))
        for channel in self.topology.channels:
            self._join_channel(m, channel)
        for point in self.topology.meeting_points:
            self._join_meeting_point(m, point)
        return m

    def _join_channel(self, m: Module, channel: Channel) -> None:
        """Join two chips; where offers meet, ``ready`` goes by way of the group."""
        between = LinkChannel(channel.signature, latency_cycles=channel.latency_cycles)
        m.submodules[channel.name] = self.channels[channel.name] = between
        connect(m, getattr(self.chips[channel.source], channel.sender_port), between.sender)
        port = self._receiver(channel)
        if channel.protocol.meets:
            connect(m, between.receiver.flit, port.flit)
            m.d.comb += port.valid.eq(between.receiver.valid)
        else:
            connect(m, between.receiver, port)

    def _join_meeting_point(self, m: Module, point: MeetingPoint) -> None:
        network = BarrierNetwork(**point.parameters)
        m.submodules[point.name] = network
        m.d.comb += network.ready.eq(Cat(self._receiver(each).ready for each in point.channels))
        for channel in point.channels:
            m.d.comb += self.channels[channel.name].receiver.ready.eq(network.go)

    def _receiver(self, channel: Channel):
        """The port of the chip that receives."""
        return getattr(self.chips[channel.destination], channel.receiver_port)


def elaborate(program: Program) -> System:
    """The system of a program that stands up to its obligations.

    Raises
    ------
    UncertifiedProgramError
        If the program carries no certificate, or does not meet every obligation.
    """
    require(program)
    return System(program)


def settling_cycles(program: Program) -> int:
    """Cycles after a reset or a run until each sender knows of every free page slot.

    A run that starts then takes the cycles that its schedule says; one that starts earlier may have
    to wait for slots that are still on their way.
    """
    return max(
        (
            channel.depth_pages + channel.latency_cycles + 1
            for channel in topology_of(program).channels
        ),
        default=0,
    )
