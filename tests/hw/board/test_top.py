"""What a board's top refuses, and where it puts the links; tests/sim/board/ runs it."""

import pytest

from constraints.cabling import cables_of_program, cabling_of
from constraints.description import load_board
from hw.board.top import BoardTop, board_top
from tests.programs import program_for

PINS = {"link_width_bits": 8, "link_flit_cycles": 2, "link_latency_cycles": 8}
TREE = program_for(8, 8, 32, chips=4, tile=8, **PINS)


pytestmark = pytest.mark.usefixtures("never_built")


def test_each_chip_has_the_link_ports_that_its_cables_take():
    board = load_board("ulx3s-85f")
    cabling = cabling_of((board,) * 4, cables_of_program(TREE))
    ports = []
    for chip in range(4):
        top = board_top(TREE, chip, cabling)
        links = {
            name: member.flow
            for name, member in top.signature.members.items()
            if name not in ("uart_rx", "uart_tx")
        }
        assert {len(getattr(top, name).data) for name in links} == {8}
        assert set(links) == {port.name for port in cabling.ports(chip)}
        ports.append({name: flow.name for name, flow in links.items()})
    assert ports == [
        {"in0": "In", "in1": "In"},
        {"out0": "Out"},
        {"out0": "Out", "in0": "In"},
        {"out0": "Out"},
    ]


def test_a_link_without_a_port_is_refused():
    text = "Ports must hold one for every link, and do not for 'c1->c0'"
    with pytest.raises(ValueError, match=text):
        BoardTop(TREE, 1, ports={"c2->c0": "out0"}, clock_hz=80_000_000, baud=1_000_000)


@pytest.mark.parametrize(
    ("target", "kind"), [("semaphore-mesh", "Semaphore"), ("barrier-mesh", "Barrier")]
)
def test_a_link_that_carries_no_tokens_is_refused(target, kind):
    program = program_for(8, 8, 16, chips=2, tile=8, target=target, **PINS)
    text = f"Link 'c1->c0' must carry Token hand-offs to cross pins, not {kind}"
    with pytest.raises(ValueError, match=text):
        BoardTop(program, 1, ports={"c1->c0": "out0"}, clock_hz=80_000_000, baud=1_000_000)


def test_a_link_that_is_faster_than_a_clock_can_be_is_refused():
    program = program_for(8, 8, 16, chips=2, tile=8)
    with pytest.raises(TypeError, match="Flit cycles must be at least 2 for a clock, not 1"):
        BoardTop(program, 1, ports={"c1->c0": "out0"}, clock_hz=80_000_000, baud=1_000_000)
