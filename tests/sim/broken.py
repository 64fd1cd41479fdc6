"""Channels that lose what they should carry, for runs that cannot end."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hw.link_channel import LinkChannel


class CutChannel(wiring.Component):
    """Carries nothing at all."""

    def __init__(self, link: wiring.Signature, *, latency_cycles: int):
        super().__init__({"sender": In(link), "receiver": Out(link)})

    def elaborate(self, platform) -> Module:
        return Module()


class OneWayChannel(CutChannel):
    """Carries flits, but no credit comes back."""

    def elaborate(self, platform) -> Module:
        m = Module()
        m.d.sync += self.receiver.flit.valid.eq(self.sender.flit.valid)
        m.d.sync += self.receiver.flit.payload.eq(self.sender.flit.payload)
        return m


def one_way_if_latency_is(latency_cycles: int):
    """A maker of channels, of which those with this latency return no credit."""

    def make(link, **options):
        broken = options["latency_cycles"] == latency_cycles
        return (OneWayChannel if broken else LinkChannel)(link, **options)

    return make
