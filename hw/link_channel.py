"""What lies between two chips: the delay of a link."""

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hw.interfaces import positive

REGISTER_BITS = 8192
"""Bits of one register, unless a single cycle has more: simulators do not take any width."""


class LinkChannel(wiring.Component):
    """Delays a link by a fixed number of cycles in each direction.

    It stands for the boards, cables and transceivers between two chips, so it belongs to the
    system and not to a chip.

    Parameters
    ----------
    link : :class:`wiring.Signature`
        Signature of the link, seen from the sending chip.
    latency_cycles : :class:`int`
        Registers in each direction.

    Members
    -------
    sender : ``In(link)``
        The sending chip's end.
    receiver : ``Out(link)``
        The receiving chip's end.

    Raises
    ------
    :exc:`TypeError`
        If ``latency_cycles`` is not a positive integer.
    """

    def __init__(self, link: wiring.Signature, *, latency_cycles: int):
        self.link = link
        self.latency_cycles = positive(latency_cycles, "Link latency")
        super().__init__({"sender": In(link), "receiver": Out(link)})

    def elaborate(self, platform) -> Module:
        m = Module()
        ends = zip(self.link.flatten(self.sender), self.link.flatten(self.receiver), strict=True)
        forward, backward = [], []
        for (_, member, sender), (_, _, receiver) in ends:
            if isinstance(Value.cast(sender), Const):
                continue  # the ready of a stream that is always ready
            if member.flow == Out:
                forward.append((sender, receiver))
            else:
                backward.append((receiver, sender))
        self._delay(m, "forward", forward)
        self._delay(m, "backward", backward)
        return m

    def _delay(self, m: Module, name: str, pairs: list) -> None:
        moving = Cat(source for source, _ in pairs)
        leaving = Cat(destination for _, destination in pairs)
        width = len(moving)
        cycles_each = max(1, REGISTER_BITS // max(1, width))
        for first in range(0, self.latency_cycles, cycles_each):
            cycles = min(cycles_each, self.latency_cycles - first)
            in_flight = Signal(width * cycles, name=f"{name}_in_flight_{first}")
            m.d.sync += in_flight.eq(Cat(moving, in_flight)[: len(in_flight)])
            moving = in_flight[len(in_flight) - width :]
        m.d.comb += leaving.eq(moving)
