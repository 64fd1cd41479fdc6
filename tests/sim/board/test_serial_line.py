"""The model of a host's serial line, against levels that are worked out here."""

import random

import pytest

from sim.board.serial_line import SerialLine

each_divisor = pytest.mark.parametrize("divisor", [1, 4, 5, 16])


def levels(byte: int, divisor: int, *, stop: int = 1) -> list[int]:
    bits = [0, *(byte >> bit & 1 for bit in range(8)), stop]
    return [bit for bit in bits for _ in range(divisor)]


@each_divisor
def test_bytes_leave_one_behind_the_other(divisor):
    line = SerialLine(divisor)
    assert [line.drive() for _ in range(5)] == [1] * 5
    assert not line.busy
    line.waiting.extend(b"\x5a\x01")
    expected = levels(0x5A, divisor) + levels(0x01, divisor)
    driven = []
    for _ in expected:
        assert line.busy
        driven.append(line.drive())
    assert driven == expected
    assert not line.busy
    assert line.drive() == 1


@each_divisor
def test_bytes_come_in_with_pauses_and_without(divisor):
    rng = random.Random(divisor)
    line, sent = SerialLine(divisor), rng.randbytes(20)
    for byte in sent:
        for level in [1] * rng.choice((0, 0, 1, 7)) + levels(byte, divisor):
            line.sample(level)
    assert line.received == sent
    assert not line.busy


def test_a_byte_without_its_stop_bit_is_dropped():
    line = SerialLine(4)
    for level in levels(0x12, 4, stop=0) + [1] * 50 + levels(0x34, 4):
        line.sample(level)
    assert line.received == b"\x34"
