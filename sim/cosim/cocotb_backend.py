"""A component's Verilog under cocotb. To be imported inside of a simulator only."""

from amaranth.lib import wiring
from cocotb.triggers import Timer
from cocotb.types import Logic

from hw.verilog.convert import component_ports


class CocotbBackend:
    """A component's Verilog under cocotb.

    It makes the clock itself and leaves time before and after each edge, so that no result hangs
    on the order in which a simulator does what happens at once.
    """

    def __init__(self, dut, component: wiring.Component):
        self._dut = dut
        self._inputs = [p.name for p, _ in component_ports(component) if p.direction == "input"]

    def set(self, port: str, value: int) -> None:
        """Set an input."""
        getattr(self._dut, port).value = value

    async def get(self, *ports: str) -> tuple[int | None, ...]:
        """The values of ports, ``None`` where a bit is neither 0 nor 1."""
        await Timer(1, "ns")
        return tuple(_number(getattr(self._dut, port).value) for port in ports)

    async def tick(self) -> None:
        """Pass a clock edge."""
        await Timer(1, "ns")
        self._dut.clk.value = 1
        await Timer(1, "ns")
        self._dut.clk.value = 0

    async def reset(self) -> None:
        """Set all inputs to zero and reset the component for one cycle."""
        self._dut.clk.value = 0
        for port in self._inputs:
            self.set(port, 0)
        self._dut.rst.value = 1
        await self.tick()
        self._dut.rst.value = 0


def _number(value) -> int | None:
    if not value.is_resolvable:
        return None
    return int(value) if isinstance(value, Logic) else value.to_unsigned()
