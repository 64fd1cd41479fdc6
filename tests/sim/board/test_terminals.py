# amaranth: UnusedElaboratable=no
"""Simulated boards behind pseudo terminals, with this project's host at the other end."""

import os

import numpy as np
import pytest

from compiler.ir.mesh import Mesh
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from host.drive import drive
from host.errors import PortError
from host.uart_bone import UartBoneClient
from sim.board import terminals
from sim.board.terminals import SimulatedBoards
from tests.programs import finished, program_for, random_operands

ONE = program_for(2, 2, 4, chips=1, tile=2)
PINS = {"link_width_bits": 4, "link_flit_cycles": 2, "link_latency_cycles": 8}
PAIR = program_for(2, 2, 8, chips=2, tile=2, **PINS)
START_LATENCY = 15
"""Cycles from the start of the home to that of the board that sends to it."""
PATIENT = 20.0
"""Seconds that a slow machine may take to simulate an answer."""


@pytest.mark.parametrize(
    ("program", "runs"),
    [
        pytest.param(ONE, 2, id="1 chip, twice"),
        pytest.param(PAIR, 1, id="2 chips", marks=pytest.mark.slow),
    ],
)
def test_products_of_boards_are_exact(program, runs):
    with SimulatedBoards(program) as boards:
        for seed in range(runs):
            a, b = random_operands(program, seed)
            run = drive(program, a, b, ports=boards.ports, timeout_seconds=PATIENT)
            assert np.array_equal(run.result.c, a @ b)
            assert run.result.exact
            late = run.chip_cycles[0] - program.schedule.cycles
            assert late == 0 or (program is PAIR and -8 <= late <= START_LATENCY)
            blocks = program.claim.k // (2 * program.chip_count)
            assert [chip.active_cycles for chip in run.result.chips] == [
                blocks * 2
            ] * program.chip_count


GRID = Mesh(row=2, col=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plan", "started", "homes"),
    [
        (ShardPlan(2, result="all"), (0,), (0, 1)),
        (ShardPlan(3, result="all"), (0,), (0, 1, 2)),
        (ShardPlan(GRID, shard={"m": "row", "k": "col"}), (0, 2), (0, 2)),
    ],
    ids=["all of two", "all of three", "rows and contraction"],
)
def test_boards_with_parts_and_copies_of_a_product_are_exact(plan, started, homes):
    program = finished(MatmulSpec(2, 1, 6), plan=plan, tile=1, **PINS)
    with SimulatedBoards(program) as boards:
        a, b = random_operands(program, 0)
        run = drive(program, a, b, ports=boards.ports, timeout_seconds=PATIENT)
        assert run.result.exact
        assert np.array_equal(run.result.c, a @ b)
        assert (run.started, run.homes) == (started, homes)


def test_a_board_refuses_its_chip_while_it_is_held():
    with (
        SimulatedBoards(ONE) as boards,
        UartBoneClient(boards.ports[0], timeout_seconds=PATIENT) as client,
    ):
        hold = 0x8000_0004
        client.write(hold, [1])
        assert client.read(0, 1) == [0xFFFF_FFFF]
        client.write(hold, [0])
        assert client.read(0, 1) == [0x53485244]
        assert client.read(0x8000_0010, 1) == [1]


def test_the_terminals_are_gone_when_the_simulation_has_ended():
    with SimulatedBoards(ONE) as boards:
        (port,) = boards.ports
        assert os.path.exists(port)
        client = UartBoneClient(port)
    assert boards.ports == ()
    with client, pytest.raises(PortError):
        client.read(0, 1)


def test_a_host_that_does_not_read_does_not_stop_the_others():
    with SimulatedBoards(PAIR) as boards:
        boards._lines[0].received += bytes(1 << 20)
        with UartBoneClient(boards.ports[1], timeout_seconds=PATIENT) as client:
            assert client.read(0, 1) == [0x53485244]


def test_what_stops_the_simulation_stops_the_host_and_is_raised(monkeypatch):
    def fail(self):
        raise RuntimeError("the simulation fails")

    def run():
        with (
            SimulatedBoards(ONE) as boards,
            UartBoneClient(boards.ports[0], timeout_seconds=PATIENT) as client,
        ):
            monkeypatch.setattr(terminals.SimulatedBoards, "_exchange", fail)
            with pytest.raises(PortError):
                client.read(0, 1)

    with pytest.raises(RuntimeError, match="the simulation fails"):
        run()
