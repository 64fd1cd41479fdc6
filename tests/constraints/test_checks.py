"""Every value and every pin of a board that is refused, and what is said of it."""

import pytest

from constraints.checks import LINK_NAME, TAKEN_NAMES
from constraints.errors import (
    BoardValueError,
    LinkWidthsDifferError,
    PinClashError,
    TooManyPinsError,
    UnknownConnectorError,
    UnknownIoStandardError,
    UnknownPinError,
    UnreachableClockError,
)
from hw.board.top import BoardTop
from tests.constraints.files import load
from tests.programs import program_for

VALUES = [
    ('title = "a board on the bench"', "title = 3", "title must be a text, not 3"),
    ('reset = "rst 0"', 'reset = ""', "reset must be a text, not ''"),
    ('family = "ecp5"', 'family = "ecp3"', "family must be of ecp5, ice40, xilinx7, not 'ecp3'"),
    ('clock = "1"', "clock = 1", "links.out0.clock must be a text, not 1"),
    (
        'clock_input = "GR_PCLK1_1"',
        "clock_input = 7",
        "links.in0.clock_input must be a text, not 7",
    ),
    (
        'multiplier_style = "ecp5"',
        'multiplier_style = "soft"',
        "multiplier_style must be ecp5 or plain on a board of family ecp5, not 'soft'",
    ),
    (
        'multiplier_style = "ecp5"',
        'multiplier_style = "ice40"',
        "multiplier_style must be ecp5 or plain on a board of family ecp5, not 'ice40'",
    ),
    (
        'device = "LFE5UM5G-85F-8BG554"',
        'device = "LFE5U-85F-8BG554"',
        "device must be that of its platform, LFE5UM5G-85F, not 'LFE5U-85F-8BG554'",
    ),
    (
        "source_hz = 100_000_000",
        "source_hz = 25_000_000",
        "clock.source_hz must be 100,000,000, which its platform states for clk100 0, not 25000000",
    ),
    (
        'name = "in0"',
        'name = "b-1"',
        "links.b-1.name must be a name that matches [a-z][a-z0-9_]*, not 'b-1'",
    ),
    (
        'name = "in0"',
        'name = "in0 "',
        "links.in0 .name must be a name that matches [a-z][a-z0-9_]*, not 'in0 '",
    ),
    *(
        (
            'name = "in0"',
            f'name = "{name}"',
            f"links.{name}.name must be none of board_port, bridge, chip, elaborate, metadata, "
            f"pads, ports, program, receivers, signature, transmitters, uart_rx, uart_tx, which "
            f"are other parts of the design, not {name!r}",
        )
        for name in ("uart_rx", "uart_tx", "chip")
    ),
    (
        "multipliers = 156",
        "multipliers = -1",
        "multipliers must be an integer of at least 0, not -1",
    ),
    ("luts = 83_640", "luts = 0", "luts must be an integer of at least 1, not 0"),
    ("tile = 4", "tile = 1", "tile must be an integer of at least 2, not 1"),
    ("tile = 4", "tile = true", "tile must be an integer of at least 2, not True"),
    ("tile = 4", "tile = 4.0", "tile must be an integer of at least 2, not 4.0"),
    (
        "flit_cycles = 2",
        "flit_cycles = 1",
        "link.flit_cycles must be an integer of at least 2, not 1",
    ),
    (
        "latency_cycles = 8",
        "latency_cycles = 0",
        "link.latency_cycles must be an integer of at least 1, not 0",
    ),
    (
        "latency_cycles = 8",
        "latency_cycles = 7",
        "link.latency_cycles must be at least 8, which flits of 2 cycles take, not 7",
    ),
    (
        "source_hz = 100_000_000",
        'source_hz = "100 MHz"',
        "clock.source_hz must be an integer of at least 1, not '100 MHz'",
    ),
    ("bitstream = true", "bitstream = 1", "bitstream must be true or false, not 1"),
    (
        "memory_bytes = 65_536",
        "memory_bytes = 479_233",
        "memory_bytes must be within block_ram_bits, which is 479,232 bytes, not 479233",
    ),
    ('notes = ["a note"]', 'notes = "a note"', "notes must be a list of strings, not 'a note'"),
    (
        'data = ["3", "4"]',
        "data = [3, 4]",
        "links.out0.data must be a list of strings, not [3, 4]",
    ),
    (
        'data = ["3", "4"]',
        'data = ["3", "4", "8"]',
        "links.out0.data must be a list of 1, 2, 4, 8, 16 pins, not ['3', '4', '8']",
    ),
    (
        'data = ["3", "4"]',
        "data = []",
        "links.out0.data must be a list of 1, 2, 4, 8, 16 pins, not []",
    ),
    ('pins = ["8", "9"]', 'pins = "8"', "free.pins must be a list of strings, not '8'"),
    (
        'direction = "out"',
        'direction = "both"',
        "links.out0.direction must be in or out, not 'both'",
    ),
    (
        'name = "in0"',
        'name = "out0"',
        "links must be of different names, not ['out0', 'out0']",
    ),
    (
        'resource = "uart 0"',
        'resource = "rst 0"',
        "uart.resource must be a resource with rx and tx, not 'rst 0'",
    ),
    (
        'source = "clk100 0"',
        'source = "uart 0"',
        "clock.source must be a resource of one pin, not 'uart 0'",
    ),
    (
        'reset = "rst 0"',
        'reset = "uart 0"',
        "reset must be a resource of one pin, not 'uart 0'",
    ),
    (
        "baud = 115_200",
        "baud = 12_000_000",
        "uart.baud must be at most 6,250,000, and within 2% of target_hz 50,000,000 over a whole "
        "number, not 12000000",
    ),
    (
        "baud = 115_200",
        "baud = 5_250_000",
        "uart.baud must be at most 6,250,000, and within 2% of target_hz 50,000,000 over a whole "
        "number, not 5250000",
    ),
    (
        'platform = "amaranth_boards.ecpix5:ECPIX585Platform"',
        'platform = "amaranth_boards.arty_a7:ArtyA7_100Platform"',
        "family must be that of its platform, xilinx7, not 'ecp5'",
    ),
]


