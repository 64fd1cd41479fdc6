# amaranth: UnusedElaboratable=no
import random

import pytest
from amaranth.hdl import Module

from hw.board.uart import UartReceiver, UartTransmitter
from tests.hw.simulation import consumer, idle, monitor, producer, simulate

each_divisor = pytest.mark.parametrize("divisor", [4, 5, 7, 16])


def levels(byte: int, *, stop: int = 1) -> list[int]:
    """The bits of a byte on the line."""
    return [0, *(byte >> bit & 1 for bit in range(8)), stop]


async def send(ctx, dut: UartReceiver, bits: list[int], cycles_per_bit: float) -> None:
    """Put bits on the line whose edges are as near to their times as whole cycles allow."""
    now = 0
    for index, bit in enumerate(bits):
        ctx.set(dut.rx, bit)
        end = round((index + 1) * cycles_per_bit)
        await idle(ctx, end - now)
        now = end
    ctx.set(dut.rx, 1)


@pytest.mark.covers("pairs")
@each_divisor
@pytest.mark.parametrize("density", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("drain", [0.3, 1.0])
def test_what_is_sent_is_received(divisor, density, drain):
    rng = random.Random(f"{divisor}/{density}/{drain}")
    sent, received = [rng.randrange(256) for _ in range(20)], []
    top = Module()
    top.submodules.transmitter = transmitter = UartTransmitter(divisor=divisor)
    top.submodules.receiver = receiver = UartReceiver(divisor=divisor)
    top.d.comb += receiver.rx.eq(transmitter.tx)
    simulate(
        top,
        producer(transmitter.i, sent, density=density, seed=divisor),
        consumer(receiver.o, received, len(sent), density=drain, seed=divisor),
    )
    assert received == sent


@each_divisor
def test_a_byte_on_the_line_is_a_start_bit_the_data_and_a_stop_bit(divisor):
    dut, log = UartTransmitter(divisor=divisor), []

    async def testbench(ctx):
        await idle(ctx, 7)
        ctx.set(dut.i.payload, 0b0100_1101)
        ctx.set(dut.i.valid, 1)
        await ctx.tick()
        ctx.set(dut.i.valid, 0)
        await idle(ctx, 15 * divisor)

    simulate(dut, testbench, monitors=[monitor(log, dut.tx)])
    frame = [bit for bit in levels(0b0100_1101) for _ in range(divisor)]
    line = [level for (level,) in log]
    begin = line.index(0)
    assert line[begin : begin + len(frame)] == frame
    assert all(line[begin + len(frame) :])
    assert begin == 8


@pytest.mark.covers("values")
@pytest.mark.parametrize("divisor", [16, 25, 104])
@pytest.mark.parametrize("rate", [0.97, 1.0, 1.03])
def test_a_line_that_is_3_percent_too_fast_or_too_slow_is_understood(divisor, rate):
    rng = random.Random(f"{divisor}/{rate}")
    sent, received = [0x00, 0xFF, 0x55, 0xAA, *(rng.randrange(256) for _ in range(8))], []
    dut = UartReceiver(divisor=divisor)

    async def line(ctx):
        for byte in sent:
            await send(ctx, dut, levels(byte), divisor / rate)

    simulate(dut, line, consumer(dut.o, received, len(sent), density=1.0, seed=0))
    assert received == sent


@each_divisor
def test_a_low_of_less_than_half_a_bit_begins_no_byte(divisor):
    dut, received = UartReceiver(divisor=divisor), []

    async def line(ctx):
        for low in range(1, divisor // 2 + 1):
            ctx.set(dut.rx, 0)
            await idle(ctx, low if low < divisor // 2 else 1)
            ctx.set(dut.rx, 1)
            await idle(ctx, 12 * divisor)
        await send(ctx, dut, levels(0x5A), divisor)

    simulate(dut, line, consumer(dut.o, received, 1, density=1.0, seed=0))
    assert received == [0x5A]


@each_divisor
def test_a_byte_without_its_stop_bit_is_dropped_until_the_line_is_high_again(divisor):
    dut, received = UartReceiver(divisor=divisor), []

    async def line(ctx):
        await send(ctx, dut, levels(0x12), divisor)
        await send(ctx, dut, levels(0x34, stop=0), divisor)
        await idle(ctx, divisor)
        await send(ctx, dut, [0] * 25, divisor)  # the line breaks
        await idle(ctx, divisor)
        await send(ctx, dut, levels(0x56), divisor)

    simulate(dut, line, consumer(dut.o, received, 2, density=1.0, seed=0))
    assert received == [0x12, 0x56]


def test_a_byte_that_waits_stays_and_the_one_behind_it_is_lost():
    dut, received = UartReceiver(divisor=4), []

    async def line(ctx):
        for byte in (1, 2, 3):
            await send(ctx, dut, levels(byte), 4)
        await idle(ctx, 10)
        assert (ctx.get(dut.o.valid), ctx.get(dut.o.payload)) == (1, 1)
        await consumer(dut.o, received, 1, density=1.0, seed=0)(ctx)
        await send(ctx, dut, levels(4), 4)
        await consumer(dut.o, received, 2, density=1.0, seed=0)(ctx)

    simulate(dut, line)
    assert received == [1, 4]


@pytest.mark.parametrize("component", [UartReceiver, UartTransmitter])
@pytest.mark.parametrize("divisor", [3, 0, -4, 4.0, True, "4", None])
def test_a_divisor_that_is_no_number_of_cycles_is_refused(component, divisor):
    message = f"Divisor must be an integer of at least 4 cycles per bit, not {divisor!r}"
    with pytest.raises(TypeError) as refused:
        component(divisor=divisor)
    assert str(refused.value) == message
