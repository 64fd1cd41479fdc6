# amaranth: UnusedElaboratable=no
"""``shardwright host``, with simulated boards and with boards in Python at the other end."""

import json
import os
import sys
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest

from compiler.pipeline import compile
from compiler.workload import MatmulSpec
from constraints.description import load_board
from constraints.target import board_target
from shardwright.programs import write_program
from sim.board.terminals import SimulatedBoards
from tests.host.fake_board import FakeBoard, words_of
from tests.programs import program_for, random_operands
from tests.shardwright.command import invoke, last_line

PATIENT = "--timeout 30"
"""For a slow machine that simulates."""
ONE = program_for(2, 2, 4, chips=1, tile=2)
PAIR = program_for(
    2, 2, 8, chips=2, tile=2, link_width_bits=4, link_flit_cycles=2, link_latency_cycles=8
)


def port_options(ports) -> list[str]:
    return [part for port in ports for part in ("--port", port)]


@contextmanager
def fake_boards(program):
    """Boards that have done a product of zeros."""
    with ExitStack() as stack:
        boards = [
            stack.enter_context(FakeBoard(words_of(program, chip, link_count=chip_count > 1)))
            for chip_count in (program.chip_count,)
            for chip in range(chip_count)
        ]
        yield [board.port for board in boards]


@pytest.fixture
def files(tmp_path):
    """A folder with programs and operands of one chip and of two."""
    for name, program in (("one", ONE), ("pair", PAIR)):
        write_program(tmp_path / f"{name}.json", program)
        a, b = random_operands(program, 0)
        np.save(tmp_path / f"{name}.a.npy", a)
        np.save(tmp_path / f"{name}.b.npy", b)
        np.save(tmp_path / f"{name}.c.npy", (a @ b).astype(np.int32))
    return tmp_path


def operands(folder, name: str) -> list[str]:
    return [str(folder / f"{name}.{operand}.npy") for operand in "ab"]


def test_one_simulated_board_multiplies_two_files(files):
    with SimulatedBoards(ONE) as boards:
        result = invoke(
            f"host {PATIENT} --program",
            files / "one.json",
            *port_options(boards.ports),
            *operands(files, "one"),
            "-o",
            files / "c.npy",
        )
    cycles = ONE.schedule.cycles
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        f"2x2x4 on 1 chip: {cycles} cycles, utilisation {4 / cycles:.1%}, exact",
        f"chip 0: {cycles} cycles at 1 MHz, predicted {cycles}",
    ]
    assert np.array_equal(np.load(files / "c.npy"), np.load(files / "one.c.npy"))


@pytest.mark.slow
def test_two_simulated_boards_multiply_two_files(files):
    with SimulatedBoards(PAIR) as boards:
        result = invoke(
            f"host {PATIENT} --json --program",
            files / "pair.json",
            *port_options(boards.ports),
            *operands(files, "pair"),
            "-o",
            files / "c.npy",
        )
    assert result.exit_code == 0
    said = json.loads(result.stdout)
    assert said["exact"] is True
    assert said["predicted_cycles"] == PAIR.schedule.cycles
    # The sender starts a little later, and its flits may be faster than the link has to be.
    assert -8 <= said["cycles"] - PAIR.schedule.cycles <= 15
    assert (said["homes"], said["started"]) == ([0], [0])
    assert said["chip_cycles"][0] == said["cycles"]
    assert said["clock_hz"] == [1_000_000] * 2
    assert [link["beats"] for link in said["links"]] == [2]
    assert np.array_equal(np.load(files / "c.npy"), np.load(files / "pair.c.npy"))


def test_a_product_may_be_stated_in_place_of_a_program(files):
    shape = "--m 2 --n 2 --k 8 --chips 2 --tile 2"
    shape += " --link-width 4 --flit-cycles 2 --link-latency 8"
    with fake_boards(PAIR) as ports:
        result = invoke(f"host {shape}", *port_options(ports))
    assert result.output.splitlines()[1:] == [
        f"chip 0: 1 cycles at 1 MHz, predicted {PAIR.schedule.cycles}",
        "chip 1: 1 cycles at 1 MHz",
    ]


