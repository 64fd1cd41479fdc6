"""A system of compiled chips, joined by its links, at the moment of reset."""

import ctypes

import numpy as np

from compiler.ir.program import Program
from compiler.ir.tensor import Tensor
from hw.topology import Channel, MeetingPoint, topology_of
from sim.compiled.glue import lane_words
from sim.compiled.library import (
    NEVER,
    BarrierState,
    ChipState,
    Lane,
    Model,
    ModelLibrary,
    Receiver,
    SystemState,
)
from sim.compiled.ports import ChipPorts, LinkEnd, chip_ports, chunk_count

MOST_LOOK_AHEAD_CYCLES = 64
"""Longer rounds gain nothing, and a run goes on to the end of the round in which it is done."""


class CompiledChip:
    """A model, and what the program says of its chip."""

    def __init__(self, ports: ChipPorts, model: Model):
        self.ports, self.model = ports, model
        self._counters = {name: index for index, name in enumerate(ports.counters)}

    def counter(self, name: str) -> int:
        """Value of an activity counter."""
        return self.model.library.counter(self.model, self._counters[name])

    def memory(self, tensor: Tensor) -> np.ndarray:
        """Words of a tensor's memory, as rows of 32-bit words. Writing to them sets them."""
        return self.model.library.memory(
            self.model,
            self.ports.tensors.index(tensor),
            depth=tensor.page_count * tensor.tile,
            chunks=chunk_count(tensor.tile * tensor.dtype.bits),
        )


class CompiledSystem:
    """Chips and links of a program in the driver's structures, just after reset.

    Parameters
    ----------
    program : Program
        A finished program.
    libraries : dict
        The library of each chip's model.
    """

    def __init__(self, program: Program, libraries: dict[int, ModelLibrary]):
        self.program = program = program.canonical
        topology = topology_of(program)
        self._channels = {channel.edge.name: channel for channel in topology.channels}
        latencies = [channel.latency_cycles for channel in topology.channels]
        look_ahead = min([*latencies, MOST_LOOK_AHEAD_CYCLES])
        self._slots = 1 << (max(latencies, default=0) + look_ahead - 1).bit_length()
        self._kept: list[object] = []
        self._rings: dict[tuple[str, str], np.ndarray] = {}
        self.chips = [
            CompiledChip(chip_ports(program, chip), libraries[chip].new())
            for chip in range(program.chip_count)
        ]
        states = [self._chip_state(chip, libraries[chip.ports.chip]) for chip in self.chips]
        barriers = [self._barrier_state(point) for point in topology.meeting_points]
        self.state = SystemState(
            chips=self._array(ChipState, states),
            chip_count=len(states),
            barriers=self._array(BarrierState, barriers),
            barrier_count=len(barriers),
            look_ahead_cycles=look_ahead,
            thread_count=1,
            cycle=0,
            started=0,
        )

    @property
    def done_cycle(self) -> int | None:
        """First cycle in which every chip was done, counted from reset; ``None`` before that."""
        last = max(self.state.chips[index].done_cycle for index in range(len(self.chips)))
        return None if last == NEVER else last

    def _chip_state(self, chip: CompiledChip, library: ModelLibrary) -> ChipState:
        lanes = self._array(Lane, [self._lane(end) for end in chip.ports.ends])
        return ChipState(chip.model.handle, library.run, lanes, NEVER)

    def _lane(self, end: LinkEnd) -> Lane:
        """The rings of one end: what the sender's end calls leaving, the receiver's has arriving.

        At a barrier, the receiver's offers take no time to the network, which fills the ring that
        the sender reads.
        """
        channel = self._channels[end.edge.name]
        forward = self._ring(channel, "forward", lane_words(end.forward))
        backward = self._ring(channel, "backward", lane_words(end.backward))
        delay_cycles = channel.latency_cycles
        arriving, leaving = (backward, forward) if end.sends else (forward, backward)
        if channel.protocol.meets and not end.sends:
            leaving, delay_cycles = self._ring(channel, "offers", 1), 0
        return Lane(
            arriving=arriving.ctypes.data,
            leaving=leaving.ctypes.data,
            arriving_words=arriving.shape[1],
            leaving_words=leaving.shape[1],
            delay_cycles=delay_cycles,
            slot_mask=self._slots - 1,
        )

    def _barrier_state(self, point: MeetingPoint) -> BarrierState:
        receivers = [
            Receiver(
                ready=self._ring(channel, "offers", 1).ctypes.data,
                go=self._ring(channel, "backward", 1).ctypes.data,
                delay_cycles=channel.latency_cycles,
                offered=0,
            )
            for channel in point.channels
        ]
        return BarrierState(
            receivers=self._array(Receiver, receivers),
            receiver_count=len(receivers),
            offered_mask=(1 << point.depth_pages.bit_length()) - 1,
            slot_mask=self._slots - 1,
        )

    def _ring(self, channel: Channel, direction: str, words: int) -> np.ndarray:
        ring = self._rings.get((channel.name, direction))
        if ring is None:
            ring = self._rings[channel.name, direction] = np.zeros((self._slots, words), np.uint32)
        return ring

    def _array(self, kind: type[ctypes.Structure], items: list):
        """A C array that lives as long as the system."""
        array = (kind * len(items))(*items)
        self._kept.append(array)
        return ctypes.cast(array, ctypes.POINTER(kind))
