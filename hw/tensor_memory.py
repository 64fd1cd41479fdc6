"""The memory of a tensor, shared by the stage that uses it and the host."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory, MemoryData, ReadPort, WritePort
from amaranth.lib.wiring import In, Out, connect, flipped

from hw.interfaces import lane_layout, positive


class OperandMemory(wiring.Component):
    """Memory of an operand: a load reads it in a run, the host reads and writes it otherwise.

    One write port and one synchronous read port, whose address comes from the load or, outside of a
    run, from the host. Nothing is read in a cycle in which something is written.

    Parameters
    ----------
    beat : :class:`data.ArrayLayout`
        Layout of one word.
    depth_words : :class:`int`
        Words in the memory.

    Members
    -------
    running : ``In(1)``
        Whether the load owns the read port.
    load : ``Out(ReadPort.Signature(...))``
        Read port of the load.
    host_read : ``Out(ReadPort.Signature(...))``
        Read port of the host. Reads nothing during a run.
    host_write : ``Out(WritePort.Signature(...))``
        Write port of the host, with an enable for each lane.
    """

    def __init__(self, beat: data.ArrayLayout, *, depth_words: int):
        self.beat = lane_layout(beat, "Beat")
        self.depth_words = positive(depth_words, "Depth in words")
        self.memory = Memory(shape=beat, depth=depth_words, init=[])
        width = (depth_words - 1).bit_length()
        super().__init__(
            {
                "running": In(1),
                "load": Out(ReadPort.Signature(addr_width=width, shape=beat)),
                "host_read": Out(ReadPort.Signature(addr_width=width, shape=beat)),
                "host_write": Out(WritePort.Signature(addr_width=width, shape=beat, granularity=1)),
            }
        )

    @property
    def depth(self) -> int:
        """Words in the memory."""
        return self.depth_words

    @property
    def data(self) -> MemoryData:
        """The words themselves, for a simulator."""
        return self.memory.data

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.memory = self.memory
        read = self.memory.read_port(domain="comb")
        connect(m, flipped(self.host_write), self.memory.write_port(granularity=1))
        reads = Signal()
        with m.If(self.running):
            m.d.comb += read.addr.eq(self.load.addr)
            m.d.comb += reads.eq(self.load.en)
        with m.Else():
            m.d.comb += read.addr.eq(self.host_read.addr)
            m.d.comb += reads.eq(self.host_read.en)
        # The register is that of the block RAM. Synthesis adds logic for a word that is read while
        # it is written, unless it sees that none is.
        data = Signal(self.beat)
        with m.If(reads & ~self.host_write.en.any()):
            m.d.sync += data.eq(read.data)
        m.d.comb += self.load.data.eq(data)
        m.d.comb += self.host_read.data.eq(data)
        return m


class ResultMemory(wiring.Component):
    """Memory of an output: a store writes it, the host reads it.

    Parameters
    ----------
    beat : :class:`data.ArrayLayout`
        Layout of one word.
    depth_words : :class:`int`
        Words in the memory.

    Members
    -------
    store : ``Out(WritePort.Signature(...))``
        Write port of the store.
    host_read : ``Out(ReadPort.Signature(...))``
        Read port of the host.
    """

    def __init__(self, beat: data.ArrayLayout, *, depth_words: int):
        self.beat = lane_layout(beat, "Beat")
        self.depth_words = positive(depth_words, "Depth in words")
        self.memory = Memory(shape=beat, depth=depth_words, init=[])
        width = (depth_words - 1).bit_length()
        super().__init__(
            {
                "store": Out(WritePort.Signature(addr_width=width, shape=beat)),
                "host_read": Out(ReadPort.Signature(addr_width=width, shape=beat)),
            }
        )

    @property
    def depth(self) -> int:
        """Words in the memory."""
        return self.depth_words

    @property
    def data(self) -> MemoryData:
        """The words themselves, for a simulator."""
        return self.memory.data

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.memory = self.memory
        connect(m, flipped(self.store), self.memory.write_port())
        connect(m, flipped(self.host_read), self.memory.read_port())
        return m
