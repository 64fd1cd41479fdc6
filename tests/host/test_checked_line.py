"""What crosses a line that flips, loses and invents bytes arrives whole, or is named."""

import os
import random
from contextlib import ExitStack
from threading import Thread
from time import sleep

import numpy as np
import pytest

from host import uart_bone
from host.checked_line import CheckedLine
from host.drive import drive
from host.errors import HostError, LineFaultError, PortSilentError
from host.uart_bone import UartBoneClient
from hw.chip_registers import chip_register_map
from hw.names import local_name
from sim.binding import bind
from sim.window_images import window_beats
from tests.host import fake_board
from tests.host.fake_board import FakeBoard, board, words_of
from tests.programs import program_for, random_operands
from tests.tiers import chosen

PAIR = program_for(4, 4, 8, chips=2, tile=2)
A, B = random_operands(PAIR, 0)
BAUD = 1_000_000
READ, WRITE = 2, 1
ADVICE = "check the cable and its length, and use no other host meanwhile"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Boards that drop a command sooner, and a host that knows it."""
    monkeypatch.setattr(fake_board, "DROPS_AFTER_SECONDS", 0.02)
    monkeypatch.setattr(uart_bone, "BRIDGE_TIMEOUT_SECONDS", 0.02)


def images(chip: int) -> dict[int, int]:
    """Words of the operands of a chip, by address."""
    words = {}
    for name, array in bind(PAIR, A, B).items():
        tensor = PAIR.tensor_by_name[name]
        if tensor.chip == chip:
            window = chip_register_map(PAIR, chip).window(local_name(name))
            data = b"".join(window_beats(array, tensor, window))
            for index in range(0, len(data), 4):
                words[window.offset + index] = int.from_bytes(data[index : index + 4], "little")
    return words


def product() -> dict[int, int]:
    """Words of the product on its chip."""
    window = chip_register_map(PAIR, 0).window("c")
    tiles = (A @ B).reshape(2, 2, 2, 2).transpose(0, 2, 1, 3).reshape(-1)
    return {window.offset + 4 * i: int(value) & 0xFFFF_FFFF for i, value in enumerate(tiles)}


def read_only(chip: int) -> set[int]:
    """What a chip lets no host write, but for its control register."""
    registers = chip_register_map(PAIR, chip)
    results = product().keys() if chip == 0 else set()
    return {register.offset for register in registers.registers} | results


class Pair:
    """Two boards whose product is there already; faults are on the line of one of them."""

    def __init__(self, chip: int = 0, **faults):
        self.boards = [
            FakeBoard(
                words_of(PAIR, index, link_count=1),
                read_only=read_only(index),
                **(faults if index == chip else {}),
            )
            for index in (0, 1)
        ]
        self.boards[0].words |= product()
        self.stack = ExitStack()

    def __enter__(self):
        self.ports = [self.stack.enter_context(each).port for each in self.boards]
        return self

    def __exit__(self, *_):
        self.stack.close()

    def drive(self, **options):
        """Run, and check that each board was given its operands."""
        run = drive(PAIR, A, B, ports=self.ports, baud=BAUD, timeout_seconds=0.3, **options)
        for chip, each in enumerate(self.boards):
            assert images(chip).items() <= each.words.items()
        assert np.array_equal(run.result.c, A @ B)
        return run


@pytest.fixture(scope="module")
def byte_counts():
    """Bytes to and from each board in a run without a fault."""
    with Pair() as pair:
        pair.drive()
        return [(each.heard_count, each.said_count) for each in pair.boards]


@pytest.mark.covers("values")
@pytest.mark.parametrize("fault", ["flipped", "lost"])
@pytest.mark.parametrize("direction", ["heard", "said"])
@pytest.mark.parametrize("seed", range(4))
def test_one_byte_that_is_damaged_anywhere_in_a_run_changes_nothing(
    fault, direction, seed, byte_counts
):
    rng = random.Random(f"{fault}/{direction}/{seed}")
    chip = rng.randrange(2)
    count = byte_counts[chip][direction == "said"]
    place = rng.randrange(count)
    mask = 1 << rng.randrange(8) if fault == "flipped" else None
    with Pair(chip, **{direction: {place: mask}}) as pair:
        pair.drive()
        assert getattr(pair.boards[chip], f"{direction}_count") > count


def test_answers_to_another_host_that_still_come_are_none_of_ours():
    rng = random.Random("stale")
    with Pair() as pair:

        def answer():
            for _ in range(15):
                os.write(pair.boards[0]._near, rng.randbytes(40))
                sleep(0.01)

        thread = Thread(target=answer)
        thread.start()
        pair.drive()
        thread.join()


@pytest.mark.parametrize("kind", [WRITE, READ])
@pytest.mark.parametrize("size", [1, 4, 6, 9])
def test_a_command_that_a_killed_host_has_begun_is_none_of_ours(kind, size):
    window = chip_register_map(PAIR, 1).window("b").offset
    begun = bytes((kind, 200)) + (window // 4).to_bytes(4, "big") + bytes(range(1, 5))
    with Pair() as pair:
        line = os.open(pair.ports[1], os.O_WRONLY | os.O_NOCTTY)
        os.write(line, begun[:size])
        os.close(line)
        pair.drive()


class Babbling(FakeBoard):
    """From some answer on, what it says is noise, of any length."""

    def __init__(self, words: dict[int, int], *, rng: random.Random, sane_answers: int, **options):
        super().__init__(words, **options)
        self.rng, self.sane_answers = rng, sane_answers

    def _send(self, data: bytes) -> None:
        if self.sane_answers > 0:
            super()._send(data)
        else:
            super()._send(self.rng.randbytes(self.rng.choice((0, 1, 4, 4, 4, 7))))
        self.sane_answers -= 1


@pytest.mark.parametrize("sane_answers", chosen([0, 1, 2, 5, 12, 20, 40], [0, 1, 12]))
def test_noise_ends_in_an_error_of_one_line(sane_answers):
    with ExitStack() as stack:
        pair = stack.enter_context(Pair())
        rng = random.Random(sane_answers)
        words = pair.boards[0].words
        noisy = Babbling(words, rng=rng, sane_answers=sane_answers, read_only=read_only(0))
        pair.ports[0] = stack.enter_context(noisy).port
        with pytest.raises(HostError) as error:
            pair.drive()
        assert noisy.port in str(error.value)


class Corrupt(FakeBoard):
    """Its checksum differs after each access of one address."""

    def __init__(self, address: int, words: dict[int, int]):
        super().__init__(words)
        self.address = address

    def _read(self, address: int) -> int:
        self.checksum ^= address == self.address
        return super()._read(address)

    def _write(self, address: int, word: int) -> None:
        self.checksum ^= address == self.address
        super()._write(address, word)


def corrupted(address: int) -> tuple[Corrupt, str]:
    """What a run says of a board that damages each access of an address."""
    with ExitStack() as stack:
        pair = stack.enter_context(Pair())
        corrupt = stack.enter_context(Corrupt(address, pair.boards[0].words))
        pair.ports[0] = corrupt.port
        with pytest.raises(LineFaultError) as fault:
            pair.drive()
        return corrupt, str(fault.value)


@pytest.mark.parametrize(
    ("tensor", "words", "said"),
    [("a", 8, "tensor 'a' of chip 0 written"), ("c", 16, "tensor 'c' of chip 0 read")],
)
def test_a_block_that_is_damaged_three_times_is_named(tensor, words, said):
    window = chip_register_map(PAIR, 0).window(tensor)
    corrupt, text = corrupted(window.offset)
    begin, end = text.split(": the board's checksum is 0x")
    assert begin == f"the line to the board at {corrupt.port!r} damages what crosses it: {said}"
    assert end[8:14] == ", not "
    assert end.endswith(f"; {ADVICE}")
    kind = WRITE if "written" in said else READ
    assert corrupt.commands.count((kind, words, window.offset)) == 3
    starts = [address for address, _ in corrupt.writes if address == board("start")]
    assert len(starts) == (kind == READ)


def test_the_words_of_a_long_block_are_named():
    words = dict.fromkeys(range(0, 4 * 600, 4), 0) | {board("bus_errors"): 0, board("checksum"): 0}
    with Corrupt(4 * 300, words) as corrupt, UartBoneClient(corrupt.port, baud=BAUD) as client:
        line = CheckedLine(client)
        line.agree()
        with pytest.raises(LineFaultError, match=r"crosses it: words 255 to 509 of x read: "):
            line.read(0, 600, block="x")
        line.agree()
        with pytest.raises(LineFaultError, match=r"crosses it: words 255 to 509 of x written: "):
            line.write(0, [1] * 600, block="x")


def test_a_board_that_falls_silent_in_mid_write_is_a_fault_first_and_then_silent():
    words = dict.fromkeys(range(0, 16, 4), 0) | {board("bus_errors"): 0, board("checksum"): 0}
    with (
        FakeBoard(words) as silent,
        UartBoneClient(silent.port, baud=BAUD, timeout_seconds=0.05) as client,
    ):
        line = CheckedLine(client)
        line.agree()
        silent.answer_limit = 0
        with pytest.raises(LineFaultError) as fault:
            line.write(0, [1, 2], block="the words")
        assert str(fault.value) == (
            f"the line to the board at {silent.port!r} damages what crosses it: the words written: "
            f"the board does not say that they came in; {ADVICE}"
        )
        with pytest.raises(PortSilentError):
            line.agree()


def test_refusals_that_a_damaged_read_has_caused_are_not_the_boards():
    """Bit 30 of its address: the board refuses it, and counts that."""
    words = {0: 5, board("bus_errors"): 0, board("checksum"): 0}
    with FakeBoard(words) as each, UartBoneClient(each.port, baud=BAUD) as client:
        line = CheckedLine(client)
        line.agree()
        each.heard = {each.heard_count + 2: 0x10}
        assert line.read(0, 1, block="x") == [5]
        assert line.refused == each.words[board("bus_errors")] == 1
