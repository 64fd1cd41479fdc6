"""The host's bridge: commands on a serial line become accesses of an AXI4-Lite bus.

The protocol is that of LiteX's UART bone, so that LiteX's own clients speak to a board too. A
command is one byte, followed by the number of words (one byte) and the number of the first word
(four bytes, the highest first: the byte address over four). The words to write follow it, and the
words read answer it, each of four bytes, the highest first. A write is not answered; whether it
came in whole is told by a checksum over all bytes, which its host keeps too.

Source: LiteX, ``Stream2Wishbone`` in ``litex/soc/cores/uart.py``.
"""

from enum import IntEnum

from amaranth.hdl import C, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.crc.catalog import CRC32_ISO_HDLC
from amaranth.lib.wiring import In, Out

from hw.axi_lite import DATA_BITS, DATA_BYTES, AxiLiteSignature, Response
from hw.board.uart import FRAME_BITS, UartReceiver, UartTransmitter, checked_divisor
from hw.interfaces import positive

ADDRESS_BITS = 32
"""Of a byte address that the protocol can name and a bus can have."""
BYTE_BITS = 8
ERROR_WORD = 0xFFFF_FFFF
"""What is sent for a word that the bus did not give."""
ERROR_COUNT_BITS = 16
CHECKSUM = CRC32_ISO_HDLC(data_width=BYTE_BITS)
"""That of Ethernet, zlib and PNG."""


class Command(IntEnum):
    """The first byte of a command."""

    WRITE = 0x01
    READ = 0x02
    WRITE_FIXED = 0x03
    READ_FIXED = 0x04


