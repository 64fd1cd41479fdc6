# amaranth: UnusedElaboratable=no
"""LiteX's own tools, which know nothing of this project, speak to the boards."""

import socket
import subprocess
import sys
from contextlib import contextmanager
from time import monotonic, sleep

import numpy as np
import pytest

from hw.chip_registers import chip_register_map
from sim.board.terminals import SimulatedBoards
from tests.programs import program_for, random_operands

PROGRAM = program_for(2, 2, 4, chips=1, tile=2)
BOARD_IDENTITY, CHIP_IDENTITY = 0x424F5244, 0x53485244
DONE = 4
START_SECONDS = 30


@pytest.fixture(scope="module")
def port():
    """The terminal of a simulated board."""
    with SimulatedBoards(PROGRAM) as boards:
        yield boards.ports[0]


@contextmanager
def comm_uart(port):
    """LiteX's client of a serial port."""
    client = pytest.importorskip("litex.tools.remote.comm_uart").CommUART(port)
    try:
        yield client
    finally:
        client.close()


@contextmanager
def remote_client(port):
    """LiteX's client of its server, which has the serial port."""
    pytest.importorskip("litex")
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        number = probe.getsockname()[1]
    command = [sys.executable, "-m", "litex.tools.litex_server", "--uart", "--uart-port", port]
    server = subprocess.Popen(
        [*command, "--bind-port", str(number)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        client = _connected(number)
        client.socket.settimeout(START_SECONDS)
        yield client
        client.close()
    finally:
        server.terminate()
        server.wait()


def _connected(number: int):
    from litex import RemoteClient

    client = RemoteClient(port=number)
    deadline = monotonic() + START_SECONDS
    while True:
        try:
            client.open()
        except ConnectionRefusedError:
            assert monotonic() < deadline, "the server does not start"
            sleep(0.1)
        else:
            return client


@pytest.mark.parametrize("connect", [comm_uart, remote_client])
def test_litex_runs_a_product(port, connect, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # its client reads a file of registers from where it stands
    registers = chip_register_map(PROGRAM, 0)
    a, b = random_operands(PROGRAM, 0)
    columns = a.reshape(2, 2, 2).transpose(1, 2, 0).reshape(-1, 2)  # of its two tiles
    with connect(port) as client:
        assert client.read(0x8000_0000) == BOARD_IDENTITY
        assert client.read(0) == CHIP_IDENTITY
        for tensor, beats in (("a", columns), ("b", b)):
            window = registers.window(tensor)
            words = [(int(x) & 0xFF) | (int(y) & 0xFF) << 8 for x, y in beats]
            client.write(window.offset, words)
            assert client.read(window.offset, len(words)) == words
        client.write(registers.register("control").offset, 1)
        while not client.read(registers.register("status").offset) & DONE:
            pass
        product = client.read(registers.window("c").offset, 4)
        assert client.read(0x8000_0010) == 0  # errors of the bus
    assert np.array_equal(np.array(product, np.uint32).astype(np.int32), (a @ b).reshape(-1))
