"""The manager's end of an AXI4-Lite bus, with every channel waiting at random."""

import random
from dataclasses import dataclass

from amaranth.hdl import Cat

from hw.axi_lite import DATA_BYTES

OKAY, SLVERR = 0b00, 0b10
ALL_BYTES = 0b1111


@dataclass(frozen=True)
class Channel:
    """How often one side of a channel is willing to go on in a cycle."""

    address: float = 1.0
    data: float = 1.0
    response: float = 1.0


PROMPT = Channel()
PACES = {
    "prompt": PROMPT,
    "late data": Channel(data=0.2),
    "late address": Channel(address=0.2),
    "late answers": Channel(response=0.2),
    "late at all": Channel(0.3, 0.3, 0.3),
}


class BusManager:
    """Does one access at a time, and holds the subordinate to the rules of its channels.

    An answer must not come before it is asked for, must stay as it is until it is taken, and must
    not come twice.
    """

    def __init__(self, bus, *, pace: Channel = PROMPT, seed: object = 0):
        self.bus = bus
        self.pace = pace
        self.rng = random.Random(f"manager/{seed}")

    async def write(self, ctx, address: int, data: int, strobe: int = ALL_BYTES) -> int:
        """Write a word and return the response. Address and data go when they please."""
        bus, pace = self.bus, self.pace
        ctx.set(bus.awaddr, address)
        ctx.set(bus.wdata, data)
        ctx.set(bus.wstrb, strobe)
        waiting = [
            (bus.awvalid, bus.awready, pace.address),
            (bus.wvalid, bus.wready, pace.data),
        ]
        while waiting:
            for valid, _, willing in waiting:
                if self._willing(willing):
                    ctx.set(valid, 1)
            samples = [Cat(valid, ready).all() for valid, ready, _ in waiting]
            _, _, answered, *taken = await ctx.tick().sample(bus.bvalid, *samples)
            assert not answered, "a write is answered before it is asked for"
            for (valid, _, _), is_taken in zip(waiting, taken, strict=True):
                if is_taken:
                    ctx.set(valid, 0)
            waiting = [w for w, is_taken in zip(waiting, taken, strict=True) if not is_taken]
        (response,) = await self._answer(ctx, bus.bvalid, bus.bready, bus.bresp)
        return response

    async def read(self, ctx, address: int) -> tuple[int, int]:
        """Read a word and return it with the response."""
        bus = self.bus
        ctx.set(bus.araddr, address)
        while not self._willing(self.pace.address):
            await ctx.tick()
        ctx.set(bus.arvalid, 1)
        taken = False
        while not taken:
            _, _, taken, answered = await ctx.tick().sample(bus.arready, bus.rvalid)
            assert not answered, "a read is answered before it is asked for"
        ctx.set(bus.arvalid, 0)
        data, response = await self._answer(ctx, bus.rvalid, bus.rready, bus.rdata, bus.rresp)
        return data, response

    async def read_bytes(self, ctx, address: int, size: int) -> bytes:
        """Read whole words that must be there."""
        words = []
        for offset in range(0, size, DATA_BYTES):
            data, response = await self.read(ctx, address + offset)
            assert response == OKAY, f"read of {address + offset:#x}"
            words.append(data.to_bytes(DATA_BYTES, "little"))
        return b"".join(words)

    async def write_bytes(self, ctx, address: int, data: bytes) -> None:
        """Write whole words that must be writable."""
        for offset in range(0, len(data), DATA_BYTES):
            word = int.from_bytes(data[offset : offset + DATA_BYTES], "little")
            assert await self.write(ctx, address + offset, word) == OKAY

    async def _answer(self, ctx, valid, ready, *payload) -> list[int]:
        """Take an answer, which must wait for that unchanged and then be gone."""
        seen = None
        taken = False
        while not taken:
            willing = self._willing(self.pace.response)
            ctx.set(ready, willing)
            _, _, is_valid, *values = await ctx.tick().sample(valid, *payload)
            if seen is not None:
                assert is_valid, "an answer is taken back"
                assert values == seen, "an answer changes"
            if is_valid:
                seen = values
            taken = is_valid and willing
        ctx.set(ready, 0)
        assert not ctx.get(valid), "an answer comes twice"
        assert seen is not None
        return seen

    def _willing(self, probability: float) -> bool:
        return self.rng.random() < probability


async def write_at_once(ctx, managers, address: int, data: int) -> None:
    """Write the same word over several idle buses in one cycle."""
    for manager in managers:
        ctx.set(manager.bus.awaddr, address)
        ctx.set(manager.bus.wdata, data)
        ctx.set(manager.bus.wstrb, ALL_BYTES)
        for signal in (manager.bus.awvalid, manager.bus.wvalid, manager.bus.bready):
            ctx.set(signal, 1)
    accepted = [s for manager in managers for s in (manager.bus.awready, manager.bus.wready)]
    _, _, *ready = await ctx.tick().sample(*accepted)
    assert not any(ready)
    _, _, *ready = await ctx.tick().sample(*accepted)
    assert all(ready)
    for manager in managers:
        ctx.set(manager.bus.awvalid, 0)
        ctx.set(manager.bus.wvalid, 0)
    answers = [s for manager in managers for s in (manager.bus.bvalid, manager.bus.bresp)]
    _, _, *answered = await ctx.tick().sample(*answers)
    assert answered == [1, OKAY] * len(managers)
    for manager in managers:
        ctx.set(manager.bus.bready, 0)
