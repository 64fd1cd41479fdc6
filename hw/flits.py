"""Beats to flits and back: how a wide beat crosses a narrow link."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hw.interfaces import flit_count, lane_layout, positive


class BeatSerializer(wiring.Component):
    """Sends each beat as flits, lowest bits first. Combinational from ``i`` to ``o``.

    Parameters
    ----------
    beat : :class:`data.ArrayLayout`
        Layout of one beat.
    width_bits : :class:`int`
        Width of a flit. The last flit of a beat is padded with zeros.

    Members
    -------
    i : ``In(stream.Signature(beat))``
        Beats. A beat is taken with its last flit.
    o : ``Out(stream.Signature(width_bits))``
        Flits.
    """

    def __init__(self, beat: data.ArrayLayout, *, width_bits: int):
        self.beat = lane_layout(beat, "Beat")
        self.width_bits = positive(width_bits, "Link width")
        self.flit_count = flit_count(beat.size, width_bits)
        super().__init__({"i": In(stream.Signature(beat)), "o": Out(stream.Signature(width_bits))})

    def elaborate(self, platform) -> Module:
        m = Module()
        m.d.comb += self.o.valid.eq(self.i.valid)
        if self.flit_count == 1:
            m.d.comb += self.o.payload.eq(self.i.payload.as_value())
            m.d.comb += self.i.ready.eq(self.o.ready)
            return m
        flit = Signal(range(self.flit_count))
        last = flit == self.flit_count - 1
        m.d.comb += self.o.payload.eq(self.i.payload.as_value().word_select(flit, self.width_bits))
        m.d.comb += self.i.ready.eq(self.o.ready & last)
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += flit.eq(Mux(last, 0, flit + 1))
        return m


class BeatDeserializer(wiring.Component):
    """Puts flits together again. A beat is out in the cycle in which its last flit comes in.

    Parameters
    ----------
    beat : :class:`data.ArrayLayout`
        Layout of one beat.
    width_bits : :class:`int`
        Width of a flit.

    Members
    -------
    i : ``In(stream.Signature(width_bits, always_ready=True))``
        Flits.
    o : ``Out(stream.Signature(beat, always_ready=True))``
        Beats.
    """

    def __init__(self, beat: data.ArrayLayout, *, width_bits: int):
        self.beat = lane_layout(beat, "Beat")
        self.width_bits = positive(width_bits, "Link width")
        self.flit_count = flit_count(beat.size, width_bits)
        super().__init__(
            {
                "i": In(stream.Signature(width_bits, always_ready=True)),
                "o": Out(stream.Signature(beat, always_ready=True)),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        if self.flit_count == 1:
            m.d.comb += self.o.payload.eq(self.i.payload)
            m.d.comb += self.o.valid.eq(self.i.valid)
            return m
        earlier = Signal(self.width_bits * (self.flit_count - 1))
        flit = Signal(range(self.flit_count))
        last = flit == self.flit_count - 1
        m.d.comb += self.o.payload.eq(Cat(earlier, self.i.payload)[: self.beat.size])
        m.d.comb += self.o.valid.eq(self.i.valid & last)
        with m.If(self.i.valid):
            m.d.sync += earlier.eq(Cat(earlier, self.i.payload)[self.width_bits :])
            m.d.sync += flit.eq(Mux(last, 0, flit + 1))
        return m
