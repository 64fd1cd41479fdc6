"""An asynchronous serial port: 8 data bits, no parity, one stop bit."""

from amaranth.hdl import C, Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

DATA_BITS = 8
FRAME_BITS = DATA_BITS + 2
"""A start bit, the data, and a stop bit."""
SMALLEST_DIVISOR = 4
"""Below, the middle of a bit is not far enough from its edges."""


def checked_divisor(divisor: object) -> int:
    """Check that ``divisor`` is a number of clock cycles that a bit can take, and return it.

    Raises
    ------
    TypeError
        If it is not.
    """
    if not isinstance(divisor, int) or isinstance(divisor, bool) or divisor < SMALLEST_DIVISOR:
        raise TypeError(
            f"Divisor must be an integer of at least {SMALLEST_DIVISOR} cycles per bit, "
            f"not {divisor!r}"
        )
    return divisor


class UartReceiver(wiring.Component):
    """Takes bytes off a serial line.

    The line passes two flip-flops. A start bit must still be low in its middle; each bit is then
    sampled in its middle, and a byte is offered from the middle of its stop bit on. A byte whose
    stop bit is low is dropped, and what follows is not looked at until the line is high again. A
    byte that is whole while the one before it still waits is lost.

    Parameters
    ----------
    divisor : :class:`int`
        Clock cycles per bit.

    Members
    -------
    rx : ``In(1, init=1)``
        The line, of any clock.
    o : ``Out(stream.Signature(8))``
        Bytes.

    Raises
    ------
    :exc:`TypeError`
        If ``divisor`` is not an integer of at least 4.
    """

    def __init__(self, *, divisor: int):
        self.divisor = checked_divisor(divisor)
        super().__init__({"rx": In(1, init=1), "o": Out(stream.Signature(DATA_BITS))})

    def elaborate(self, platform) -> Module:
        m = Module()
        line = Signal(init=1)
        timer = Signal(range(self.divisor))
        bits_left = Signal(range(FRAME_BITS))
        shift = Signal(DATA_BITS)
        m.submodules.synchronizer = FFSynchronizer(self.rx, line, init=1)
        with m.If(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        m.d.sync += timer.eq(timer - 1)
        with m.FSM():
            with m.State("IDLE"):
                m.d.sync += timer.eq(self.divisor // 2 - 1)
                m.d.sync += bits_left.eq(FRAME_BITS - 1)
                with m.If(~line):
                    m.next = "BITS"
            with m.State("BITS"), m.If(timer == 0):
                m.d.sync += timer.eq(self.divisor - 1)
                m.d.sync += bits_left.eq(bits_left - 1)
                m.d.sync += shift.eq(Cat(shift[1:], line))
                with m.If((bits_left == FRAME_BITS - 1) & line):
                    m.next = "IDLE"
                with m.If(bits_left == 0):
                    with m.If(line & (~self.o.valid | self.o.ready)):
                        m.d.sync += self.o.payload.eq(shift)
                        m.d.sync += self.o.valid.eq(1)
                    m.next = "STOP"
            with m.State("STOP"), m.If(line):
                m.next = "IDLE"
        return m


class UartTransmitter(wiring.Component):
    """Puts bytes on a serial line, the lowest bit first.

    A byte is taken when the line is idle; its start bit is on the line in the next cycle. Bytes
    follow each other after one stop bit and one cycle.

    Parameters
    ----------
    divisor : :class:`int`
        Clock cycles per bit.

    Members
    -------
    i : ``In(stream.Signature(8))``
        Bytes.
    tx : ``Out(1, init=1)``
        The line.

    Raises
    ------
    :exc:`TypeError`
        If ``divisor`` is not an integer of at least 4.
    """

    def __init__(self, *, divisor: int):
        self.divisor = checked_divisor(divisor)
        super().__init__({"i": In(stream.Signature(DATA_BITS)), "tx": Out(1, init=1)})

    def elaborate(self, platform) -> Module:
        m = Module()
        timer = Signal(range(self.divisor))
        bits_left = Signal(range(FRAME_BITS + 1))
        frame = Signal(FRAME_BITS, init=-1)  # the line is its lowest bit
        m.d.comb += self.tx.eq(frame[0])
        m.d.comb += self.i.ready.eq(bits_left == 0)
        m.d.sync += timer.eq(timer - 1)
        with m.If(self.i.ready):
            m.d.sync += timer.eq(self.divisor - 1)
            with m.If(self.i.valid):
                m.d.sync += frame.eq(Cat(C(0, 1), self.i.payload, C(1, 1)))
                m.d.sync += bits_left.eq(FRAME_BITS)
        with m.Elif(timer == 0):
            m.d.sync += timer.eq(self.divisor - 1)
            m.d.sync += frame.eq(Cat(frame[1:], C(1, 1)))
            m.d.sync += bits_left.eq(bits_left - 1)
        return m
