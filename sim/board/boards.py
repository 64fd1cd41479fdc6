"""The boards of a program: each with a clock of its own, joined by the pins of their links."""

from collections.abc import Sequence
from dataclasses import dataclass

from amaranth.hdl import ClockDomain, DomainRenamer, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect
from amaranth.sim import Simulator

from compiler.ir.program import Program
from hw.board.top import BoardTop
from hw.topology import topology_of

CLOCK_HZ = 1_000_000
"""Nominal frequency of every board."""


@dataclass(frozen=True)
class Crystal:
    """What a board's clock is like.

    Parameters
    ----------
    ratio : float
        Its period, in nominal ones.
    phase : float
        Where its first period begins, in its own periods.
    """

    ratio: float = 1.0
    phase: float = 0.0


class Boards(wiring.Component):
    """Every chip of a program on a board of its own, with a serial line to its host.

    The links are the pins of one board on those of the other, without any delay.

    Parameters
    ----------
    program : :class:`Program`
        A finished program, whose links have flits of at least two cycles.
    divisor : :class:`int`
        Clock cycles per bit of the serial lines.

    Members
    -------
    rx_<chip> : ``In(1, init=1)``
        The line from the host of a chip.
    tx_<chip> : ``Out(1, init=1)``
        The line to the host of a chip.

    Attributes
    ----------
    tops : tuple of :class:`BoardTop`
        The boards by chip.
    domains : tuple of str
        The clock domains by chip.
    """

    def __init__(self, program: Program, *, divisor: int):
        self.program = program = program.canonical
        self.divisor = divisor
        self.topology = topology_of(program)
        chips = range(program.chip_count)
        self.domains = tuple(f"board_{chip}" for chip in chips)
        self.tops = tuple(
            BoardTop(
                program,
                chip,
                ports={each.link.name: each.name for each in self.topology.channels},
                clock_hz=CLOCK_HZ,
                baud=CLOCK_HZ // divisor,
            )
            for chip in chips
        )
        super().__init__(
            {
                **{f"rx_{chip}": In(1, init=1) for chip in chips},
                **{f"tx_{chip}": Out(1, init=1) for chip in chips},
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        for chip, (domain, top) in enumerate(zip(self.domains, self.tops, strict=True)):
            m.domains += ClockDomain(domain)
            m.submodules[domain] = DomainRenamer(domain)(top)
            m.d.comb += top.uart_rx.eq(getattr(self, f"rx_{chip}"))
            m.d.comb += getattr(self, f"tx_{chip}").eq(top.uart_tx)
        for channel in self.topology.channels:
            sender, receiver = self.tops[channel.source], self.tops[channel.destination]
            connect(m, getattr(sender, channel.name), getattr(receiver, channel.name))
        return m

    def simulator(self, crystals: Sequence[Crystal] = ()) -> Simulator:
        """A simulator of the boards; those without a crystal in ``crystals`` have equal clocks."""
        top = Module()
        top.submodules.boards = self
        simulator = Simulator(top)
        period = 1 / CLOCK_HZ
        spare = [Crystal()] * (len(self.domains) - len(crystals))
        for domain, crystal in zip(self.domains, [*crystals, *spare], strict=True):
            begins = period * crystal.ratio * (0.5 + crystal.phase)
            simulator.add_clock(period * crystal.ratio, domain=domain, phase=begins)
        return simulator
