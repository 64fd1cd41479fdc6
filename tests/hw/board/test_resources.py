# amaranth: UnusedElaboratable=no
"""The native pin file that a board's platform writes: every pin of every link, and its clock."""

import re

import pytest
from amaranth.hdl import Elaboratable, Module, Signal
from amaranth.lib import io

from constraints.description import board_names, load_board
from hw.board.resources import link_name, platform_of

LOCATION = {
    "ecp5": r'^LOCATE COMP "(?P<port>\S+)" SITE "(?P<pin>\w+)";',
    "ice40": r"^set_io (?P<port>\S+) (?P<pin>\w+)",
    "xilinx7": r'^set_property LOC (?P<pin>\w+) \[get_ports "(?P<port>[^"]+)"\]',
}
STANDARD = {
    "ecp5": r'^IOBUF PORT "(?P<port>\S+)" IO_TYPE=(?P<standard>\w+)',
    "xilinx7": r'^set_property IOSTANDARD "(?P<standard>\w+)" \[get_ports "(?P<port>[^"]+)"\]',
}
PULL = {
    "ecp5": r'^IOBUF PORT "(?P<port>\S+)" .*PULLMODE=(?P<level>\w+);',
    "xilinx7": r'^set_property PULL(?P<level>UP|DOWN) "TRUE" \[get_ports "(?P<port>[^"]+)"\]',
}
CLOCK = {
    "ecp5": r'^FREQUENCY PORT "(?P<port>\S+)" (?P<number>\S+) HZ;',
    "ice40": r"^set_frequency (?P<port>\S+) (?P<number>\S+)",
    "xilinx7": r'^create_clock -name \S+ -period (?P<number>\S+) \[get_nets "(?P<port>[^"]+)"\]',
}
HERTZ = {
    "ecp5": lambda number: number,
    "ice40": lambda number: number * 1e6,
    "xilinx7": lambda number: 1e9 / number,
}
PIN_FILE = {"ecp5": "top.lpf", "ice40": "top.pcf", "xilinx7": "top.xdc"}


class Pins(Elaboratable):
    """Uses every pin of some link ports, and nothing else."""

    def __init__(self, ports):
        self.ports = ports

    def elaborate(self, platform):
        m = Module()
        for port in self.ports:
            group = platform.request(link_name(port), 0, dir="-")
            heard = Signal(name=f"{port.name}_heard")
            for name in ("clock", "valid", "data", "back"):
                sends = (port.direction == "out") != (name == "back")
                m.submodules += (buffer := io.Buffer("o" if sends else "i", getattr(group, name)))
                if sends:
                    m.d.comb += buffer.o.eq(heard.replicate(len(buffer.o)))
                elif name == "back" or (port.direction == "in" and name == "valid"):
                    m.d.comb += heard.eq(buffer.i)
        return m


def files(board, ports):
    return platform_of(board, ports).build(Pins(ports), do_build=False).files


def found(pattern, text, value):
    """What a pin file states of each bit of a port."""
    text = text.decode() if isinstance(text, bytes) else text
    matches = re.finditer(pattern, text, re.MULTILINE)
    return {match["port"].replace("\\", ""): match[value] for match in matches}


def balls(board, ports):
    """Package pin of each bit, by the connectors of the platform class."""
    connectors = {
        f"{c.name} {c.number}": c.mapping for c in platform_of(board, ()).connectors.values()
    }
    pins = {}
    for port in ports:
        mapping = connectors[port.connector]
        for wire in ("clock", "valid", "back"):
            pins[f"link_{port.name}_0__{wire}__io"] = mapping[getattr(port, wire)]
        for index, pin in enumerate(port.data):
            pins[f"link_{port.name}_0__data__io[{index}]"] = mapping[pin]
    return pins


@pytest.mark.parametrize("name", board_names())
def test_the_pin_file_places_every_wire_of_every_link(name):
    board = load_board(name)
    text = files(board, board.links)[PIN_FILE[board.family]]
    assert found(LOCATION[board.family], text, "pin") == balls(board, board.links)


@pytest.mark.parametrize("name", board_names())
def test_every_pin_has_the_io_standard_of_the_board(name):
    board = load_board(name)
    built = files(board, board.links)
    pins = balls(board, board.links)
    if board.family == "ice40":  # Its pin file has none; the pad's cell does.
        standards = re.findall(r'parameter \\IO_STANDARD "(\w+)"', built["top.il"])
        assert standards == ["SB_LVCMOS"] * len(pins)
    else:
        standards = found(STANDARD[board.family], built[PIN_FILE[board.family]], "standard")
        assert standards == dict.fromkeys(pins, "LVCMOS33")


@pytest.mark.parametrize("name", board_names())
def test_a_link_without_a_cable_is_down(name):
    board = load_board(name)
    built = files(board, board.links)
    up = {f"link_{port.name}_0__back__io" for port in board.ports("out")}
    if board.family == "ice40":  # Its pads can only pull up: a clock that stands high has stopped.
        pulled = len(up) + len(board.ports("in"))
        assert built["top.il"].count("parameter \\PULLUP") == pulled
        return
    driven = balls(board, board.links).keys()
    down = {pin for pin in driven if pin.startswith("link_in") and "back" not in pin}
    levels = found(PULL[board.family], built[PIN_FILE[board.family]], "level")
    assert levels == dict.fromkeys(up, "UP") | dict.fromkeys(down, "DOWN")


@pytest.mark.parametrize("name", board_names())
def test_the_clock_of_every_incoming_link_is_constrained(name):
    board = load_board(name)
    text = files(board, board.links)[PIN_FILE[board.family]]
    clocks = found(CLOCK[board.family], text, "number")
    period_cycles = board.link.flit_cycles
    hertz = {port: HERTZ[board.family](float(number)) for port, number in clocks.items()}
    assert hertz == {
        f"link_{port.name}_0__clock__io": board.clock.target_hz / period_cycles
        for port in board.links
        if port.direction == "in"
    }


@pytest.mark.parametrize("name", board_names())
def test_ports_that_are_not_used_leave_their_pins_alone(name):
    board = load_board(name)
    one = (board.link_by_name["in0"],)
    text = files(board, one)[PIN_FILE[board.family]]
    assert found(LOCATION[board.family], text, "pin") == balls(board, one)


def test_a_global_buffer_input_takes_the_buffer():
    board = load_board("icebreaker")
    cells = re.findall(r"cell \\(SB_\w+)", files(board, board.links)["top.il"])
    assert cells.count("SB_GB_IO") == 1
    assert cells.count("SB_IO") == len(balls(board, board.links)) - 1