FAMILY, STYLE = ('family = "ecp5"', 'family = "xilinx7"'), 'multiplier_style = "ecp5"'


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        (
            [FAMILY],
            "multiplier_style must be plain on a board of family xilinx7, not 'ecp5'",
        ),
        (
            [FAMILY, (STYLE, 'multiplier_style = "plain"')],
            "bitstream must be false, as open tools make none for family xilinx7, not True",
        ),
    ],
)
def test_values_that_are_none_of_the_family_are_refused(tmp_path, edits, message):
    with pytest.raises(BoardValueError) as error:
        load(tmp_path, *edits)
    assert str(error.value) == f"board 'bench': {message}"


OTHER_CLOCK = """
from amaranth.build import Pins, Resource
from amaranth_boards.ecpix5 import ECPIX585Platform

class Unstated(ECPIX585Platform):
    resources = [
        *(each for each in ECPIX585Platform.resources if each.name != "clk100"),
        Resource("clk100", 0, Pins("K23", dir="i")),
    ]
"""


def test_a_platform_need_not_state_the_frequency_of_its_oscillator(tmp_path, monkeypatch):
    (tmp_path / "unstated_platform.py").write_text(OTHER_CLOCK)
    monkeypatch.syspath_prepend(tmp_path)
    board = load(
        tmp_path,
        ("amaranth_boards.ecpix5:ECPIX585Platform", "unstated_platform:Unstated"),
        ("source_hz = 100_000_000", "source_hz = 25_000_000"),
    )
    assert board.clock.source_hz == 25_000_000


@pytest.mark.usefixtures("never_built")
def test_links_keep_off_every_name_of_the_design():
    program = program_for(4, 4, 8, chips=1, tile=2)
    top = BoardTop(program, 0, ports={}, clock_hz=50_000_000, baud=115_200)
    taken = {name for name in dir(top) if LINK_NAME.fullmatch(name)}
    assert taken == set(TAKEN_NAMES)


@pytest.mark.parametrize(("old", "new", "message"), VALUES, ids=[v[1] for v in VALUES])
def test_wrong_values_are_refused(tmp_path, old, new, message):
    with pytest.raises(BoardValueError) as error:
        load(tmp_path, (old, new))
    assert str(error.value) == f"board 'bench': {message}"


def test_an_unknown_connector_lists_those_there_are(tmp_path):
    with pytest.raises(UnknownConnectorError) as error:
        load(tmp_path, ('connector = "pmod 7"', 'connector = "pmod 9"'))
    assert str(error.value) == (
        "board 'bench': link 'in0' (clock) is on connector 'pmod 9', which the board lacks; it has "
        "pmod 0, pmod 1, pmod 2, pmod 3, pmod 4, pmod 5, pmod 6, pmod 7"
    )


@pytest.mark.parametrize(
    ("old", "new", "user", "connector", "pin"),
    [
        ('valid = "8"', 'valid = "5"', "link 'in0' (valid)", "pmod 7", "5"),
        ('data = ["3", "4"]', 'data = ["3", "14"]', "link 'out0' (data[1])", "pmod 0", "14"),
        ('pins = ["8", "9"]', 'pins = ["8", "gnd"]', "free pin 'gnd' of 'pmod 0'", "pmod 0", "gnd"),
    ],
)
def test_an_unknown_pin_lists_those_of_the_connector(tmp_path, old, new, user, connector, pin):
    with pytest.raises(UnknownPinError) as error:
        load(tmp_path, (old, new))
    assert str(error.value) == (
        f"board 'bench': {user} uses pin {pin!r} of {connector!r}, which has no such pin; "
        f"its pins are 1 2 3 4 7 8 9 10"
    )


