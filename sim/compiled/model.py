"""A chip as the C++ of its model."""

import re
from pathlib import Path

from amaranth.hdl import ClockDomain, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from compiler.ir.program import Program
from hw.activity import COUNT_BITS
from hw.chip import Chip
from hw.verilog.convert import to_rtlil
from sim.compiled.glue import glue
from sim.compiled.ports import ChipPorts, chip_ports
from sim.compiled.tool_runs import ToolRuns
from sim.compiled.toolchain import cxxrtl

HERE = Path(__file__).parent
MEMORY_READ = re.compile(r"^(?=  cell \$memrd)", re.MULTILINE)


class ChipModel(wiring.Component):
    """A chip whose counters can be read from outside, and that is never reset.

    A model starts afresh for each run, so a reset would only cost time: without one, a register is
    no longer chosen between its next value and its first.

    Parameters
    ----------
    chip : :class:`Chip`
        The chip, without a host port.
    counters : list of :class:`str`
        Names of its activity counters.

    Members
    -------
    clk : ``In(1)``
        Clock of everything.
    <counter> : ``Out(32)``
        The counters. All other members are those of the chip.
    """

    def __init__(self, chip: Chip, counters: list[str]):
        self.chip = chip
        self.counters = counters
        super().__init__(
            {
                **chip.signature.members,
                "clk": In(1),
                **{counter: Out(COUNT_BITS) for counter in counters},
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        domain = ClockDomain("sync", reset_less=True)
        m.domains += domain
        m.d.comb += domain.clk.eq(self.clk)
        m.submodules.chip = chip = self.chip
        m.d.comb += chip.start.eq(self.start)
        m.d.comb += self.done.eq(chip.done)
        for name, member in chip.signature.members.items():
            if not member.is_port:
                connect(m, flipped(getattr(self, name)), getattr(chip, name))
        for counter in self.counters:
            m.d.comb += getattr(self, counter).eq(getattr(chip.activity, counter))
        return m


def model_rtlil(program: Program, chip: int) -> str:
    """RTLIL of the model of a chip of a finished program."""
    counters = chip_ports(program, chip).counters
    rtlil = to_rtlil(ChipModel(Chip(program, chip), counters), "chip")
    # A result that only a host would read must stay: what reads it is kept, and so is the memory.
    return MEMORY_READ.sub("  attribute \\\\keep 1\n", rtlil)


def model_source(rtlil: str, ports: ChipPorts, tools: ToolRuns) -> str:
    """C++ of the model of a chip: what CXXRTL makes of it, and its C interface.

    Raises
    ------
    ModelBuildError
        If Yosys refuses the chip, or has to evaluate it more than once a cycle.
    BrokenToolError
        If Yosys does not work.
    """
    interface = (HERE / "model.cc").read_text(encoding="utf-8")
    return "\n".join([cxxrtl(rtlil, f"chip {ports.chip}", tools), interface, glue(ports)])
