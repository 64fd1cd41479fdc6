"""The subordinate's end of an AXI4-Lite bus, with every channel waiting at random."""

import random
from dataclasses import dataclass, field

from tests.hw.bus_bench import ALL_BYTES, OKAY, PROMPT, SLVERR, Channel


@dataclass
class BusSubordinate:
    """Words by address; what is not there is answered SLVERR.

    Holds the manager to the rules of its channels: a request stays as it is until it is taken.
    ``accesses`` logs what was asked for, in order.
    """

    bus: object
    words: dict[int, int]
    pace: Channel = PROMPT
    seed: object = 0
    accesses: list[tuple[str, int]] = field(default_factory=list)

    async def serve(self, ctx) -> None:
        """A monitor that answers for ever."""
        bus, pace = self.bus, self.pace
        rng = random.Random(f"subordinate/{self.seed}")
        requests = {
            "aw": (bus.awvalid, bus.awready, bus.awaddr, pace.address),
            "w": (bus.wvalid, bus.wready, bus.wdata, pace.data),
            "ar": (bus.arvalid, bus.arready, bus.araddr, pace.address),
        }
        held: dict[str, int] = {}
        waiting: dict[str, int] = {}
        answering = ""
        while True:
            for name, (_, ready, _, willing) in requests.items():
                busy = answering or name in held
                ctx.set(ready, not busy and rng.random() < willing)
            samples = [s for v, r, p, _ in requests.values() for s in (v, r, p)]
            _, _, bready, rready, strobe, *seen = await ctx.tick().sample(
                bus.bready, bus.rready, bus.wstrb, *samples
            )
            for index, name in enumerate(requests):
                valid, ready, payload = seen[3 * index : 3 * index + 3]
                if name in waiting:
                    assert valid, f"{name} is taken back"
                    assert payload == waiting.pop(name), f"{name} changes"
                if valid and ready:
                    held[name] = payload
                elif valid:
                    waiting[name] = payload
            if answering and (bready if answering == "b" else rready) and self._is_valid(ctx):
                ctx.set(bus.bvalid, 0)
                ctx.set(bus.rvalid, 0)
                answering = ""
                continue
            if not answering and {"aw", "w"} <= held.keys():
                self._write(ctx, held.pop("aw"), held.pop("w"), strobe)
                answering = "b"
            elif not answering and "ar" in held:
                self._read(ctx, held.pop("ar"))
                answering = "r"
            if answering and rng.random() < pace.response:
                ctx.set(bus.bvalid if answering == "b" else bus.rvalid, 1)

    def _is_valid(self, ctx) -> bool:
        return bool(ctx.get(self.bus.bvalid) or ctx.get(self.bus.rvalid))

    def _write(self, ctx, address: int, data: int, strobe: int) -> None:
        self.accesses.append(("write", address))
        assert strobe == ALL_BYTES
        known = address in self.words
        if known:
            self.words[address] = data
        ctx.set(self.bus.bresp, OKAY if known else SLVERR)

    def _read(self, ctx, address: int) -> None:
        self.accesses.append(("read", address))
        known = address in self.words
        ctx.set(self.bus.rdata, self.words.get(address, 0x0BAD_0BAD))
        ctx.set(self.bus.rresp, OKAY if known else SLVERR)
