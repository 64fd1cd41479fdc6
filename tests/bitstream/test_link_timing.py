"""The window of a link, and what of it the ways between pins and registers take."""

from dataclasses import replace

import pytest

from bitstream.link_timing import LinkTiming, link_timings, window_ns
from constraints.description import load_board
from tests.bitstream.netlists import netlist

BOARD = load_board("ulx3s-85f")
CLOCK = "$glbnet$board.chip.matmul.clk"
PINS = "$glbnet$board.in1_receiver.fifo.pins_clk"
LINKS = netlist(
    {},
    {
        "board.chip.matmul.clk": [1],
        "clk": [1],
        "board.in1_receiver.fifo.pins_clk": [2],
    },
)
LINKS["cells"] |= {
    f"board.{end}": {"type": "$scopeinfo"} for end in ("out0_transmitter", "in1_receiver")
}


def way(driver: str, start: str, cell: str, end: str, delay: float) -> dict:
    """A net of a detailed report, between one source and one endpoint."""
    return {
        "net": f"{driver}_net",
        "driver": driver,
        "event": start,
        "endpoints": [{"cell": cell, "port": "D", "event": end, "delay": [delay / 2, delay]}],
    }


def timed(*ways: dict) -> list[tuple[str, str, float, bool]]:
    found = link_timings({"detailed_net_timings": list(ways)}, LINKS, BOARD)
    return [(each.port, each.direction, each.way_ns, each.met) for each in found]


def test_each_end_has_half_of_the_shorter_half_of_a_period():
    assert window_ns(BOARD) == pytest.approx(1e9 / 80e6 / 2)
    slower = replace(BOARD, link=replace(BOARD.link, flit_cycles=5))
    assert window_ns(slower) == pytest.approx(2 * 1e9 / 80e6 / 2)


def test_registers_in_the_cells_of_the_pins_have_no_way():
    inside = [
        way("a_LUT4", f"posedge {CLOCK}", "board.out0_transmitter.data_cell.buf.buf0$IOL", CLOCK, 9)
    ]
    assert timed(*inside) == [("out0", "out", 0.0, True), ("in1", "in", 0.0, True)]


@pytest.mark.parametrize("cell", ["clock_cell", "valid_cell", "data_cell"])
@pytest.mark.parametrize(("delay", "met"), [(6.2, True), (6.3, False)])
def test_a_way_from_a_register_to_a_pin_is_held_to_the_window(cell, delay, met):
    pad = f"board.out0_transmitter.{cell}.buf.buf0"
    found = timed(
        way("a_TRELLIS_FF_Q", f"posedge {CLOCK}", pad, "<async>", delay),
        way("a_TRELLIS_FF_Q", f"posedge {CLOCK}", pad, "<async>", 1.0),
    )
    assert found == [("out0", "out", delay, met), ("in1", "in", 0.0, True)]


@pytest.mark.parametrize(("delay", "met"), [(6.2, True), (6.3, False)])
def test_a_way_from_a_pin_to_a_register_is_held_to_it_through_logic_too(delay, met):
    found = timed(way("some_LUT4_Z", "<async>", "a_TRELLIS_FF_Q", f"posedge {PINS}", delay))
    assert found == [("out0", "out", 0.0, True), ("in1", "in", delay, met)]


def test_pins_without_a_clock_of_their_own_have_no_window():
    assert timed(
        way("pin_uart_rx.buf.buf0", "<async>", "a_TRELLIS_FF_Q", f"posedge {CLOCK}", 50.0),
        way("b_TRELLIS_FF_Q", f"posedge {CLOCK}", "board.in1_receiver.back_cell.buf.buf0", "", 50),
        way("b", f"posedge {CLOCK}", "board.out0_transmitter.back_cell.buf.buf0", "<async>", 50),
    ) == [("out0", "out", 0.0, True), ("in1", "in", 0.0, True)]


def test_a_link_is_met_if_its_way_fits():
    assert LinkTiming("out0", "out", 6.25, 6.25).met
    assert not LinkTiming("out0", "out", 6.26, 6.25).met