class UartBone(wiring.Component):
    """Does the accesses that a host asks for on a serial line, one at a time.

    A command of an unknown kind, or for no words, ends with its address. A command that is not
    carried on for ``timeout_cycles`` is dropped, and the next byte begins a new one. A word to
    write is on the bus two cycles after its last byte has come in. A word beyond the bus is an
    error like any that the bus reports: it is counted, and a word read is sent as ``0xFFFFFFFF``.
    Fixed commands access one address again and again.

    The checksum is over every byte that was taken in, and every byte of an answer, in their order:
    a byte that the line lost or damaged on either way makes it another than the host's. A command
    that is dropped begins it anew, so that a host does not take it for done.

    Parameters
    ----------
    address_bits : :class:`int`
        Width of the byte addresses of the bus, from 3 to 32.
    divisor : :class:`int`
        Clock cycles per bit of the line.
    timeout_cycles : :class:`int`
        Silence that ends a command that has begun.

    Members
    -------
    rx : ``In(1, init=1)``
        The line from the host.
    tx : ``Out(1, init=1)``
        The line to the host.
    bus : ``Out(AxiLiteSignature(address_bits))``
        The bus.
    errors : ``Out(16)``
        Accesses that ended in an error; it stops at its highest value. 0 after reset.
    checksum : ``Out(32)``
        CRC-32 of the bytes so far. 0 after reset.

    Raises
    ------
    :exc:`TypeError`
        If a parameter is not an integer of its range.
    :exc:`ValueError`
        If a command times out before its next byte can be there.
    """

    def __init__(self, address_bits: int, *, divisor: int, timeout_cycles: int):
        if address_bits not in range(3, ADDRESS_BITS + 1):
            raise TypeError(
                f"Address bits must be an integer from 3 to {ADDRESS_BITS}, not {address_bits!r}"
            )
        self.address_bits = address_bits
        self.divisor = checked_divisor(divisor)
        self.timeout_cycles = positive(timeout_cycles, "Timeout cycles")
        if timeout_cycles < 2 * FRAME_BITS * divisor:
            raise ValueError(
                f"Timeout cycles must be at least two bytes of {FRAME_BITS * divisor} cycles, "
                f"not {timeout_cycles!r}"
            )
        super().__init__(
            {
                "rx": In(1, init=1),
                "tx": Out(1, init=1),
                "bus": Out(AxiLiteSignature(address_bits)),
                "errors": Out(ERROR_COUNT_BITS),
                "checksum": Out(CHECKSUM.algorithm.crc_width),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.receiver = receiver = UartReceiver(divisor=self.divisor)
        m.submodules.transmitter = transmitter = UartTransmitter(divisor=self.divisor)
        m.d.comb += receiver.rx.eq(self.rx)
        m.d.comb += self.tx.eq(transmitter.tx)
        self.byte, self.answer = receiver.o, transmitter.i
        self.command = Signal(BYTE_BITS)
        self.words_left = Signal(BYTE_BITS)
        self.byte_index = Signal(range(DATA_BYTES))
        self.word = Signal(self.address_bits - 2)
        self.beyond = Signal()
        self.data = Signal(DATA_BITS)
        self.failed = Signal()
        self.next_word = Signal(len(self.word) + 1)
        m.d.comb += self.next_word.eq(self.word + 1)
        self.dropped = Signal()
        self._join_bus(m)
        self._watch_silence(m)
        self._sum_up(m)
        with m.FSM():
            self._take_command(m)
            self._write(m)
            self._read(m)
        with m.If(self.failed & ~self.errors.all()):
            m.d.sync += self.errors.eq(self.errors + 1)
        return m

    def _join_bus(self, m: Module) -> None:
        m.d.comb += self.bus.awaddr.eq(Cat(C(0, 2), self.word))
        m.d.comb += self.bus.araddr.eq(Cat(C(0, 2), self.word))
        m.d.comb += self.bus.wdata.eq(self.data)
        m.d.comb += self.bus.wstrb.eq((1 << DATA_BYTES) - 1)
        for valid, ready in (
            (self.bus.awvalid, self.bus.awready),
            (self.bus.wvalid, self.bus.wready),
            (self.bus.arvalid, self.bus.arready),
        ):
            with m.If(ready):
                m.d.sync += valid.eq(0)

    def _take_command(self, m: Module) -> None:
        """States that take the six bytes of a command."""
        byte = self.byte.payload
        with m.State("COMMAND"):
            m.d.sync += self.byte_index.eq(0)
            m.d.sync += self.word.eq(0)
            m.d.sync += self.beyond.eq(0)
            m.d.comb += self.byte.ready.eq(1)
            with m.If(self.byte.valid):
                m.d.sync += self.command.eq(byte)
                m.next = "LENGTH"
        with m.State("LENGTH"):
            m.d.comb += self.byte.ready.eq(1)
            with m.If(self.byte.valid):
                m.d.sync += self.words_left.eq(byte)
                m.next = "ADDRESS"
            with m.If(self.timed_out):
                self._drop(m)
        with m.State("ADDRESS"):
            m.d.comb += self.byte.ready.eq(1)
            with m.If(self.byte.valid):
                address = Cat(byte, self.word)
                m.d.sync += self.word.eq(address)
                m.d.sync += self.beyond.eq(self.beyond | address[len(self.word) :].any())
                m.d.sync += self.byte_index.eq(self.byte_index + 1)
                with m.If(self.byte_index == DATA_BYTES - 1):
                    m.next = "COMMAND"
                    with m.If(self.words_left != 0), m.Switch(self.command):
                        with m.Case(Command.WRITE, Command.WRITE_FIXED):
                            m.next = "DATA"
                        with m.Case(Command.READ, Command.READ_FIXED):
                            m.next = "ASK"
            with m.If(self.timed_out):
                self._drop(m)

    def _watch_silence(self, m: Module) -> None:
        """Notice when a byte that is waited for does not come."""
        self.timed_out = Signal()
        silence = Signal(range(self.timeout_cycles))
        m.d.comb += self.timed_out.eq((silence == 0) & ~self.byte.valid)
        m.d.sync += silence.eq(silence - 1)
        with m.If(~self.byte.ready | self.byte.valid):
            m.d.sync += silence.eq(self.timeout_cycles - 1)

    def _drop(self, m: Module) -> None:
        """Give a command up."""
        m.d.comb += self.dropped.eq(1)
        m.next = "COMMAND"

    def _sum_up(self, m: Module) -> None:
        """Keep the checksum. Bytes are never taken in while an answer goes out."""
        m.submodules.checksum = checksum = CHECKSUM.create()
        answers = self.answer.valid & self.answer.ready
        m.d.comb += checksum.start.eq(self.dropped)
        m.d.comb += checksum.valid.eq(answers | (self.byte.valid & self.byte.ready))
        m.d.comb += checksum.data.eq(Mux(self.answer.valid, self.answer.payload, self.byte.payload))
        m.d.comb += self.checksum.eq(checksum.crc)

    def _write(self, m: Module) -> None:
        with m.State("DATA"):
            m.d.comb += self.byte.ready.eq(1)
            with m.If(self.byte.valid):
                m.d.sync += self.data.eq(Cat(self.byte.payload, self.data))
                m.d.sync += self.byte_index.eq(self.byte_index + 1)
                with m.If(self.byte_index == DATA_BYTES - 1):
                    m.d.sync += self.bus.awvalid.eq(~self.beyond)
                    m.d.sync += self.bus.wvalid.eq(~self.beyond)
                    m.next = "WRITTEN"
            with m.If(self.timed_out):
                self._drop(m)
        with m.State("WRITTEN"):
            m.d.comb += self.bus.bready.eq(1)
            with m.If(self.bus.bvalid | self.beyond):
                m.d.comb += self.failed.eq(self.beyond | (self.bus.bresp != Response.OKAY))
                self._go_on(m, "DATA")

    def _read(self, m: Module) -> None:
        with m.State("ASK"):
            m.d.sync += self.bus.arvalid.eq(~self.beyond)
            m.next = "ASKED"
        with m.State("ASKED"):
            m.d.comb += self.bus.rready.eq(1)
            with m.If(self.bus.rvalid | self.beyond):
                m.d.comb += self.failed.eq(self.beyond | (self.bus.rresp != Response.OKAY))
                m.d.sync += self.data.eq(Mux(self.failed, ERROR_WORD, self.bus.rdata))
                m.next = "ANSWER"
        with m.State("ANSWER"):
            m.d.comb += self.answer.valid.eq(1)
            m.d.comb += self.answer.payload.eq(self.data[-BYTE_BITS:])
            with m.If(self.answer.ready):
                m.d.sync += self.data.eq(Cat(self.byte.payload, self.data))
                m.d.sync += self.byte_index.eq(self.byte_index + 1)
                with m.If(self.byte_index == DATA_BYTES - 1):
                    self._go_on(m, "ASK")

    def _go_on(self, m: Module, state: str) -> None:
        """Go on to the next word in ``state``, or to the next command."""
        m.d.sync += self.words_left.eq(self.words_left - 1)
        with m.If((self.command == Command.WRITE) | (self.command == Command.READ)):
            m.d.sync += self.word.eq(self.next_word)
            m.d.sync += self.beyond.eq(self.beyond | self.next_word[-1])
        m.next = state
        with m.If(self.words_left == 1):
            m.next = "COMMAND"
