"""The design of a board for its tools: a chip with its bridge, joined to the pins."""

from collections.abc import Sequence

from amaranth.hdl import ClockDomain, Elaboratable, Module
from amaranth.lib import io, wiring

from compiler.ir.program import Program
from hw.board.board import Board, LinkPort
from hw.board.cables import Cabling
from hw.board.clock import ClockGenerator, request
from hw.board.resources import link_name
from hw.board.top import board_top

LINK_WIRES = ("clock", "valid", "data", "back")


class PlatformTop(Elaboratable):
    """Requests the pins of a chip from the platform of its board, and joins them to the chip.

    Parameters
    ----------
    top : component
        The chip with all that it has on a board: ``uart_rx``, ``uart_tx``, and for each link port a
        member of that name with ``clock``, ``valid``, ``data`` and ``back``. It runs in ``sync``.
    board : :class:`Board`
        The board.
    ports : sequence of :class:`LinkPort`
        Link ports that the chip uses.
    """

    def __init__(self, top: wiring.Component, *, board: Board, ports: Sequence[LinkPort]):
        self.top, self.board, self.ports = top, board, tuple(ports)

    def elaborate(self, platform) -> Module:
        m = Module()
        m.domains += ClockDomain("sync")
        m.submodules.clock = ClockGenerator(self.board)
        m.submodules.board = self.top
        uart = request(platform, self.board.uart.resource)
        m.submodules.pin_uart_rx = receive = io.Buffer("i", uart.rx)
        m.submodules.pin_uart_tx = transmit = io.Buffer("o", uart.tx)
        m.d.comb += self.top.uart_rx.eq(receive.i)
        m.d.comb += transmit.o.eq(self.top.uart_tx)
        for port in self.ports:
            self._join_link(m, request(platform, link_name(port)), port)
        return m

    def _join_link(self, m: Module, pins, port: LinkPort) -> None:
        wires = getattr(self.top, port.name)
        for name in LINK_WIRES:
            drives = port.drives(name)
            buffer = io.Buffer("o" if drives else "i", getattr(pins, name))
            m.submodules[f"pin_{port.name}_{name}"] = buffer
            wire = getattr(wires, name)
            m.d.comb += buffer.o.eq(wire) if drives else wire.eq(buffer.i)


def platform_top(program: Program, chip: int, cabling: Cabling) -> PlatformTop:
    """The design of a chip of a program, on its board, with the link ports of its cables."""
    top = board_top(program, chip, cabling)
    return PlatformTop(top, board=cabling.boards[chip], ports=cabling.ports(chip))
