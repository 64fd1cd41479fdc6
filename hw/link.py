"""The two ends of a link that carries Token hand-offs: credits in pages."""

from amaranth.hdl import Assert, C, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hw.flits import BeatDeserializer, BeatSerializer
from hw.interfaces import CreditLinkSignature, lane_layout, positive


class LinkTransmitter(wiring.Component):
    """Sends pages as flits while the receiver has room for them.

    A page starts only while a credit is held. Flits leave through a register, so a beat is on the
    link one cycle after it came. A returned credit can be spent in the next cycle.

    Parameters
    ----------
    beat : :class:`data.ArrayLayout`
        Layout of one beat.
    page_beats : :class:`int`
        Beats in a page.
    width_bits : :class:`int`
        Bits of a flit.
    credits : :class:`int`
        Depth of the landing buffer, in pages. The link is full while the credits cover the time
        from a page's first flit to the return of its credit.
    flit_cycles : :class:`int`
        Cycles for which a flit holds the link: the next one leaves so many cycles later at least.
    depth_from_port : :class:`bool`
        Whether the depth is an input, so that one netlist serves landing buffers of ``credits``
        pages and less.

    Members
    -------
    i : ``In(stream.Signature(beat))``
        Beats to send.
    link : ``Out(CreditLinkSignature(width_bits))``
        The link.
    beat_sent : ``Out(1)``
        Asserted in the cycle in which the last flit of a beat is taken.
    busy : ``Out(1)``
        Asserted in a cycle in which a flit holds the link, from the one in which it is taken.
    stalled : ``Out(1)``
        Asserted in a cycle in which a beat waits for a credit, and for nothing else.
    landing_pages : ``In(range(credits + 1))``
        Only if ``depth_from_port``. Depth of the landing buffer, in pages, which does not change,
        but is 0 while the link is down: then no page begins.

    Raises
    ------
    :exc:`TypeError`
        If ``beat`` is not an array layout, or a count is not a positive integer.
    """

    def __init__(
        self,
        beat: data.ArrayLayout,
        *,
        page_beats: int,
        width_bits: int,
        credits: int,
        flit_cycles: int = 1,
        depth_from_port: bool = False,
    ):
        self.beat = lane_layout(beat, "Beat")
        self.page_beats = positive(page_beats, "Page beats")
        self.width_bits = positive(width_bits, "Link width")
        self.credits = positive(credits, "Credits")
        self.flit_cycles = positive(flit_cycles, "Flit cycles")
        self.depth_from_port = bool(depth_from_port)
        members = {
            "i": In(stream.Signature(beat)),
            "link": Out(self.link_signature(width_bits)),
            "beat_sent": Out(1),
            "busy": Out(1),
            "stalled": Out(1),
        }
        if depth_from_port:
            members["landing_pages"] = In(range(credits + 1))
        super().__init__(members)

    link_signature = CreditLinkSignature

    def keep_slots(self, m: Module, taken, returned: Signal) -> Value:
        """Keep account of the page slots that pages take and returns free; say if one is free."""
        if self.depth_from_port:
            slots_taken = Signal(range(self.credits + 1))
            m.d.sync += slots_taken.eq(slots_taken + taken - returned)
            m.d.sync += Assert(
                ~returned | (slots_taken != 0), "a page slot returned that was never taken"
            )
            return (slots_taken != self.landing_pages) & (self.landing_pages != 0)
        return self.count_slots(m, taken, returned, initial=self.credits)

    def count_slots(self, m: Module, taken, returned: Signal, *, initial: int) -> Value:
        """Count the page slots that are free, ``initial`` after reset; say if there is one."""
        slots = Signal(range(self.credits + 1), init=initial)
        m.d.sync += slots.eq(slots - taken + returned)
        m.d.sync += Assert(
            ~returned | (slots != self.credits), "a page slot returned that was never taken"
        )
        return slots != 0

    def slot_return(self) -> Signal:
        """Strobe of one more free page slot."""
        return self.link.credit

    def page_sent(self, m: Module, last_flit) -> None:
        """Say that a page is complete. Credits need no word of it."""

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.serializer = serializer = BeatSerializer(self.beat, width_bits=self.width_bits)
        connect(m, flipped(self.i), serializer.i)
        page_flits = self.page_beats * serializer.flit_count
        flit = Signal(range(page_flits))
        first, last = flit == 0, flit == page_flits - 1
        sends = Signal()
        held = self._hold(m, sends)
        admitted = ~first | self.keep_slots(m, sends & first, self.slot_return())

        m.d.comb += serializer.o.ready.eq(admitted & ~held)
        m.d.comb += sends.eq(serializer.o.valid & admitted & ~held)
        m.d.comb += self.busy.eq(sends | held)
        m.d.comb += self.stalled.eq(serializer.o.valid & ~admitted & ~held)
        m.d.comb += self.beat_sent.eq(self.i.valid & self.i.ready)
        m.d.sync += self.link.flit.valid.eq(sends)
        with m.If(sends):
            m.d.sync += self.link.flit.payload.eq(serializer.o.payload)
            m.d.sync += flit.eq(Mux(last, 0, flit + 1))
        self.page_sent(m, sends & last)
        return m

    def _hold(self, m: Module, sends: Signal) -> Value:
        """Whether the flit before still holds the link."""
        if self.flit_cycles == 1:
            return C(0, 1)
        held = Signal(range(self.flit_cycles))
        with m.If(sends):
            m.d.sync += held.eq(self.flit_cycles - 1)
        with m.Elif(held != 0):
            m.d.sync += held.eq(held - 1)
        return held != 0


class LinkReceiver(wiring.Component):
    """Puts flits together and returns a credit for each page that leaves the landing buffer.

    Combinational.

    Parameters
    ----------
    beat : :class:`data.ArrayLayout`
        Layout of one beat.
    width_bits : :class:`int`
        Bits that cross the link in one cycle.

    Members
    -------
    link : ``In(CreditLinkSignature(width_bits))``
        The link.
    o : ``Out(stream.Signature(beat, always_ready=True))``
        Beats.
    page_release : ``In(1)``
        Asserted for one cycle per page that leaves the landing buffer.
    """

    def __init__(self, beat: data.ArrayLayout, *, width_bits: int):
        self.beat = lane_layout(beat, "Beat")
        self.width_bits = positive(width_bits, "Link width")
        super().__init__(
            {
                "link": In(CreditLinkSignature(width_bits)),
                "o": Out(stream.Signature(beat, always_ready=True)),
                "page_release": In(1),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.deserializer = deserializer = BeatDeserializer(
            self.beat, width_bits=self.width_bits
        )
        connect(m, flipped(self.link.flit), deserializer.i)
        connect(m, deserializer.o, flipped(self.o))
        m.d.comb += self.link.credit.eq(self.page_release)
        return m
