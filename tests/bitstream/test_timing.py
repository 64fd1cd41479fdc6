"""What nextpnr's report says, in the program's names."""

import pytest

from bitstream.timing import Fill, clocks, crossings, fills
from bitstream.usage import Names
from tests.bitstream.netlists import CHIP, netlist, report


def timed(**changes):
    return clocks(report(**changes), CHIP, Names(CHIP, 2))


def test_clocks_are_told_by_their_domains_that_of_the_chip_first():
    assert [(c.name, c.achieved_hz, c.wanted_hz) for c in timed()] == [
        ("sync", 90e6, 80e6),
        ("in0_receiver.pins", 200e6, 40e6),
    ]


def test_the_slowest_path_is_told_in_the_names_of_the_program():
    path = timed()[0].path
    assert path is not None
    assert (path.source, path.destination) == ("c2.bus__rdata", "c2.matmul.sums_0")
    assert path.logic_ns == pytest.approx(0.5 + 0.25 + 0.125)
    assert path.routing_ns == pytest.approx(1.5 + 2.0)
    assert path.through == ("c2.host_port", "bridge", "c2.matmul")
    assert timed()[1].path is None


@pytest.mark.parametrize(
    ("achieved", "wanted", "met"),
    [(80.0, 80.0, True), (79.99, 80.0, False), (80.1, 80.0, True), (80.0, 80.00001, True)],
)
def test_a_clock_is_met_if_it_may_run_as_fast(achieved, wanted, met):
    assert timed(sync_mhz=achieved, wanted_mhz=wanted)[0].met is met


def test_ways_between_clocks_and_pins_are_told_apart():
    found = crossings(report(), CHIP, Names(CHIP, 2))
    assert [(each.source, each.destination) for each in found] == [
        ("in0_receiver.pins", "sync"),
        ("pins", "sync"),
        ("sync", "pins"),
    ]
    assert [each.path.routing_ns for each in found] == [
        pytest.approx(1.5 + 2.0),
        pytest.approx(1.5 + 2.0),
        pytest.approx(1.5),
    ]
    assert found[1].path.destination == "c2.matmul.sums_0"


def test_the_clock_of_a_link_is_told_by_the_cell_of_its_pin_where_it_has_no_other_name():
    chip = netlist({}, {"board.in1_receiver.clock_cell.i": [7]})
    entry = {
        "fmax": {"board.in1_receiver.clock_cell.i": {"achieved": 1.0, "constraint": 1.0}},
        "critical_paths": [],
    }
    (clock,) = clocks(entry, chip, Names(chip, 0))
    assert clock.name == "in1_receiver.pins"


@pytest.mark.parametrize(("net", "name"), [("$glbnet$a.b", "a.b"), ("capture_clk", "capture")])
def test_a_net_of_no_component_keeps_its_name(net, name):
    entry = {"fmax": {net: {"achieved": 1.0, "constraint": 1.0}}, "critical_paths": []}
    assert [clock.name for clock in clocks(entry, CHIP, Names(CHIP, 0))] == [name]


def test_what_a_design_uses_of_a_device_the_fullest_first():
    assert fills(report()) == (Fill("MULT18X18D", 4, 16), Fill("TRELLIS_COMB", 100, 1000))
