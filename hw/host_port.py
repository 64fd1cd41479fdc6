"""The host port: a chip's registers and memories on an AXI4-Lite bus."""

from collections.abc import Iterator
from functools import reduce
from operator import or_

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import ReadPort, WritePort
from amaranth.lib.wiring import In, Out

from hw.axi_lite import DATA_BITS, DATA_BYTES, AxiLiteSignature, Response
from hw.register_map import Access, Register, RegisterMap, Window

COUNTER_BITS = DATA_BITS


class HostPort(wiring.Component):
    """AXI4-Lite subordinate of a chip: identity, control, status, counters, tensor windows.

    One access at a time. A write is answered 2 cycles after its address and data are both there, a
    read 3 cycles after its address: an address is decoded out of a register. An access that is not
    aligned to 32 bits, meets no register or window, is not allowed there, or touches a window or
    starts a run while one is under way, is answered SLVERR and changes nothing.

    Parameters
    ----------
    registers : :class:`RegisterMap`
        What stands where.
    beats : dict
        Layout of a memory word for each window's tensor.

    Members
    -------
    bus : ``In(AxiLiteSignature(...))``
        The bus.
    start : ``Out(1)``
        Asserted for one cycle when the host starts a run.
    running, done, fault : ``In(1)``
        State of the chip.
    coordinate : ``In(16)``
        Coordinate of the chip.
    cycles, <counter> : ``In(32)``
        Counters, one for each register that names one as its source.
    read_<tensor> : ``In(ReadPort.Signature(...))``
        Read port of each window's memory.
    write_<tensor> : ``In(WritePort.Signature(...))``
        Write port of each window's memory that a host may write, with an enable for each lane.
    """

    def __init__(self, registers: RegisterMap, beats: dict[str, data.ArrayLayout]):
        self.registers = registers
        self.beats = beats
        self.counters = tuple(
            register.source
            for register in registers.registers
            if register.source not in ("", "coordinate", "status")
        )
        members = {
            "bus": In(AxiLiteSignature(registers.address_bits)),
            "start": Out(1),
            "running": In(1),
            "done": In(1),
            "fault": In(1),
            "coordinate": In(16),
            **{counter: In(COUNTER_BITS) for counter in self.counters},
        }
        for window in registers.windows:
            beat, width = beats[window.tensor], (window.beats - 1).bit_length()
            members[f"read_{window.tensor}"] = In(ReadPort.Signature(addr_width=width, shape=beat))
            if window.access is not Access.READ:
                members[f"write_{window.tensor}"] = In(
                    WritePort.Signature(addr_width=width, shape=beat, granularity=1)
                )
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        m = Module()
        self.address = Signal(self.registers.address_bits)
        self.aligned = Signal()
        m.d.comb += self.aligned.eq(self.address[:2] == 0)
        fetches = Signal()
        self._select(m)
        with m.FSM():
            with m.State("IDLE"):
                with m.If(self.bus.awvalid & self.bus.wvalid):
                    m.d.sync += self.address.eq(self.bus.awaddr)
                    m.next = "WRITE"
                with m.Elif(self.bus.arvalid):
                    m.d.comb += self.bus.arready.eq(1)
                    m.d.sync += self.address.eq(self.bus.araddr)
                    m.next = "READ"
            with m.State("WRITE"):
                m.d.comb += self.bus.awready.eq(1)
                m.d.comb += self.bus.wready.eq(1)
                m.d.sync += self.bus.bresp.eq(Response.SLVERR)
                self._write(m)
                m.next = "WRITTEN"
            with m.State("WRITTEN"):
                m.d.comb += self.bus.bvalid.eq(1)
                with m.If(self.bus.bready):
                    m.next = "IDLE"
            with m.State("READ"):
                m.d.comb += fetches.eq(1)
                m.next = "FETCHED"
            with m.State("FETCHED"):
                self._read(m)
                m.next = "ANSWERED"
            with m.State("ANSWERED"):
                m.d.comb += self.bus.rvalid.eq(1)
                with m.If(self.bus.rready):
                    m.next = "IDLE"
        for window in self.registers.windows:
            port = getattr(self, f"read_{window.tensor}")
            m.d.comb += port.addr.eq(_beat_index(window, self.address))
            m.d.comb += port.en.eq(fetches)
        return m

    def _write(self, m: Module) -> None:
        """Do a write that is allowed; the response is an error otherwise."""
        with m.If(self.aligned & ~self.running):
            control = self.registers.register("control")
            with m.If(self.address == control.offset):
                m.d.sync += self.bus.bresp.eq(Response.OKAY)
                m.d.comb += self.start.eq(self.bus.wdata[0] & self.bus.wstrb[0])
            for window in self.registers.windows:
                if window.access is Access.READ:
                    continue
                with m.If(_within(window, self.address)):
                    m.d.sync += self.bus.bresp.eq(Response.OKAY)
                    self._write_lanes(m, window, self.address)

    def _write_lanes(self, m: Module, window: Window, address: Value) -> None:
        port = getattr(self, f"write_{window.tensor}")
        lanes_per_word = DATA_BITS // window.element_bits
        word = _word_index(window, address)
        m.d.comb += port.addr.eq(_beat_index(window, address))
        for lane in range(window.lanes):
            place = lane % lanes_per_word
            m.d.comb += port.data[lane].eq(self.bus.wdata.word_select(place, window.element_bits))
            m.d.comb += port.en[lane].eq(self.bus.wstrb[place] & (word == lane // lanes_per_word))

    def _select(self, m: Module) -> None:
        """Select what the address names, a cycle before it is read."""
        index_bits = (len(self.registers.registers) - 1).bit_length()
        self.shown = Signal(DATA_BITS)
        self.is_shown = Signal()
        self.windows_met = Signal(len(self.registers.windows))
        readable = Signal()
        index = self.address[2 : 2 + index_bits]
        values = []
        for position, register in enumerate(self.registers.registers):
            assert register.offset == position * DATA_BYTES
            is_readable = register.access is not Access.WRITE
            value = self._shown(register) if is_readable else C(0, DATA_BITS)
            values.append(Cat(value, C(0, DATA_BITS - len(value))))
        # A tree of multiplexers takes half of the logic that a case for each register does.
        m.d.sync += self.shown.eq(Cat(values).word_select(index, DATA_BITS))
        with m.Switch(index):
            for position, register in enumerate(self.registers.registers):
                if register.access is not Access.WRITE:
                    with m.Case(position):
                        m.d.comb += readable.eq(1)
        m.d.sync += self.is_shown.eq(
            readable & self.aligned & (self.address[2 + index_bits :] == 0)
        )
        if self.registers.windows:
            m.d.sync += self.windows_met.eq(
                Cat(
                    _within(window, self.address) & self.aligned
                    for window in self.registers.windows
                )
            )

    def _read(self, m: Module) -> None:
        """Answer a read that is allowed; the response is an error otherwise."""
        answers = [self.shown & self.is_shown.replicate(DATA_BITS)]
        is_met = [self.is_shown]
        if self.registers.windows:  # a chip that only passes pages on has none
            met = self.windows_met & (~self.running).replicate(len(self.windows_met))
            answers += self._words(met)
            is_met.append(met.any())
        m.d.sync += self.bus.rdata.eq(reduce(or_, answers))
        m.d.sync += self.bus.rresp.eq(Mux(reduce(or_, is_met), Response.OKAY, Response.SLVERR))

    def _words(self, met: Value) -> Iterator[Value]:
        """The bus word of each window that the address names, or zero where it does not meet it."""
        for window, is_met in zip(self.registers.windows, met, strict=True):
            words = _bus_words(window, getattr(self, f"read_{window.tensor}").data)
            word = words.word_select(_word_index(window, self.address), DATA_BITS)
            yield word & is_met.replicate(DATA_BITS)

    def _shown(self, register: Register) -> Value:
        if register.value is not None:
            return C(register.value, DATA_BITS)
        if register.source == "status":
            return Value.cast(Cat(~self.running, self.running, self.done, self.fault))
        return getattr(self, register.source)


def _within(window: Window, address: Value) -> Value:
    """Whether an address lies in a window, whose offset is a multiple of its span."""
    low = (window.span_bytes - 1).bit_length()
    begins_alike = Value.cast(address[low:] == window.offset >> low)
    if window.span_bytes == 1 << low:
        return begins_alike
    return begins_alike & (address[:low] < window.span_bytes)


def _beat_index(window: Window, address: Value) -> Value:
    low = (window.beat_bytes - 1).bit_length()
    return Value.cast(address[low : low + (window.beats - 1).bit_length()])


def _word_index(window: Window, address: Value) -> Value:
    low, high = (DATA_BYTES - 1).bit_length(), (window.beat_bytes - 1).bit_length()
    return Value.cast(address[low:high]) if high > low else C(0, 1)


def _bus_words(window: Window, beat: data.View) -> Value:
    """A memory word as the bus words of its span."""
    lanes = []
    for lane in range(window.lanes):
        element = Value.cast(beat[lane])
        missing = window.element_bits - len(element)
        lanes.append(Cat(element, element[-1].replicate(missing)))
    rest = C(0, window.beat_bytes * 8 - window.lanes * window.element_bits)
    return Value.cast(Cat(*lanes, rest))
