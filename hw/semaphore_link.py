"""The two ends of a link that carries Semaphore hand-offs: page by page, store and forward."""

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hw.flits import BeatDeserializer
from hw.interfaces import SemaphoreLinkSignature, lane_layout, positive
from hw.link import LinkTransmitter


class SemaphoreTransmitter(LinkTransmitter):
    """Sends a page once the receiver has raised ``ready`` for a slot, then raises ``valid``.

    It differs from :class:`LinkTransmitter` in that it starts without any slot, and in the
    ``valid`` strobe one cycle after the last flit of a page. Parameters and members are the same,
    but ``link`` is ``Out(SemaphoreLinkSignature(width_bits))``.
    """

    link_signature = SemaphoreLinkSignature

    def keep_slots(self, m: Module, taken, returned: Signal) -> Value:
        """Count what the receiver offers; no slot is known before."""
        return self.count_slots(m, taken, returned, initial=0)

    def slot_return(self) -> Signal:
        """The receiver's offer."""
        return self.link.ready

    def page_sent(self, m: Module, last_flit) -> None:
        """Raise ``valid`` behind the page's last flit."""
        last_on_link = Signal()
        m.d.sync += last_on_link.eq(last_flit)
        m.d.sync += self.link.valid.eq(last_on_link)


class SemaphoreReceiver(wiring.Component):
    """Offers page slots, puts flits together, and releases a page when it is complete.

    Parameters
    ----------
    beat : :class:`data.ArrayLayout`
        Layout of one beat.
    width_bits : :class:`int`
        Bits that cross the link in one cycle.
    depth_pages : :class:`int`
        Pages that fit into the landing buffer.

    Members
    -------
    link : ``In(SemaphoreLinkSignature(width_bits))``
        The link.
    o : ``Out(stream.Signature(beat, always_ready=True))``
        Beats.
    commit : ``Out(1)``
        Asserted for one cycle per page that may be read.
    page_release : ``In(1)``
        Asserted for one cycle per page that leaves the landing buffer.

    Raises
    ------
    :exc:`TypeError`
        If ``beat`` is not an array layout, or a count is not a positive integer.
    """

    def __init__(self, beat: data.ArrayLayout, *, width_bits: int, depth_pages: int):
        self.beat = lane_layout(beat, "Beat")
        self.width_bits = positive(width_bits, "Link width")
        self.depth_pages = positive(depth_pages, "Depth in pages")
        super().__init__(
            {
                "link": In(SemaphoreLinkSignature(width_bits)),
                "o": Out(stream.Signature(beat, always_ready=True)),
                "commit": Out(1),
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
        unoffered = Signal(range(self.depth_pages + 1), init=self.depth_pages)
        m.d.comb += self.link.ready.eq(unoffered != 0)
        m.d.comb += self.commit.eq(self.link.valid)
        m.d.sync += unoffered.eq(unoffered - self.link.ready + self.page_release)
        return m
