# amaranth: UnusedElaboratable=no
"""The pins of a chip on its board: each wire of each link, in the direction of its port."""

import re

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from bitstream.build_plan import build_plan
from constraints.description import board_names, load_board
from hw.board.pin_receiver import PinReceiver
from hw.board.pin_transmitter import PinTransmitter
from hw.board.platform_top import PlatformTop, link_pads
from hw.board.resources import platform_of
from tests.hw.board.designs import location


class Ends(wiring.Component):
    """The end of a link on every port, of flits that are what the host sends."""

    def __init__(self, platform, ports, *, flit_cycles):
        self.ends = {}
        for port in ports:
            pads, width = link_pads(platform, port), len(port.data)
            self.ends[port.name] = (
                PinTransmitter(width, flit_cycles=flit_cycles, pads=pads)
                if port.direction == "out"
                else PinReceiver(width, credits=2, pads=pads)
            )
        super().__init__({"uart_rx": In(1), "uart_tx": Out(1)})

    def elaborate(self, platform):
        m = Module()
        heard = Signal()
        m.d.sync += heard.eq(self.uart_rx)
        shown = heard
        for name, end in self.ends.items():
            m.submodules[name] = end
            if isinstance(end, PinTransmitter):
                m.d.comb += end.link.flit.valid.eq(heard)
                m.d.comb += end.link.flit.payload.eq(heard.replicate(end.data_pins))
                shown = shown ^ end.link.credit ^ end.up
            else:
                shown = shown ^ end.link.flit.valid ^ end.link.flit.payload.xor() ^ end.up
        m.d.comb += self.uart_tx.eq(shown)
        return m


def planned(board, ports):
    platform = platform_of(board, ports)
    top = Ends(platform, ports, flit_cycles=board.link.flit_cycles)
    return build_plan(PlatformTop(top, board=board), platform, family=board.family)


@pytest.mark.parametrize("name", board_names())
def test_every_wire_of_every_port_is_on_its_pin(name):
    board = load_board(name)
    plan = planned(board, board.links)
    for port in board.links:
        for wire, pin in port.wires:
            base, _, bit = wire.partition("[")
            io_port = f"link_{port.name}_0__{base}__io" + (f"[{bit}" if bit else "")
            assert location(plan, io_port) == board.package_pin(port.connector, pin), wire
    uart = board.uart.resource.replace(" ", "_")
    assert location(plan, f"{uart}__rx__io") == board.uart.rx
    assert location(plan, f"{uart}__tx__io") == board.uart.tx
    assert board.reset is not None
    assert location(plan, f"{board.reset.replace(' ', '_')}__io") == board.reset_pin


REGISTERS = {
    "ecp5": (r"^ +cell \\OFS1P3DX \\o_ff", r"^ +cell \\IFS1P3DX \\i_ff"),
    # The output and its enable are registers; the input is one.
    "ice40": (r"parameter \\PIN_TYPE 6'110101$", r"parameter \\PIN_TYPE 6'000000$"),
    "xilinx7": (r"\(\* IOB = \"TRUE\" \*\)\n[^;]*? o_ff", r"\(\* IOB = \"TRUE\" \*\)\n[^;]*? i_ff"),
}
"""How a design says that a register of an output or an input is in the cell of its pin."""


@pytest.mark.parametrize("name", board_names())
@pytest.mark.parametrize("direction", ["out", "in"])
def test_what_goes_with_a_clock_has_its_registers_in_the_cells_of_its_pins(name, direction):
    board = load_board(name)
    ports = board.ports(direction)[:1]
    plan = planned(board, ports)
    files = dict(plan.files)
    design = files.get("top.il") or files["top.v"]
    outputs, inputs = (
        len(re.findall(pattern, design, re.MULTILINE)) for pattern in REGISTERS[board.family]
    )
    # Clock, valid and data leave in step; the clock that arrives takes the others.
    wanted = (board.link_pins + 2, 0) if direction == "out" else (0, board.link_pins + 1)
    assert (outputs, inputs) == wanted


def test_ways_between_the_clocks_of_a_vendor_project_are_bounded():
    board = load_board("arty-a7-100t")
    plan = planned(board, board.ports("in")[:1])
    lines = [
        line for line in dict(plan.files)["top.xdc"].splitlines() if line.startswith("set_max")
    ]
    shorter_ns = min(1e9 / board.clock.source_hz, 1e9 / board.link_clock_hz)
    assert len(lines) == 2
    assert all(line.endswith(f"] {shorter_ns}") for line in lines)
    assert "-from [get_clocks -include_generated_clocks clk100_0__io] -to" in "".join(lines)


def test_pins_of_ports_that_a_chip_does_not_use_stay_free():
    board = load_board("ulx3s-85f")
    plan = planned(board, board.ports("out"))
    assert location(plan, "link_out0_0__valid__io") is not None
    assert "link_in0" not in dict(plan.files)[plan.pin_file]
