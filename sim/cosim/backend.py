"""What a test body does to a component, whichever simulator runs it.

A body is one coroutine that goes through a component's cycles: it sets inputs, gets what the
outputs make of them, and ticks. So the same body runs on Amaranth's simulator and, on the emitted
Verilog, under cocotb, and the two cannot drift apart.
"""

from collections.abc import Awaitable, Callable
from typing import Protocol

from amaranth.hdl import ClockDomain, Module, ResetInserter, Signal
from amaranth.lib import wiring
from amaranth.sim import Simulator

from hw.verilog.convert import component_ports

CLOCK_PERIOD_SECONDS = 1e-8


class Backend(Protocol):
    """A component in a simulator. Ports have the names of the emitted Verilog, values are bits."""

    def set(self, port: str, value: int) -> None:
        """Set an input."""
        ...

    async def get(self, *ports: str) -> tuple[int | None, ...]:
        """The values of ports once all that was set has settled; ``None`` where undefined."""
        ...

    async def tick(self) -> None:
        """Pass a clock edge."""
        ...

    async def reset(self) -> None:
        """Set all inputs to zero and reset the component for one cycle."""
        ...


UnitBody = Callable[[Backend], Awaitable[None]]


class AmaranthBackend:
    """A component in Amaranth's simulator."""

    def __init__(self, ctx, component: wiring.Component, reset: Signal):
        self._ctx, self._reset = ctx, reset
        self._ports = {port.name: (port, value) for port, value in component_ports(component)}

    def set(self, port: str, value: int) -> None:
        """Set an input."""
        self._ctx.set(self._ports[port][1], value)

    async def get(self, *ports: str) -> tuple[int | None, ...]:
        """The values of ports."""
        return tuple(self._bits(port) for port in ports)

    async def tick(self) -> None:
        """Pass a clock edge."""
        await self._ctx.tick()

    async def reset(self) -> None:
        """Set all inputs to zero and reset the component for one cycle."""
        for port, _ in self._ports.values():
            if port.direction == "input":
                self.set(port.name, 0)
        self._ctx.set(self._reset, 1)
        await self.tick()
        self._ctx.set(self._reset, 0)

    def _bits(self, port: str) -> int:
        value = self._ports[port][1]
        return self._ctx.get(value) & ((1 << len(value)) - 1)


def run_on_amaranth(component: wiring.Component, body: UnitBody) -> None:
    """Run a body on a component in Amaranth's simulator."""
    reset = Signal()
    top = Module()
    top.domains.sync = ClockDomain()
    top.submodules.component = ResetInserter(reset)(component)
    simulator = Simulator(top)
    simulator.add_clock(CLOCK_PERIOD_SECONDS)

    async def testbench(ctx):
        await body(AmaranthBackend(ctx, component, reset))

    simulator.add_testbench(testbench)
    simulator.run()
