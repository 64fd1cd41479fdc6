import os
import random
import sys

import pytest

from sim.errors import ToolMissingError
from sim.host.errors import PortError, PortSilentError
from sim.host.uart_bone import UartBoneClient
from tests.sim.host.fake_board import FakeBoard

ADVICE = (
    "; check that the board is plugged in, that no other program has the port, and that you may "
    "use it"
)


def test_words_are_written_and_read_in_commands_of_255_words_at_most():
    rng = random.Random(0)
    words = [rng.getrandbits(32) for _ in range(600)]
    places = range(0x100, 0x100 + 4 * len(words), 4)
    with FakeBoard(dict.fromkeys(places, 0)) as board, UartBoneClient(board.port) as client:
        client.write(0x100, words)
        assert client.read(0x100, 600) == words
        assert client.read(0x104, 1) == [words[1]]
        assert client.read(0x104, 0) == []
    bursts = [(255, 0x100), (255, 0x100 + 4 * 255), (90, 0x100 + 4 * 510)]
    assert board.commands == [(kind, *burst) for kind in (1, 2) for burst in bursts] + [
        (2, 1, 0x104)
    ]


def test_what_came_before_the_question_is_no_answer():
    with FakeBoard({0: 5}) as board, UartBoneClient(board.port) as client:
        os.write(board._near, b"noise")
        assert client.read(0, 1) == [5]


@pytest.mark.parametrize("sent", [0, 3, 7])
def test_a_board_that_does_not_answer_in_full_is_named(sent):
    with (
        FakeBoard({0: 5, 4: 6}, answer_limit=sent) as board,
        UartBoneClient(board.port, baud=9600, timeout_seconds=0.05) as client,
        pytest.raises(PortSilentError) as silent,
    ):
        client.read(0, 2)
    assert str(silent.value) == (
        f"the board at {board.port!r} does not answer: {sent} of 8 bytes came, then nothing for "
        "0.05 s at 9600 baud; check its power, its bitstream and the baud rate"
    )


def test_a_port_that_is_not_there_is_named():
    with pytest.raises(PortError) as failed:
        UartBoneClient("/dev/absent")
    assert str(failed.value) == (
        f"serial port '/dev/absent' fails: No such file or directory{ADVICE}"
    )


def test_a_port_that_is_no_serial_port_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(PortError) as failed:
        UartBoneClient(str(tmp_path / "file"))
    assert str(failed.value) == (
        f"serial port '{tmp_path}/file' fails: Inappropriate ioctl for device{ADVICE}"
    )


def test_a_port_is_for_one_host_alone():
    with (
        FakeBoard({}) as board,
        UartBoneClient(board.port),
        pytest.raises(PortError) as failed,
    ):
        UartBoneClient(board.port)
    assert str(failed.value) == (
        f"serial port {board.port!r} fails: Resource temporarily unavailable{ADVICE}"
    )


@pytest.mark.parametrize("access", ["read", "write"])
def test_a_port_that_goes_away_is_named(access):
    near, far = os.openpty()
    client = UartBoneClient(os.ttyname(far), timeout_seconds=1.0)
    os.close(far)
    os.close(near)
    with client, pytest.raises(PortError, match=r"' fails: .+; check that the board is plugged"):
        client.read(0, 1) if access == "read" else client.write(0, [1])


def test_a_host_without_pyserial_is_told_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "serial", None)
    with pytest.raises(ToolMissingError) as missing:
        UartBoneClient("/dev/absent")
    assert str(missing.value) == (
        "a serial port needs pyserial, which is not installed; get it by: "
        "pip install 'shardwright[host]'"
    )
