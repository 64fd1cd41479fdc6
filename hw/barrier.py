"""The meeting point of a Barrier hand-off."""

from functools import reduce
from operator import and_

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hw.interfaces import positive


class BarrierNetwork(wiring.Component):
    """Lets a round begin when every receiver of a group has offered a page slot for it.

    It stands between the receivers and the channels that carry their offers back, and replaces each
    receiver's own offer by that of the whole group. Combinational from ``ready`` to ``go``.

    Parameters
    ----------
    receivers : :class:`int`
        Receivers in the group.
    depth_pages : :class:`int`
        Page slots of the receiver that has the most.

    Members
    -------
    ready : ``In(receivers)``
        Bit by bit: asserted for one cycle for each page slot that a receiver offers.
    go : ``Out(1)``
        Asserted for one cycle for each round that may begin.

    Raises
    ------
    :exc:`TypeError`
        If a count is not a positive integer.
    """

    def __init__(self, *, receivers: int, depth_pages: int):
        self.receivers = positive(receivers, "Receivers")
        self.depth_pages = positive(depth_pages, "Depth in pages")
        super().__init__({"ready": In(receivers), "go": Out(1)})

    def elaborate(self, platform) -> Module:
        m = Module()
        offered = [
            Signal(range(self.depth_pages + 1), name=f"offered_{receiver}")
            for receiver in range(self.receivers)
        ]
        m.d.comb += self.go.eq(
            reduce(
                and_,
                ((offers != 0) | ready for offers, ready in zip(offered, self.ready, strict=True)),
            )
        )
        for offers, ready in zip(offered, self.ready, strict=True):
            m.d.sync += offers.eq(offers + ready - self.go)
        return m
