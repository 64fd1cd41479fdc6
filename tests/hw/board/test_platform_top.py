# amaranth: UnusedElaboratable=no
"""The pins of a chip on its board: each wire of each link, in the direction of its port."""

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hw.board.build_plan import build_plan
from hw.board.description import board_names, load_board
from hw.board.platform_top import LINK_WIRES, PlatformTop
from hw.board.resources import platform_of
from tests.hw.board.designs import location


class Echo(wiring.Component):
    """Answers on every pin that it drives what it hears on all that it reads."""

    def __init__(self, ports):
        self.ports = ports
        members = {"uart_rx": In(1), "uart_tx": Out(1)}
        for port in ports:
            wires = {
                name: (Out if port.drives(name) else In)(len(port.data) if name == "data" else 1)
                for name in LINK_WIRES
            }
            members[port.name] = Out(wiring.Signature(wires))
        super().__init__(members)

    def elaborate(self, platform):
        m = Module()
        heard, driven = [self.uart_rx], [self.uart_tx]
        for port in self.ports:
            for name in LINK_WIRES:
                (driven if port.drives(name) else heard).append(
                    getattr(getattr(self, port.name), name)
                )
        mixed = Signal()
        for signal in heard:
            mixed = mixed ^ signal.xor()
        state = Signal()
        m.d.sync += state.eq(mixed)
        m.d.comb += [signal.eq(state.replicate(len(signal))) for signal in driven]
        return m


@pytest.mark.parametrize("name", board_names())
def test_every_wire_of_every_port_is_on_its_pin(name):
    board = load_board(name)
    platform = platform_of(board)
    top = PlatformTop(Echo(board.links), board=board, ports=board.links)
    plan = build_plan(top, platform, family=board.family)
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


def test_ways_between_the_clocks_of_a_vendor_project_are_bounded():
    board = load_board("arty-a7-100t")
    used = board.ports("in")[:1]
    top = PlatformTop(Echo(used), board=board, ports=used)
    plan = build_plan(top, platform_of(board, used), family=board.family)
    lines = [
        line for line in dict(plan.files)["top.xdc"].splitlines() if line.startswith("set_max")
    ]
    shorter_ns = min(1e9 / board.clock.source_hz, 1e9 / board.link_clock_hz)
    assert len(lines) == 2
    assert all(line.endswith(f"] {shorter_ns}") for line in lines)
    assert "-from [get_clocks -include_generated_clocks clk100_0__io] -to" in "".join(lines)


def test_pins_of_ports_that_a_chip_does_not_use_stay_free():
    board = load_board("ulx3s-85f")
    used = board.ports("out")
    platform = platform_of(board, used)
    plan = build_plan(
        PlatformTop(Echo(used), board=board, ports=used), platform, family=board.family
    )
    assert location(plan, "link_out0_0__valid__io") is not None
    assert "link_in0" not in dict(plan.files)[plan.pin_file]
