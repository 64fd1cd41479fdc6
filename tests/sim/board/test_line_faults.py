# amaranth: UnusedElaboratable=no
"""Simulated boards on lines that damage bytes, and behind hosts that were killed."""

import os
from collections import deque

import numpy as np
import pytest

from host.drive import drive
from hw.chip_registers import chip_register_map
from sim.board.serial_line import SerialLine
from sim.board.terminals import SimulatedBoards
from tests.programs import program_for, random_operands

pytestmark = pytest.mark.slow

ONE = program_for(2, 2, 4, chips=1, tile=2)
READ, WRITE = 2, 1
BRIDGE_TIMEOUT_CYCLES = 2000
"""For a command that is not carried on, less than on a board: simulated time is long."""
SILENT_SECONDS = 5.0


class ToBoard(deque):
    """Bytes on their way to a board, of which one may be damaged: masked, or lost for ``None``."""

    def __init__(self):
        super().__init__()
        self.log, self.faults = bytearray(), {}

    def extend(self, data):
        for byte in data:
            mask = self.faults.pop(len(self.log), 0)
            self.log.append(byte)
            if mask is not None:
                self.append(byte ^ mask)


class FromBoard(bytearray):
    """Bytes on their way from a board."""

    def __init__(self):
        super().__init__()
        self.log, self.faults = bytearray(), {}

    def append(self, byte):
        mask = self.faults.pop(len(self.log), 0)
        self.log.append(byte)
        if mask is not None:
            super().append(byte ^ mask)


@pytest.fixture(scope="module")
def board():
    """A simulated board of one chip, its line, and the bytes to and from it in a run."""
    boards = SimulatedBoards(ONE)
    boards.boards.tops[0].bridge.timeout_cycles = BRIDGE_TIMEOUT_CYCLES
    line = boards._lines[0] = SerialLine(4)
    line.waiting, line.received = ToBoard(), FromBoard()
    with boards:
        run(boards.ports[0], 0)
        yield boards.ports[0], line, bytes(line.waiting.log), len(line.received.log)


def run(port: str, seed: int) -> None:
    """Run on a board, which must give the product."""
    a, b = random_operands(ONE, seed)
    outcome = drive(ONE, a, b, ports=[port], timeout_seconds=SILENT_SECONDS)
    assert np.array_equal(outcome.result.c, a @ b)
    assert outcome.chip_cycles == (ONE.schedule.cycles,)


def command(kind: int, tensor: str) -> bytes:
    """How the command that writes or reads a tensor begins."""
    window = chip_register_map(ONE, 0).window(tensor)
    return bytes((kind, window.span_bytes // 4)) + (window.offset // 4).to_bytes(4, "big")


@pytest.mark.parametrize(
    ("tensor", "place", "mask"),
    [
        ("b", 9, 0x04),  # in its second word
        ("a", 3, 0x10),  # in its address
        ("a", 12, None),
    ],
)
def test_a_write_that_is_damaged_is_done_again(board, tensor, place, mask):
    port, line, sent, _ = board
    begin = len(line.waiting.log)
    line.waiting.faults = {begin + sent.index(command(WRITE, tensor)) + place: mask}
    run(port, 1)
    assert line.waiting.faults == {}
    assert len(line.waiting.log) > begin + len(sent)


def test_an_answer_that_is_damaged_is_asked_for_again(board):
    port, line, _, answered = board
    begin = len(line.received.log)
    line.received.faults = {begin + answered - 15: 0x80}  # in the last words of the product
    run(port, 2)
    assert line.received.faults == {}
    assert len(line.received.log) > begin + answered


@pytest.mark.parametrize(
    "begun",
    [
        command(WRITE, "a") + bytes(5),  # a word, and a part of one
        bytes((READ, 60, 0, 0, 0, 0)),  # answered for a while, to no one
    ],
    ids=["write", "read"],
)
def test_a_host_that_is_killed_in_mid_command_leaves_nothing_behind(board, begun):
    port, *_ = board
    killed = os.open(port, os.O_WRONLY | os.O_NOCTTY)
    os.write(killed, begun)
    os.close(killed)
    run(port, 3)
