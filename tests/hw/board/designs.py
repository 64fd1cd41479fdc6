"""Small designs for boards, and what a board's pin file says of a pin."""

import re

from amaranth.hdl import Assert, ClockDomain, Elaboratable, Module, Signal
from amaranth.lib import io

from bitstream.build_plan import BuildPlan
from constraints.board import Board
from hw.board.clock import ClockGenerator, request

LOCATIONS = {
    "ecp5": r'LOCATE COMP "{port}" SITE "(\w+)";',
    "ice40": r"set_io {port} (\w+)",
    "xilinx7": r'set_property LOC (\w+) \[get_ports "{port}"\]',
}


class Blinker(Elaboratable):
    """A register in a component of its own, on the pin that sends to the host."""

    def __init__(self, board: Board, *, name: str = "toggle"):
        self.board, self.name = board, name

    def elaborate(self, platform):
        m = Module()
        m.domains += ClockDomain("sync")
        m.submodules.clock = ClockGenerator(self.board)
        m.submodules[self.name] = toggle = Module()
        on = Signal()
        toggle.d.sync += on.eq(~on)
        toggle.d.sync += Assert(on | ~on, "a register without a value")
        pin = request(platform, self.board.uart.resource).tx
        m.submodules.pin_uart_tx = buffer = io.Buffer("o", pin)
        m.d.comb += buffer.o.eq(on)
        return m


def location(plan: BuildPlan, port: str) -> str | None:
    """The package pin that a plan's pin file gives a port."""
    if plan.family == "xilinx7":  # whose file is a script in Tcl
        port = port.replace("[", "\\[")
    pattern = LOCATIONS[plan.family].format(port=re.escape(port))
    found = re.search(pattern, dict(plan.files)[plan.pin_file])
    return found[1] if found else None
