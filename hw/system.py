from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from hw.chip import *
from hw.link_channel import LinkChannel


class System(wiring.Component):
    def __init__(self, program):
        self.program = program
        self.chips = [Chip(program, c) for c in range(program.chip_count)]
        super().__init__({"start": In(1), "done": Out(1)})

    def elaborate(self, platform):
        m = Module()
        p = self.program
        for i, c in enumerate(self.chips):
            m.submodules[f"c{i}"] = c
            m.d.comb += c.start.eq(self.start)
        for e in p.edges:
            if p.crosses(e):
                link = p.link_by_name[e.route[0]]
                c = LinkChannel(link_signature(p, e), latency_cycles=link.latency_cycles)
                m.submodules["link_" + link.name.replace("->", "_")] = c
                mm = Module()
                connect(mm, getattr(self.chips[link.source_chip], sender_port(e)), c.sender)
                m.submodules += mm
                mm = Module()
                connect(
                    mm, c.receiver, getattr(self.chips[link.destination_chip], receiver_port(e))
                )
                m.submodules += mm
        m.d.comb += self.done.eq(self.chips[0].done)
        return m
