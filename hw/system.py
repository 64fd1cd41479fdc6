"""The system: all chips of a program, joined by its links."""

from functools import reduce
from operator import and_

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from compiler.ir.program import Program
from hw.chip import Chip, link_signature, receiver_port, sender_port
from hw.link_channel import LinkChannel
from hw.names import module_name


class System(wiring.Component):
    """Every chip of a program, named ``c0``, ``c1``, ..., and a channel for each of its links.

    Parameters
    ----------
    program : :class:`Program`
        A finished program.

    Members
    -------
    start : ``In(1)``
        Asserted for one cycle to begin a run on all chips at once.
    done : ``Out(1)``
        Whether every chip is done: the last output beat is in memory.

    Attributes
    ----------
    chips : tuple of :class:`Chip`
        The chips by coordinate.
    """

    def __init__(self, program: Program):
        self.program = program
        self.chips = tuple(Chip(program, chip) for chip in range(program.chip_count))
        super().__init__({"start": In(1), "done": Out(1)})

    def elaborate(self, platform) -> Module:
        m = Module()
        for chip in self.chips:
            m.submodules[f"c{chip.chip}"] = chip
            m.d.comb += chip.start.eq(self.start)
        m.d.comb += self.done.eq(reduce(and_, (chip.done for chip in self.chips)))
        for edge in self.program.edges:
            for name in edge.route or ():
                link = self.program.link_by_name[name]
                channel = LinkChannel(
                    link_signature(self.program, edge), latency_cycles=link.latency_cycles
                )
                sender = self.chips[link.source_chip]
                receiver = self.chips[link.destination_chip]
                m.submodules[module_name(name)] = channel
                connect(m, getattr(sender, sender_port(edge)), channel.sender)
                connect(m, channel.receiver, getattr(receiver, receiver_port(edge)))
        return m