def test_a_wrong_product_is_shown_and_not_written(files):
    with fake_boards(PAIR) as ports:
        result = invoke(
            "host --program",
            files / "pair.json",
            *port_options(ports),
            *operands(files, "pair"),
            "-o",
            files / "c.npy",
        )
    assert result.exit_code == 1
    assert "NOT EXACT: c[0,0] is 0, not " in result.output
    assert not (files / "c.npy").exists()


@pytest.mark.parametrize(
    ("board", "baud"), [("ulx3s-85f", 1_000_000), ("icebreaker", 1_000_000), (None, 115_200)]
)
def test_the_baud_rate_is_that_of_the_board_of_the_program(files, board, baud):
    program = ONE
    if board:
        program = compile(MatmulSpec(2, 2, 4), board_target(load_board(board)))
    write_program(files / "for_a_board.json", program)
    near, far = os.openpty()
    try:
        port = os.ttyname(far)
        program_file = files / "for_a_board.json"
        result = invoke("host --timeout 0.05 --program", program_file, "--port", port)
    finally:
        os.close(near)
        os.close(far)
    assert result.exit_code == 1
    assert f" at {baud} baud" in result.output


@pytest.mark.parametrize(
    ("ports", "error"),
    [
        (
            ["/dev/absent"],
            "the program has 2 chips, but 1 serial port is given; give one --port for each chip, "
            "in the order of the chips",
        ),
        (
            ["/dev/absent", "/dev/absent"],
            "serial port '/dev/absent' fails: No such file or directory; check that the board is "
            "plugged in, that no other program has the port, and that you may use it",
        ),
    ],
)
def test_ports_that_do_not_do_are_refused_in_one_line(files, ports, error):
    result = invoke("host --program", files / "pair.json", *port_options(ports))
    assert (result.exit_code, result.output) == (1, f"error: {error}\n")


def test_ports_in_another_order_are_refused_in_one_line(files):
    with fake_boards(PAIR) as ports:
        result = invoke("host --program", files / "pair.json", *port_options(ports[::-1]))
    assert (result.exit_code, result.output) == (
        1,
        f"error: the board at {ports[1]!r} has coordinate 1, not 0; give the ports in the order "
        "of the chips\n",
    )


def test_a_board_that_does_not_answer_is_named_in_one_line(files):
    near, far = os.openpty()
    try:
        port = os.ttyname(far)
        result = invoke(
            "host --timeout 0.05 --baud 9600 --program", files / "one.json", "--port", port
        )
    finally:
        os.close(near)
        os.close(far)
    assert (result.exit_code, result.output) == (
        1,
        f"error: the board at {port!r} does not answer: 0 of 4 bytes came, then nothing for "
        "0.05 s at 9600 baud; check its power, its bitstream and the baud rate\n",
    )


def test_without_pyserial_there_is_one_line(files, monkeypatch):
    monkeypatch.setitem(sys.modules, "serial", None)
    result = invoke("host --program", files / "one.json", "--port", "/dev/absent")
    assert (result.exit_code, result.output) == (
        1,
        "error: a serial port needs pyserial, which is not installed; get it by: "
        "pip install 'shardwright[host]'\n",
    )


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("", "Missing option '--port'."),
        *(
            (
                f"--port x --baud {baud}",
                f"Invalid value for '--baud': {baud} is not in the range 300<=x<=12000000.",
            )
            for baud in (0, 299, 10**24)
        ),
        *(
            (
                f"--port x --timeout {seconds}",
                f"Invalid value for '--timeout': {float(seconds)!r} is not in the range "
                "0<x<=86400.0.",
            )
            for seconds in ("0", "-1", "inf", "-inf", "1e30", "86401")
        ),
        ("--port x --timeout nan", "Invalid value for '--timeout': nan is no number of seconds."),
        ("--port x", "give A.npy and B.npy, or --m, --n and --k for random operands"),
    ],
)
def test_explains_misuse(arguments, error):
    result = invoke(f"host {arguments}")
    assert (result.exit_code, last_line(result)) == (2, f"Error: {error}")
