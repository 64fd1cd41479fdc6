"""A chip: every stage and buffer of one chip coordinate, and the ends of its links."""

from functools import reduce
from operator import and_, or_

from amaranth.hdl import Assert, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from compiler.flow.counts import page_counts
from compiler.ir.buffer import Buffer
from compiler.ir.edge import Edge
from compiler.ir.program import Program
from compiler.ir.stage import Stage
from compiler.ir.tensor import Tensor, TensorRole
from hw.activity import ActivityCounters
from hw.axi_lite import AxiLiteSignature
from hw.chip_registers import chip_events, chip_register_map
from hw.handoffs import depth_from_port, link_signature, receiver_of, transmitter_of
from hw.host_port import HostPort
from hw.interfaces import beat_layout, element_shape
from hw.link_ports import credits_port, deepest_landing, receiver_port, sender_port
from hw.multiplier.plan import MultiplierPlan
from hw.names import local_name
from hw.page_fifo import PageFifo
from hw.tensor_memory import OperandMemory, ResultMemory
from hw.units import Surroundings, unit_kind

MEMORIES = {TensorRole.INPUT: OperandMemory, TensorRole.OUTPUT: ResultMemory}


class Chip(wiring.Component):
    """One chip of a program, stage by stage: each stage, buffer and link end is one submodule.

    Two chips that hold the same stages differ in nothing but the contents of their memories, and
    in the depths of the landing buffers at the other ends of their links, where they are not told.

    Parameters
    ----------
    program : :class:`Program`
        A finished program.
    chip : :class:`int`
        Coordinate of the chip.
    host : :class:`bool`
        Whether the chip has a host port. Without one it has none of the ports for it, does not
        count the waits of its stages, and knows the depths of the landing buffers that it sends
        to; in all else it is the same.
    multipliers : :class:`MultiplierPlan` or None
        What its tile units multiply with, each of them.

    Members
    -------
    host : ``In(AxiLiteSignature(...))``
        Registers and memories; see :mod:`hw.register_map`.
    coordinate : ``In(16)``
        Coordinate of the chip, which the host can read.
    <buffer>_link_credits : ``In(...)``
        Only with a host port, and for Token hand-offs: depth of the landing buffer at the other end
        of the link, in pages. It does not change.
    start : ``In(1)``
        Asserted for one cycle to begin a run. Ignored while the chip runs and is not done.
    done : ``Out(1)``
        Whether the chip has stored or sent all that the program asks of it.
    <buffer>_link : ``Out(link_signature(...))``
        For each edge that leaves the chip, named after the buffer that it takes from.
    <recv>_link : ``In(link_signature(...))``
        For each edge that arrives, named after the Recv stage that it ends in.

    Attributes
    ----------
    memories : dict
        Tensor memories by tensor name.
    units, fifos, transmitters : dict
        Components by the name of their stage, buffer, and outgoing edge.
    activity : :class:`ActivityCounters`
        ``<stage>_active`` for each product; for each outgoing link ``<port>_beats``,
        ``<port>_busy`` and ``<port>_stalled``.
    """

    def __init__(
        self,
        program: Program,
        chip: int,
        *,
        host: bool = False,
        multipliers: MultiplierPlan | None = None,
    ):
        self.program = program = program.canonical
        self.chip = chip
        self.multipliers = multipliers
        self.has_host = bool(host)
        self.view = view = program.chips[chip]
        self.stages, self.products, self.stores = view.stages, view.products, view.stores
        self.outgoing, self.incoming = view.outgoing, view.incoming
        self.beats = {local_name(tensor.name): _memory_beat(tensor) for tensor in view.tensors}
        self.activity = ActivityCounters(chip_events(program, chip, host=self.has_host))
        self.register_map = chip_register_map(program, chip, host=self.has_host)
        host_ports = {
            "coordinate": In(16),
            "host": In(AxiLiteSignature(self.register_map.address_bits)),
            **{
                credits_port(edge): In(range(deepest_landing(program) + 1))
                for edge in self.outgoing
                if depth_from_port(edge, host=self.has_host)
            },
        }
        super().__init__(
            {
                "start": In(1),
                "done": Out(1),
                **(host_ports if host else {}),
                **{sender_port(edge): Out(link_signature(program, edge)) for edge in self.outgoing},
                **{
                    receiver_port(edge): In(link_signature(program, edge)) for edge in self.incoming
                },
            }
        )
        self.memories = {
            tensor.name: MEMORIES[tensor.role](
                _memory_beat(tensor), depth_words=tensor.page_count * tensor.tile
            )
            for tensor in view.tensors
        }
        self.fifos = {buffer.name: self._fifo(buffer) for buffer in view.buffers}
        self.units = {stage.name: self._unit(stage) for stage in self.stages}
        self.transmitters = {
            edge.name: transmitter_of(program, edge, host=self.has_host) for edge in self.outgoing
        }

    def elaborate(self, platform) -> Module:
        m = Module()
        self.starts = Signal()
        for name, memory in self.memories.items():
            m.submodules[f"memory_{local_name(name)}"] = memory
        for name, fifo in self.fifos.items():
            m.submodules[local_name(name)] = fifo
        for stage in self.stages:
            m.submodules[local_name(stage.name)] = self.units[stage.name]
            self._join_stage(m, stage)
        for edge in self.incoming:
            self._join_incoming(m, edge)
        for edge in self.outgoing:
            self._join_outgoing(m, edge)
        self._join_activity(m)
        if self.has_host:
            self._join_host(m)
        else:
            m.d.comb += self.starts.eq(self._pin_starts())
            for memory in self.memories.values():
                if isinstance(memory, OperandMemory):
                    m.d.comb += memory.running.eq(1)
        return m

    # --- Components, one for each thing of the program ------------------------------------------

    def _fifo(self, buffer: Buffer) -> PageFifo:
        assert buffer.depth_pages is not None
        return PageFifo(
            beat_layout(buffer.page),
            page_beats=buffer.page.beats,
            depth_pages=buffer.depth_pages,
            commits=any(
                _by_page(edge) and self.program.landing(edge) == buffer for edge in self.incoming
            ),
            fall_through=buffer.fall_through,
        )

    def _unit(self, stage: Stage) -> wiring.Component:
        buffers, tensor = self.program.buffer_by_name, getattr(stage.kind, "tensor", None)
        around = Surroundings(
            ins=tuple(buffers[name] for name in stage.ins),
            outs=tuple(buffers[name] for name in stage.outs),
            memory_words=0 if tensor is None else self.memories[tensor].depth_words,
            multipliers=self.multipliers,
        )
        return unit_kind(stage).build(stage.kind, around)

    # --- Hand-offs ------------------------------------------------------------------------------

    def _join_stage(self, m: Module, stage: Stage) -> None:
        """Join a stage to its memory, and its streams to the buffers that it takes and fills."""
        unit, kind = self.units[stage.name], unit_kind(stage)
        if "start" in unit.signature.members:
            m.d.comb += unit.start.eq(self.starts)
        if kind.memory:
            memory = self.memories[stage.kind.tensor]
            connect(m, unit.memory, getattr(memory, kind.memory))
        for name, stream in zip(stage.ins, kind.streams_in(unit), strict=True):
            connect(m, self.fifos[name].o, stream)
        for name, stream in zip(stage.outs, kind.streams_out(unit), strict=True):
            if stream.signature.always_ready:
                self._join_results(m, unit, stream, self.fifos[name])
            else:
                connect(m, stream, self.fifos[name].i)

    def _join_results(self, m: Module, unit, stream, fifo: PageFifo) -> None:
        """Join a unit to its buffer, whose room it keeps account of."""
        m.d.comb += fifo.i.payload.eq(stream.payload)
        m.d.comb += fifo.i.valid.eq(stream.valid)
        m.d.comb += unit.page_release.eq(fifo.page_release)
        m.d.sync += Assert(~fifo.i.valid | fifo.i.ready, "a result left without room for it")

    def _join_incoming(self, m: Module, edge: Edge) -> None:
        fifo = self.fifos[self.program.landing(edge).name]
        receiver = receiver_of(self.program, edge)
        m.submodules[f"{local_name(edge.destination)}_receiver"] = receiver
        connect(m, flipped(getattr(self, receiver_port(edge))), receiver.link)
        connect(m, receiver.o, self.units[edge.destination].i)
        m.d.comb += receiver.page_release.eq(fifo.page_release)
        if fifo.commits:
            m.d.comb += fifo.commit.eq(receiver.commit)

    def _join_outgoing(self, m: Module, edge: Edge) -> None:
        transmitter = self.transmitters[edge.name]
        m.submodules[f"{local_name(edge.buffer)}_transmitter"] = transmitter
        connect(m, self.fifos[edge.buffer].o, transmitter.i)
        connect(m, transmitter.link, flipped(getattr(self, sender_port(edge))))
        if "landing_pages" in transmitter.signature.members:
            m.d.comb += transmitter.landing_pages.eq(getattr(self, credits_port(edge)))

    def _join_activity(self, m: Module) -> None:
        """Count what the chip does; it is done when all is stored and all is sent."""
        m.submodules.activity = activity = self.activity
        pages = page_counts(self.program)
        done = [self.units[stage.name].done for stage in self.stores]
        for stage in self.products:
            m.d.comb += getattr(activity, f"{local_name(stage.name)}_active").eq(
                self.units[stage.name].active
            )
        for edge in self.outgoing:
            transmitter, port = self.transmitters[edge.name], sender_port(edge)
            m.d.comb += getattr(activity, f"{port}_beats").eq(transmitter.beat_sent)
            m.d.comb += getattr(activity, f"{port}_busy").eq(transmitter.busy)
            m.d.comb += getattr(activity, f"{port}_stalled").eq(transmitter.stalled)
            beats = pages[edge.buffer] * self.program.buffer_by_name[edge.buffer].page.beats
            done.append(activity.count(f"{port}_beats") == beats)
        m.d.comb += self.done.eq(reduce(and_, done, Const(1)))
        for stage in self.stages if self.has_host else ():
            streams = unit_kind(stage).stalling(self.units[stage.name])
            m.d.comb += getattr(activity, f"{local_name(stage.name)}_stalled").eq(
                reduce(or_, (stream.valid & ~stream.ready for stream in streams))
            )
        m.d.comb += activity.start.eq(self.starts)
        m.d.comb += activity.done.eq(self.done)

    def _join_host(self, m: Module) -> None:
        """Join the host port to the state, the counters and the memories of the chip."""
        m.submodules.host_port = host = HostPort(self.register_map, self.beats)
        connect(m, flipped(self.host), host.bus)
        m.d.comb += self.starts.eq(self._pin_starts() | host.start)
        m.d.comb += host.running.eq(self.activity.running)
        m.d.comb += host.done.eq(self.done)
        m.d.comb += host.coordinate.eq(self.coordinate)
        m.d.comb += host.cycles.eq(self.activity.cycles)
        for counter in host.counters:
            if counter != "cycles":
                m.d.comb += getattr(host, counter).eq(getattr(self.activity, counter))
        for name, memory in self.memories.items():
            connect(m, getattr(host, f"read_{local_name(name)}"), memory.host_read)
            if isinstance(memory, OperandMemory):
                connect(m, getattr(host, f"write_{local_name(name)}"), memory.host_write)
                m.d.comb += memory.running.eq(self.activity.running | self.starts)
        faults = [
            fifo.i.valid & ~fifo.i.ready
            for name, fifo in self.fifos.items()
            if name in self._unstoppable()
        ]
        if faults:
            with m.If(reduce(or_, faults)):
                m.d.sync += host.fault.eq(1)

    def _pin_starts(self) -> Value:
        """Whether the pin starts a run. The host port refuses in mid-run by itself."""
        return self.start & ~(self.activity.running & ~self.done)

    def _unstoppable(self) -> set[str]:
        """Buffers whose writers do not wait: what comes without room is lost, which is a fault."""
        return {out for s in self.stages if not unit_kind(s).waits_for_room for out in s.outs}


def _memory_beat(tensor: Tensor) -> data.ArrayLayout:
    """Layout of a word of a tensor's memory."""
    return data.ArrayLayout(element_shape(tensor.dtype), tensor.tile)


def _by_page(edge: Edge) -> bool:
    """Whether a page of an edge is there only as a whole."""
    return edge.handoff is not None and edge.handoff.by_page
