"""Both ends of a link as one component, with nothing between them: the bench is the delay."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped


class LinkEnds(wiring.Component):
    """A sender and a receiver of pages whose links are ports.

    Members
    -------
    i : ``In(stream.Signature(beat))``
        Beats to send.
    near, far : ``Out(link)``, ``In(link)``
        The link where it leaves the sender, and where it reaches the receiver.
    o : ``Out(stream.Signature(beat, always_ready=True))``
        Beats received.
    page_release : ``In(1)``
        Asserted for one cycle per page that leaves the landing buffer.
    commit : ``Out(1)``
        Only if the receiver has it: asserted for one cycle per page that may be read.
    """

    def __init__(self, sender, receiver):
        self.sender, self.receiver = sender, receiver
        link = sender.link_signature(sender.width_bits)
        self.commits = hasattr(receiver, "commit")
        super().__init__(
            {
                "i": In(stream.Signature(sender.beat)),
                "near": Out(link),
                "far": In(link),
                "o": Out(stream.Signature(sender.beat, always_ready=True)),
                "page_release": In(1),
                **({"commit": Out(1)} if self.commits else {}),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.sender = self.sender
        m.submodules.receiver = self.receiver
        connect(m, flipped(self.i), self.sender.i)
        connect(m, self.sender.link, flipped(self.near))
        connect(m, flipped(self.far), self.receiver.link)
        connect(m, self.receiver.o, flipped(self.o))
        m.d.comb += self.receiver.page_release.eq(self.page_release)
        if self.commits:
            m.d.comb += self.commit.eq(self.receiver.commit)
        return m
