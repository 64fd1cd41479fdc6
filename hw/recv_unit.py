"""The component of a Recv stage."""

from amaranth.hdl import Assert, Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hw.interfaces import lane_layout


class RecvUnit(wiring.Component):
    """Puts the beats that a link delivers into the landing buffer of its own site.

    The link cannot be held up, and need not be: its sender holds room in the landing buffer for
    every page that it sends. Combinational.

    Parameters
    ----------
    beat : :class:`data.ArrayLayout`
        Layout of one beat.

    Members
    -------
    i : ``In(stream.Signature(beat, always_ready=True))``
        Beats from the link.
    o : ``Out(stream.Signature(beat))``
        Beats into the landing buffer.
    """

    def __init__(self, beat: data.ArrayLayout):
        self.beat = lane_layout(beat, "Beat")
        super().__init__(
            {
                "i": In(stream.Signature(beat, always_ready=True)),
                "o": Out(stream.Signature(beat)),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        m.d.comb += self.o.payload.eq(self.i.payload)
        m.d.comb += self.o.valid.eq(self.i.valid)
        m.d.sync += Assert(
            ~self.o.valid | self.o.ready, "a beat arrived without room in the landing buffer"
        )
        return m