def test_more_wires_than_a_connector_has_pins_are_counted(tmp_path):
    with pytest.raises(TooManyPinsError) as error:
        load(tmp_path, ('connector = "pmod 7"', 'connector = "pmod 0"'))
    assert str(error.value) == (
        "board 'bench': links out0, in0 need 10 pins of connector 'pmod 0', which carries 8; move "
        "a link to another connector or give all links fewer data pins"
    )


CLASHES = [
    ('back = "7"', 'back = "4"', "V24", "link 'out0' (data[1])", "link 'out0' (back)"),
    ('data = ["1", "2"]', 'data = ["1", "7"]', "C14", "link 'in0' (clock)", "link 'in0' (data[1])"),
    ('pins = ["8", "9"]', 'pins = ["1"]', "T25", "link 'out0' (clock)", "free pin '1' of 'pmod 0'"),
    (
        'reset = "rst 0"',
        'reset = "clk100 0"',
        "K23",
        "the clock",
        "the reset button",
    ),
]


@pytest.mark.parametrize(("old", "new", "pin", "first", "second"), CLASHES)
def test_two_things_on_one_pin_are_refused(tmp_path, old, new, pin, first, second):
    with pytest.raises(PinClashError) as error:
        load(tmp_path, (old, new))
    assert str(error.value) == (
        f"board 'bench': {first} and {second} are both on package pin {pin}; move one of them to "
        f"a free pin"
    )


def test_two_links_on_one_pin_are_refused(tmp_path):
    with pytest.raises(PinClashError, match=r"link 'out0' \(back\) and link 'in0' \(clock\)"):
        load(
            tmp_path,
            ('connector = "pmod 7"', 'connector = "pmod 0"'),
            ('data = ["3", "4"]', 'data = ["3"]'),
            ('data = ["1", "2"]', 'data = ["1"]'),
        )


PLATFORM = """
from amaranth.build import Connector
from amaranth_boards.ecpix5 import ECPIX585Platform

class Shared(ECPIX585Platform):
    connectors = [
        *ECPIX585Platform.connectors,
        Connector("aux", 0, "K23 R26 R24 AB1 U25 U24 V24 T26"),
        Connector("plug", 0, "1 2 3 4 5 6 7 8", conn=("aux", 0)),
    ]
"""
OUT0 = 'connector = "pmod 0"\nclock = "1"\nvalid = "2"\ndata = ["3", "4"]\nback = "7"'


@pytest.mark.parametrize("connector", ["aux 0", "plug 0"])
@pytest.mark.parametrize(
    ("pin", "owner", "ball"),
    [
        ("1", "the clock", "K23"),
        ("2", "the UART's rx", "R26"),
        ("3", "the UART's tx", "R24"),
        ("4", "the reset button", "AB1"),
    ],
)
def test_links_keep_off_the_pins_of_the_host(tmp_path, monkeypatch, connector, pin, owner, ball):
    """On a platform whose connector also leads to them, directly or through another one."""
    (tmp_path / "shared_platform.py").write_text(PLATFORM)
    monkeypatch.syspath_prepend(tmp_path)
    moved = f'connector = "{connector}"\nclock = "5"\nvalid = "6"\ndata = ["7", "8"]'
    with pytest.raises(PinClashError) as error:
        load(
            tmp_path,
            ("amaranth_boards.ecpix5:ECPIX585Platform", "shared_platform:Shared"),
            (OUT0, f'{moved}\nback = "{pin}"'),
        )
    assert str(error.value) == (
        f"board 'bench': {owner} and link 'out0' (back) are both on package pin {ball}; move one "
        f"of them to a free pin"
    )


def test_an_unknown_io_standard_lists_those_of_the_family(tmp_path):
    with pytest.raises(UnknownIoStandardError) as error:
        load(tmp_path, ('io_standard = "LVCMOS33"', 'io_standard = "LVDS"'))
    assert str(error.value) == (
        "board 'bench': io_standard 'LVDS' is none of ecp5; it has LVCMOS33, LVCMOS25, LVCMOS18, "
        "LVCMOS15, LVCMOS12, LVTTL33"
    )


def test_a_clock_out_of_reach_names_the_nearest(tmp_path):
    with pytest.raises(UnreachableClockError) as error:
        load(tmp_path, ("target_hz = 50_000_000", "target_hz = 50_000_001"))
    message = str(error.value)
    assert message.startswith(
        "board 'bench': clock.target_hz 50,000,001 cannot be made of source_hz 100,000,000 by the "
        "PLL of Lattice ECP5 (EHXPLLL); the nearest that it makes: 50,000,000 or "
    )


def test_links_of_unequal_width_are_refused(tmp_path):
    with pytest.raises(LinkWidthsDifferError) as error:
        load(tmp_path, ('data = ["1", "2"]', 'data = ["1", "2", "3", "4"]'))
    assert str(error.value) == (
        "board 'bench': link 'out0' has 2 data pins and link 'in0' has 4; all links of a board "
        "must have as many, so shorten the wider one"
    )
