"""The system: all chips of a program, joined by its links."""

from functools import reduce
from operator import and_

from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from compiler.check import require
from compiler.ir.edge import Barrier, Edge
from compiler.ir.program import Program
from hw.barrier import BarrierNetwork
from hw.chip import Chip
from hw.link_channel import LinkChannel
from hw.link_ports import constants, link_signature, receiver_port, sender_port
from hw.names import link_name, module_name
from hw.start_guard import StartGuard


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
        super().__init__({"start": In(1), "done": Out(1)})

    def elaborate(self, platform) -> Module:
        m = Module()
        self.barrier_ends: dict[Barrier, list] = {}
        m.submodules.start_guard = guard = StartGuard()
        m.d.comb += guard.start.eq(self.start)
        m.d.comb += guard.done.eq(self.done)
        for chip in self.chips:
            m.submodules[f"c{chip.chip}"] = chip
            m.d.comb += chip.start.eq(guard.starts)
            for port, value in constants(self.program, chip.chip).items() if chip.has_host else ():
                m.d.comb += getattr(chip, port).eq(value)
        m.d.comb += self.done.eq(reduce(and_, (chip.done for chip in self.chips)))
        for edge in self.program.edges:
            for name in edge.route or ():
                link = self.program.link_by_name[name]
                channel = LinkChannel(
                    link_signature(self.program, edge), latency_cycles=link.latency_cycles
                )
                sender = self.chips[link.source_chip]
                receiver = self.chips[link.destination_chip]
                m.submodules[link_name(name)] = channel
                connect(m, getattr(sender, sender_port(edge)), channel.sender)
                self._join_receiver(m, edge, channel, getattr(receiver, receiver_port(edge)))
        for handoff in {edge.handoff: None for edge in self.program.edges}:
            if isinstance(handoff, Barrier):
                self._join_barrier(m, handoff)
        return m

    def _join_receiver(self, m: Module, edge: Edge, channel: LinkChannel, port) -> None:
        """Join a channel to its receiver; at a barrier, ``ready`` goes by way of the group."""
        if not isinstance(edge.handoff, Barrier):
            connect(m, channel.receiver, port)
            return
        connect(m, channel.receiver.flit, port.flit)
        m.d.comb += port.valid.eq(channel.receiver.valid)
        self.barrier_ends.setdefault(edge.handoff, []).append((edge, port, channel.receiver))

    def _join_barrier(self, m: Module, handoff: Barrier) -> None:
        ends = self.barrier_ends[handoff]
        landings = [self.program.stage_by_name[edge.destination].outs[0] for edge, _, _ in ends]
        depths = [self.program.buffer_by_name[name].depth_pages or 0 for name in landings]
        network = BarrierNetwork(receivers=len(ends), depth_pages=max(depths))
        m.submodules[f"barrier_{module_name(handoff.group)}"] = network
        m.d.comb += network.ready.eq(Cat(port.ready for _, port, _ in ends))
        for _, _, receiver in ends:
            m.d.comb += receiver.ready.eq(network.go)


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
            (program.buffer_by_name[landing].depth_pages or 0) + link.latency_cycles + 1
            for edge in program.edges
            for link in (program.link_by_name[name] for name in edge.route or ())
            for landing in program.stage_by_name[edge.destination].outs
        ),
        default=0,
    )
