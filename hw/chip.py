"""A chip: every stage and buffer of one chip coordinate, and the ends of its links."""

from amaranth.hdl import Module
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, connect, flipped

from compiler.ir.edge import Semaphore
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Load, MatmulTiles, Recv, Store
from hw.fold_unit import FoldUnit
from hw.interfaces import CreditLinkSignature, SemaphoreLinkSignature, beat_layout, element_shape
from hw.link import LinkReceiver, LinkTransmitter
from hw.load_unit import LoadUnit
from hw.page_fifo import PageFifo
from hw.recv_unit import RecvUnit
from hw.semaphore_link import SemaphoreReceiver, SemaphoreTransmitter
from hw.store_unit import StoreUnit
from hw.tile_unit import TileUnit


class Chip(wiring.Component):
    def __init__(self, program: Program, chip: int):
        self.program = program
        self.chip = chip
        self.stages = [s for s in program.stages if s.site is not None and s.site.chip == chip]
        here = {s.name for s in self.stages}
        self.local_edges = [e for e in program.edges if e.source in here and e.destination in here]
        self.outgoing = [e for e in program.edges if e.source in here and e.destination not in here]
        self.incoming = [e for e in program.edges if e.source not in here and e.destination in here]
        self.memories: dict[str, Memory] = {}
        self.components = {}
        ports = {"start": In(1), "done": Out(1)}
        for edge in self.outgoing:
            ports[sender_port(edge)] = Out(link_signature(program, edge))
        for edge in self.incoming:
            ports[receiver_port(edge)] = In(link_signature(program, edge))
        super().__init__(ports)
        for t in program.tensors:
            if t.chip == chip:
                self.memories[t.name] = Memory(
                    shape=data.ArrayLayout(element_shape(t.dtype), t.tile),
                    depth=t.page_count * t.tile,
                    init=[],
                )

    def elaborate(self, platform):
        m = Module()
        p = self.program
        for name, mem in self.memories.items():
            m.submodules[local_name(name)] = mem
        comps = self.components
        fifos = {}
        by_dest = p.edges_by_destination
        for b in p.buffers:
            if b.site.chip == self.chip:
                recv = next(
                    (s for s in self.stages if b.name in s.outs and isinstance(s.kind, Recv)), None
                )
                commits = recv is not None and isinstance(by_dest[recv.name][0].handoff, Semaphore)
                f = PageFifo(
                    beat_layout(b.page),
                    page_beats=b.page.beats,
                    depth_pages=b.depth_pages,
                    commits=commits,
                )
                m.submodules[local_name(b.name)] = fifos[b.name] = f

        def wire(a, b):
            if WIRE == "alias":
                pass
            elif WIRE == "sub":
                mm = Module()
                connect(mm, a, b)
                m.submodules += mm
            else:
                connect(m, a, b)

        dones = []
        act = []
        for s in self.stages:
            match s.kind:
                case Load(tensor, walk):
                    b = p.buffer_by_name[s.outs[0]]
                    mem = self.memories[tensor]
                    c = LoadUnit(
                        beat_layout(b.page),
                        walk=walk,
                        page_beats=b.page.beats,
                        depth_words=mem.depth,
                    )
                    rp = mem.read_port()
                    if WIRE == "alias":
                        c.memory = flipped(rp)
                        fifos[b.name].i = flipped(c.o)
                    else:
                        wire(c.memory, rp)
                        wire(c.o, fifos[b.name].i)
                    m.d.comb += c.start.eq(self.start)
                case Store(tensor, walk):
                    b = p.buffer_by_name[s.ins[0]]
                    mem = self.memories[tensor]
                    c = StoreUnit(
                        beat_layout(b.page),
                        walk=walk,
                        page_beats=b.page.beats,
                        depth_words=mem.depth,
                    )
                    wp = mem.write_port()
                    if WIRE == "alias":
                        c.memory = flipped(wp)
                        c.i = flipped(fifos[b.name].o)
                    else:
                        wire(c.memory, wp)
                        wire(fifos[b.name].o, c.i)
                    m.d.comb += c.start.eq(self.start)
                    dones.append(c.done)
                case MatmulTiles(block_count):
                    ob = p.buffer_by_name[s.outs[0]]
                    ib = p.buffer_by_name[s.ins[0]]
                    c = TileUnit(
                        beat_layout(ib.page),
                        beat_layout(ob.page),
                        block_count=block_count,
                        result_pages=ob.depth_pages,
                    )
                    of = fifos[ob.name]
                    if WIRE == "alias":
                        c.a = flipped(fifos[s.ins[0]].o)
                        c.b = flipped(fifos[s.ins[1]].o)
                        of.i.valid = c.c.valid
                        of.i.payload = c.c.payload
                        c.page_release = of.page_release
                    else:
                        wire(fifos[s.ins[0]].o, c.a)
                        wire(fifos[s.ins[1]].o, c.b)
                        m.d.comb += [
                            of.i.valid.eq(c.c.valid),
                            of.i.payload.eq(c.c.payload),
                            c.page_release.eq(of.page_release),
                        ]
                    act.append((s.name, c.active))
                case Fold(body):
                    ob = p.buffer_by_name[s.outs[0]]
                    c = FoldUnit(beat_layout(ob.page), body=body)
                    if WIRE == "alias":
                        c.i = [flipped(fifos[n].o) for n in s.ins]
                        fifos[ob.name].i = flipped(c.o)
                    else:
                        for i, n in enumerate(s.ins):
                            wire(fifos[n].o, c.i[i])
                        wire(c.o, fifos[ob.name].i)
                case Recv():
                    (e,) = by_dest[s.name]
                    ob = p.buffer_by_name[s.outs[0]]
                    of = fifos[ob.name]
                    c = RecvUnit(beat_layout(ob.page))
                    link = p.link_by_name[e.route[0]]
                    if isinstance(e.handoff, Semaphore):
                        rx = SemaphoreReceiver(
                            beat_layout(ob.page),
                            width_bits=link.width_bits,
                            depth_pages=ob.depth_pages,
                        )
                        m.d.comb += of.commit.eq(rx.commit)
                    else:
                        rx = LinkReceiver(beat_layout(ob.page), width_bits=link.width_bits)
                    m.submodules[local_name(s.name) + "_rx"] = rx
                    connect(m, flipped(getattr(self, receiver_port(e))), rx.link)
                    if WIRE == "alias":
                        rx.page_release = of.page_release
                        c.i = flipped(rx.o)
                        of.i = flipped(c.o)
                    else:
                        m.d.comb += rx.page_release.eq(of.page_release)
                        wire(rx.o, c.i)
                        wire(c.o, of.i)
            comps[s.name] = c
            m.submodules[local_name(s.name)] = c
        for e in self.outgoing:
            b = p.buffer_by_name[e.buffer]
            land = p.buffer_by_name[p.stage_by_name[e.destination].outs[0]]
            link = p.link_by_name[e.route[0]]
            cls = SemaphoreTransmitter if isinstance(e.handoff, Semaphore) else LinkTransmitter
            tx = cls(
                beat_layout(b.page),
                page_beats=b.page.beats,
                width_bits=link.width_bits,
                credits=land.depth_pages,
            )
            m.submodules[local_name(b.name) + "_tx"] = tx
            if WIRE == "alias":
                tx.i = flipped(fifos[b.name].o)
            else:
                wire(fifos[b.name].o, tx.i)
            connect(m, tx.link, flipped(getattr(self, sender_port(e))))
        from functools import reduce
        from operator import and_

        if dones:
            m.d.comb += self.done.eq(reduce(and_, dones))
        return m


WIRE = "sub"


def local_name(name):
    return name.split(".", 1)[-1]


def sender_port(edge):
    return local_name(edge.buffer) + "_link"


def receiver_port(edge):
    return local_name(edge.destination) + "_link"


def link_signature(program, edge):
    w = program.link_by_name[edge.route[0]].width_bits
    return (
        SemaphoreLinkSignature(w) if isinstance(edge.handoff, Semaphore) else CreditLinkSignature(w)
    )
