import random

import pytest

from hw.verilog.signals import Bits, Signal, Slice, join, part, resized, width_of, wires_of

WIRES = {"x": 0b1011_0110, "y": 0b0101_1101}


def random_signal(rng: random.Random) -> Signal:
    """Some pieces of two wires of 8 bits, and constants."""
    pieces = []
    for _ in range(rng.randint(0, 5)):
        width = rng.randint(1, 4)
        if rng.random() < 0.3:
            pieces.append(Bits(rng.randrange(1 << width), width))
        else:
            pieces.append(Slice(rng.choice("xy"), rng.randint(0, 8 - width), width))
    return tuple(pieces)


def bits_of(signal: Signal) -> list[int]:
    """The bits that a signal has, lowest first."""
    bits = []
    for piece in signal:
        value = piece.value if isinstance(piece, Bits) else WIRES[piece.wire] >> piece.start
        bits += [value >> index & 1 for index in range(piece.width)]
    return bits


@pytest.mark.parametrize("seed", range(50))
def test_signals_are_joined_cut_and_resized_bit_by_bit(seed):
    rng = random.Random(seed)
    one, other = random_signal(rng), random_signal(rng)
    bits = bits_of(one)
    assert width_of(one) == len(bits)
    assert bits_of(join(one, other)) == bits + bits_of(other)
    start, width = rng.randint(0, 6), rng.randint(0, 6)
    assert bits_of(part(one, start, width)) == bits[start : start + width]
    wider = rng.randint(len(bits), len(bits) + 5)
    assert bits_of(resized(one, wider)) == bits + [0] * (wider - len(bits))
    sign = bits[-1:] or [0]
    assert bits_of(resized(one, wider, signed=True)) == bits + sign * (wider - len(bits))
    narrower = rng.randint(0, len(bits))
    assert bits_of(resized(one, narrower, signed=True)) == bits[:narrower]


def test_neighbours_become_one_piece():
    assert join((Slice("x", 0, 2), Slice("x", 2, 3)), (Slice("x", 5, 1),)) == (Slice("x", 0, 6),)
    assert join((Bits(0b01, 2),), (Bits(0b1, 1),)) == (Bits(0b101, 3),)
    assert len(join((Slice("x", 0, 2),), (Slice("x", 3, 1),), (Slice("y", 4, 1),))) == 3


def test_wires_of_a_signal():
    assert wires_of((Slice("x", 0, 1), Bits(0, 2), Slice("y", 3, 1), Slice("x", 4, 1))) == {
        "x",
        "y",
    }
