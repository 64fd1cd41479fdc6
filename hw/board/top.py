"""All that is on a board's device: the chip, its links over pins, and the bridge to its host."""

from collections.abc import Mapping
from functools import reduce
from operator import or_

from amaranth.hdl import Module, Mux, ResetInserter, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from compiler.ir.edge import Edge
from compiler.ir.program import Program
from constraints.cables import Cabling
from hw.board.board_port import BoardPort
from hw.board.link_pads import LinkPads
from hw.board.multipliers import board_multipliers
from hw.board.pin_link import PinLinkSignature
from hw.board.pin_receiver import PinReceiver
from hw.board.pin_transmitter import PinTransmitter
from hw.board.uart_bone import ADDRESS_BITS, UartBone
from hw.chip import Chip
from hw.handoffs import protocol_of
from hw.link_ports import credits_port, landing_pages, link_of, receiver_port, sender_port
from hw.multiplier.plan import MultiplierPlan
from hw.program_digest import program_digest

TIMEOUT_SECONDS = 0.1
"""Silence on the serial line that ends a command that has begun: the default of LiteX's bridge."""


class BoardTop(wiring.Component):
    """A chip with a host port, its bridge to a serial line, and its links on pins.

    Nothing is sent on a link until the receiving board is ready. A start of this board, by its host
    or over a link, starts the boards that send to it too, so a host starts the home chip alone.

    Parameters
    ----------
    program : :class:`Program`
        A finished program.
    chip : :class:`int`
        Coordinate of the chip.
    ports : mapping of str to str
        Link port of the board for each link of the chip, by the name of the link.
    clock_hz : :class:`int`
        Frequency of the clock.
    baud : :class:`int`
        Bits per second on the serial line.
    multipliers : :class:`MultiplierPlan` or None
        What the multipliers of a tile unit are; left to the tools if ``None``.
    pads : mapping of str to :class:`LinkPads`, or None
        I/O ports of each link port. If left out, the wires of the links are members.

    Members
    -------
    uart_rx : ``In(1, init=1)``
        The line from the host.
    uart_tx : ``Out(1, init=1)``
        The line to the host.
    <port> : ``Out(PinLinkSignature(...))`` or ``In(PinLinkSignature(...))``
        Pins of each link port, of a link that leaves or arrives, unless they are ``pads``.

    Raises
    ------
    :exc:`ValueError`
        If a link has no port, or does not carry Token hand-offs.
    """

    def __init__(
        self,
        program: Program,
        chip: int,
        *,
        ports: Mapping[str, str],
        clock_hz: int,
        baud: int,
        multipliers: MultiplierPlan | None = None,
        pads: Mapping[str, LinkPads] | None = None,
    ):
        self.program = program = program.canonical
        self.pads = pads
        self.chip = Chip(program, chip, host=True, multipliers=multipliers)
        self.ports = {
            edge.name: _port(edge, ports) for edge in (*self.chip.outgoing, *self.chip.incoming)
        }
        self.transmitters = {edge.name: self._transmitter(edge) for edge in self.chip.outgoing}
        self.receivers = {edge.name: self._receiver(edge) for edge in self.chip.incoming}
        self.board_port = BoardPort(
            self.chip.register_map.address_bits,
            clock_hz=clock_hz,
            link_count=len(self.ports),
            digest=program_digest(program),
        )
        self.bridge = UartBone(
            ADDRESS_BITS,
            divisor=max(1, round(clock_hz / baud)),
            timeout_cycles=round(TIMEOUT_SECONDS * clock_hz),
        )
        ends = {**self.transmitters, **self.receivers}
        super().__init__(
            {
                "uart_rx": In(1, init=1),
                "uart_tx": Out(1, init=1),
                **{
                    self.ports[name]: (Out if name in self.transmitters else In)(
                        PinLinkSignature(end.data_pins)
                    )
                    for name, end in ends.items()
                    if pads is None
                },
            }
        )

    def _transmitter(self, edge: Edge) -> PinTransmitter:
        link = link_of(self.program, edge)
        pads = self._pads(edge)
        return PinTransmitter(link.width_bits, flit_cycles=link.flit_cycles, pads=pads)

    def _receiver(self, edge: Edge) -> PinReceiver:
        link = link_of(self.program, edge)
        pages = landing_pages(self.program, edge)
        return PinReceiver(link.width_bits, credits=pages, pads=self._pads(edge))

    def _pads(self, edge: Edge) -> LinkPads | None:
        return None if self.pads is None else self.pads[self.ports[edge.name]]

    def elaborate(self, platform) -> Module:
        m = Module()
        port, bridge = self.board_port, self.bridge
        m.submodules.bridge = bridge
        m.submodules.board_port = port
        m.submodules.chip = ResetInserter(port.hold)(self.chip)
        connect(m, bridge.bus, port.bus)
        connect(m, port.chip, self.chip.host)
        m.d.comb += bridge.rx.eq(self.uart_rx)
        m.d.comb += self.uart_tx.eq(bridge.tx)
        m.d.comb += port.bus_errors.eq(bridge.errors)
        m.d.comb += port.checksum.eq(bridge.checksum)
        m.d.comb += self.chip.coordinate.eq(self.chip.chip)

        starts, running = Signal(), self.chip.activity.running
        heard = [transmitter.start for transmitter in self.transmitters.values()]
        m.d.comb += starts.eq(reduce(or_, heard, port.start) & ~running & ~port.hold)
        m.d.comb += self.chip.start.eq(starts)
        m.d.comb += port.running.eq(running)
        for index, edge in enumerate((*self.chip.outgoing, *self.chip.incoming)):
            sends = edge.name in self.transmitters
            end = self.transmitters[edge.name] if sends else self.receivers[edge.name]
            if sends:
                self._join_outgoing(m, edge)
            else:
                self._join_incoming(m, edge, starts)
            m.d.comb += port.links_up[index].eq(end.up)
        return m

    def _join_outgoing(self, m: Module, edge: Edge) -> None:
        transmitter, name = self.transmitters[edge.name], self.ports[edge.name]
        m.submodules[f"{name}_transmitter"] = transmitter
        connect(m, getattr(self.chip, sender_port(edge)), transmitter.link)
        if self.pads is None:
            connect(m, transmitter.pins, flipped(getattr(self, name)))
        pages = landing_pages(self.program, edge)
        m.d.comb += getattr(self.chip, credits_port(edge)).eq(Mux(transmitter.up, pages, 0))

    def _join_incoming(self, m: Module, edge: Edge, starts: Signal) -> None:
        receiver, name = self.receivers[edge.name], self.ports[edge.name]
        m.submodules[f"{name}_receiver"] = receiver
        connect(m, receiver.link, getattr(self.chip, receiver_port(edge)))
        if self.pads is None:
            connect(m, flipped(getattr(self, name)), receiver.pins)
        m.d.comb += receiver.held.eq(self.board_port.hold)
        m.d.comb += receiver.start.eq(starts)


