"""The two ends of a link with its delay between them, for the tests of both kinds of link."""

from collections.abc import Callable, Iterable

from amaranth.hdl import Module
from amaranth.lib import data
from amaranth.lib.wiring import connect

from hw.link_channel import LinkChannel
from tests.hw.simulation import landing_buffer, lanes, producer, simulate

BEAT: data.ArrayLayout = lanes(3)
PAGE_BEATS = 3
# Flits of a beat, which has 24 bits, at widths that divide it, do not, or are greater.
FLITS = {5: 5, 8: 3, 24: 1, 32: 1}


class LinkBench:
    """A sender and a receiver of pages, ``latency_cycles`` apart."""

    def __init__(self, sender, receiver, *, depth_pages: int, latency_cycles: int):
        self.sender = sender
        self.receiver = receiver
        self.depth_pages = depth_pages
        self.module = Module()
        self.module.submodules.sender = sender
        self.module.submodules.receiver = receiver
        if latency_cycles:
            self.module.submodules.channel = channel = LinkChannel(
                sender.link_signature(sender.width_bits), latency_cycles=latency_cycles
            )
            connect(self.module, sender.link, channel.sender)
            connect(self.module, channel.receiver, receiver.link)
        else:
            connect(self.module, sender.link, receiver.link)

    def writer(self, beats: list, *, density: float = 1.0, seed: object = 0) -> Callable:
        """A testbench that offers beats to the sender."""
        return producer(self.sender.i, beats, density=density, seed=seed)

    def reader(
        self, received: list, count: int, *, density: float = 1.0, seed: object = 0
    ) -> Callable:
        """A testbench that reads the receiver's landing buffer."""
        return landing_buffer(
            self.receiver.o,
            received,
            count,
            page_beats=PAGE_BEATS,
            depth_pages=self.depth_pages,
            page_release=self.receiver.page_release,
            commit=getattr(self.receiver, "commit", None),
            density=density,
            seed=seed,
        )

    def transfer(
        self,
        beats: list,
        *,
        write_density: float = 1.0,
        read_density: float = 1.0,
        seed: object = 0,
        monitors: Iterable[Callable] = (),
    ) -> list:
        """Send beats and return what was read at the other end."""
        received: list = []
        simulate(
            self.module,
            self.writer(beats, density=write_density, seed=seed),
            self.reader(received, len(beats), density=read_density, seed=seed),
            monitors=monitors,
        )
        return received
