"""The design of a board for its tools: a chip with its bridge, joined to the pins."""

from amaranth.build import Platform
from amaranth.hdl import ClockDomain, Elaboratable, Module
from amaranth.lib import io, wiring

from compiler.ir.program import Program
from constraints.board import Board, LinkPort
from constraints.cables import Cabling
from hw.board.clock import ClockGenerator, request
from hw.board.link_pads import LinkPads
from hw.board.resources import link_name
from hw.board.top import board_top


class PlatformTop(Elaboratable):
    """Gives a chip its clock, and joins it to the pins of its serial port.

    Parameters
    ----------
    top : component
        The chip with all that it has on a board: ``uart_rx`` and ``uart_tx``; its links have their
        pads. It runs in ``sync``.
    board : :class:`Board`
        The board.
    """

    def __init__(self, top: wiring.Component, *, board: Board):
        self.top, self.board = top, board

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
        return m


def link_pads(platform: Platform, port: LinkPort) -> LinkPads:
    """The pads of a link port, which its platform can be asked for once."""
    pins = request(platform, link_name(port))
    return LinkPads(clock=pins.clock, valid=pins.valid, data=pins.data, back=pins.back)


def platform_top(program: Program, chip: int, cabling: Cabling, platform: Platform) -> PlatformTop:
    """The design of a chip of a program, on its board, with the link ports of its cables."""
    pads = {port.name: link_pads(platform, port) for port in cabling.ports(chip)}
    top = board_top(program, chip, cabling, pads=pads)
    return PlatformTop(top, board=cabling.boards[chip])