def board_top(
    program: Program,
    chip: int,
    cabling: Cabling,
    *,
    pads: Mapping[str, LinkPads] | None = None,
) -> BoardTop:
    """A chip of a program on its board, with the link ports that its cables take.

    Parameters
    ----------
    pads : mapping of str to :class:`LinkPads`, or None
        I/O ports of each link port.

    Raises
    ------
    ValueError
        If the cables do not join the chip's links.
    """
    board = cabling.boards[chip]
    ports: dict[str, str] = {}
    for cable in cabling.cables:
        source, destination = cabling.ends(cable)
        if cable.source == chip:
            ports[cable.link] = source.name
        if cable.destination == chip:
            ports[cable.link] = destination.name
    return BoardTop(
        program,
        chip,
        ports=ports,
        clock_hz=board.clock.target_hz,
        baud=board.uart.baud,
        multipliers=board_multipliers(program, chip, board),
        pads=pads,
    )


def _port(edge: Edge, ports: Mapping[str, str]) -> str:
    link = edge.link
    if link is None or link not in ports:
        raise ValueError(f"Ports must hold one for every link, and do not for {link!r}")
    if not protocol_of(edge).depth_from_port:
        kind = type(edge.handoff).__name__
        raise ValueError(f"Link {link!r} must carry Token hand-offs to cross pins, not {kind}")
    return ports[link]
