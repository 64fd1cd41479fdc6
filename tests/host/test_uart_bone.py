import os
import random
import sys
import zlib
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic, sleep

import pytest

from host.errors import LineSettingError, PortError, PortNoisyError, PortSilentError
from host.uart_bone import UartBoneClient
from sim.errors import ToolMissingError
from tests.host.fake_board import FakeBoard

ADVICE = (
    "; check that the board is plugged in, that no other program has the port, and that you may "
    "use it"
)


@contextmanager
def running(job):
    """A job that runs beside what is done meanwhile."""
    thread = Thread(target=job)
    thread.start()
    yield
    thread.join()


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


def test_the_checksum_is_over_what_was_sent_and_received():
    with FakeBoard({0: 5, 4: 6}) as board, UartBoneClient(board.port) as client:
        client.write(0, [7])
        assert client.read(0, 2) == [7, 6]
        exchanged = bytes((1, 1, 0, 0, 0, 0, 0, 0, 0, 7))
        exchanged += bytes((2, 2, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 6))
        assert client.checksum == zlib.crc32(exchanged) == board.checksum


def test_it_waits_until_what_still_comes_has_come():
    with FakeBoard({0: 5}) as board, UartBoneClient(board.port, baud=1_000_000) as client:
        sent = []

        def send():
            for _ in range(20):
                sleep(0.02)
                os.write(board._near, b"stale")
                sent.append(monotonic())

        with running(send):
            client.wait_for_silence()
            assert len(sent) == 20
            assert monotonic() >= sent[-1] + client.quiet_seconds - 0.02
        assert client.read(0, 1) == [5]


def test_what_never_falls_silent_is_named():
    with (
        FakeBoard({}) as board,
        UartBoneClient(board.port, timeout_seconds=0.1, baud=1_000_000) as client,
    ):
        stopped = Event()

        def send():
            while not stopped.is_set():
                os.write(board._near, b"x")
                sleep(0.005)

        with running(send):
            try:
                with pytest.raises(PortNoisyError) as noisy:
                    client.wait_for_silence()
            finally:
                stopped.set()
    assert str(noisy.value) == (
        f"what is at {board.port!r} is never silent for 0.16 s at 1000000 baud, as a board is "
        "between two answers; check that the port leads to a board of this project, and the baud "
        "rate"
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"timeout_seconds": seconds},
            "timeout in seconds of a serial port must be above 0 and at most 86400, not "
            f"{seconds!r}",
        )
        for seconds in (float("nan"), float("inf"), 1e30, 0, -1.0)
    ]
    + [
        (
            {"baud": baud},
            f"baud rate of a serial port must be an integer from 300 to 12000000, not {baud!r}",
        )
        for baud in (0, 299, 10**24, 9600.0)
    ],
)
def test_settings_that_no_port_can_have_are_refused(options, said):
    with pytest.raises(LineSettingError) as refused:
        UartBoneClient("/dev/absent", **options)
    assert str(refused.value) == f"the {said}"


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
