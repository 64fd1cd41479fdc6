# amaranth: UnusedElaboratable=no
"""The multiplier of logic is exact: all operands, in simulation."""

import itertools

import pytest

from hw.multiplier.logic import LogicMultiplier
from hw.multiplier.plain import PlainMultiplier
from hw.multiplier.signature import MULTIPLIER_CYCLES
from tests.hw.simulation import simulate


@pytest.mark.parametrize("kind", [LogicMultiplier, PlainMultiplier])
@pytest.mark.parametrize("width_bits", [1, 2, 3, 4, 5, pytest.param(8, marks=pytest.mark.slow)])
def test_multiplies_all_operands(kind, width_bits):
    dut = kind(width_bits)
    numbers = range(-(1 << (width_bits - 1)), 1 << (width_bits - 1))
    pairs = list(itertools.product(numbers, repeat=2))
    products = []

    async def feed(ctx):
        for a, b in pairs:
            ctx.set(dut.a, a)
            ctx.set(dut.b, b)
            await ctx.tick()

    async def read(ctx):
        for _ in range(MULTIPLIER_CYCLES):
            await ctx.tick()
        while len(products) < len(pairs):
            _, _, product = await ctx.tick().sample(dut.product)
            products.append(product)

    simulate(dut, feed, read, cycles=len(pairs) + 10)
    assert products == [a * b for a, b in pairs]


@pytest.mark.parametrize("width_bits", [9, 12, 16])
def test_multiplies_the_extremes_of_wide_operands(width_bits):
    dut = LogicMultiplier(width_bits)
    low, high = -(1 << (width_bits - 1)), (1 << (width_bits - 1)) - 1
    pairs = list(itertools.product([low, low + 1, -1, 0, 1, high // 3, high], repeat=2))
    products = []

    async def both(ctx):
        for a, b in [*pairs, *[(0, 0)] * MULTIPLIER_CYCLES]:
            ctx.set(dut.a, a)
            ctx.set(dut.b, b)
            _, _, product = await ctx.tick().sample(dut.product)
            products.append(product)

    simulate(dut, both)
    assert products[MULTIPLIER_CYCLES:] == [a * b for a, b in pairs]


@pytest.mark.parametrize(
    ("width", "error", "text"),
    [
        (0, ValueError, r"Operand width must be in 1 .. 64 bits, not 0"),
        (65, ValueError, r"Operand width must be in 1 .. 64 bits, not 65"),
        ("8", TypeError, r"Operand width must be an integer, not '8'"),
        (True, TypeError, r"Operand width must be an integer, not True"),
    ],
)
def test_refuses_wrong_widths(width, error, text):
    with pytest.raises(error, match=text):
        LogicMultiplier(width)
