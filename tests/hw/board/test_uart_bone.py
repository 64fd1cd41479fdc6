# amaranth: UnusedElaboratable=no
"""The bridge between a host's serial line, bit by bit, and a bus that waits at random."""

import random
import zlib

import pytest

from hw.board.uart_bone import UartBone
from sim.board.serial_line import SerialLine
from tests.hw.board.bus_subordinate import BusSubordinate
from tests.hw.bus_bench import PACES
from tests.hw.simulation import idle, simulate

DIVISOR = 4
BYTE_CYCLES = 10 * DIVISOR
TIMEOUT = 300
WRITE, READ, WRITE_FIXED, READ_FIXED = 1, 2, 3, 4
each_pace = pytest.mark.parametrize("pace", PACES.values(), ids=PACES)


def command(kind: int, address: int, words: list[int] | int) -> bytes:
    """The bytes of a command; for a read, the number of its words."""
    count = words if isinstance(words, int) else len(words)
    data = b"" if isinstance(words, int) else b"".join(w.to_bytes(4, "big") for w in words)
    return bytes((kind, count)) + (address // 4).to_bytes(4, "big") + data


class Bench:
    """A bridge, its bus, and its host's line, on which bytes may pause."""

    def __init__(self, words: dict[int, int], *, address_bits=12, pace=PACES["prompt"], seed=0):
        self.dut = UartBone(address_bits, divisor=DIVISOR, timeout_cycles=TIMEOUT)
        self.subordinate = BusSubordinate(self.dut.bus, words, pace, seed)
        self.line = SerialLine(DIVISOR)
        self.rng = random.Random(f"line/{seed}")

    async def _wire(self, ctx) -> None:
        while True:
            ctx.set(self.dut.rx, self.line.drive())
            _, _, level = await ctx.tick().sample(self.dut.tx)
            self.line.sample(level)

    async def send(self, ctx, data: bytes, *, pause: int = 0) -> None:
        """Send bytes, each after a pause of up to that many cycles, and wait until they are."""
        for byte in data:
            await idle(ctx, self.rng.randint(0, pause))
            self.line.waiting.append(byte)
            await idle(ctx, BYTE_CYCLES)

    async def ask(self, ctx, kind: int, address: int, count: int, *, pause: int = 0) -> list[int]:
        """Read words, and check that no byte follows them."""
        await self.send(ctx, command(kind, address, count), pause=pause)
        while len(self.line.received) < 4 * count:
            await ctx.tick()
        await idle(ctx, 2 * BYTE_CYCLES)
        data = bytes(self.line.received)
        self.line.received.clear()
        return [int.from_bytes(data[i : i + 4], "big") for i in range(0, len(data), 4)]

    def run(self, testbench, *, cycles: int = 100_000) -> None:
        simulate(self.dut, testbench, monitors=[self._wire, self.subordinate.serve], cycles=cycles)


@pytest.mark.covers("values")
@each_pace
@pytest.mark.parametrize("pause", [0, 100])
def test_words_are_written_and_read_one_after_the_other(pace, pause):
    rng = random.Random(f"bursts/{pause}")
    golden = dict.fromkeys(range(0, 64, 4), 0)
    bench = Bench(dict(golden), pace=pace, seed=pause)

    async def testbench(ctx):
        for _ in range(2):
            first, count = rng.randrange(12), rng.randint(1, 4)
            words = [rng.getrandbits(32) for _ in range(count)]
            await bench.send(ctx, command(WRITE, 4 * first, words), pause=pause)
            golden.update({4 * (first + i): word for i, word in enumerate(words)})
            first, count = rng.randrange(12), rng.randint(1, 4)
            expected = [golden[4 * (first + i)] for i in range(count)]
            assert await bench.ask(ctx, READ, 4 * first, count, pause=pause) == expected
        assert ctx.get(bench.dut.errors) == 0

    bench.run(testbench)
    assert bench.subordinate.words == golden


def test_fixed_commands_stay_at_their_address():
    bench = Bench({8: 0, 12: 0x77})

    async def testbench(ctx):
        await bench.send(ctx, command(WRITE_FIXED, 8, [1, 2, 3]))
        assert await bench.ask(ctx, READ_FIXED, 8, 3) == [3, 3, 3]

    bench.run(testbench)
    assert bench.subordinate.accesses == [("write", 8)] * 3 + [("read", 8)] * 3
    assert bench.subordinate.words[12] == 0x77


@pytest.mark.slow
def test_the_longest_command_reads_255_words():
    bench = Bench({4 * i: 3 * i for i in range(255)})

    async def testbench(ctx):
        assert await bench.ask(ctx, READ, 0, 255) == [3 * i for i in range(255)]

    bench.run(testbench)


@each_pace
def test_an_error_of_the_bus_is_counted_and_read_as_ones(pace):
    bench = Bench({0: 5, 8: 6}, pace=pace, seed="errors")

    async def testbench(ctx):
        assert await bench.ask(ctx, READ, 0, 3) == [5, 0xFFFF_FFFF, 6]
        assert ctx.get(bench.dut.errors) == 1
        await bench.send(ctx, command(WRITE, 0, [7, 8, 9]))
        assert await bench.ask(ctx, READ, 0, 1) == [7]
        assert ctx.get(bench.dut.errors) == 2

    bench.run(testbench)
    assert bench.subordinate.words == {0: 7, 8: 9}


@pytest.mark.parametrize("address_bits", [3, 12, 31, 32])
def test_an_address_beyond_the_bus_meets_nothing(address_bits):
    bench = Bench({0: 5}, address_bits=address_bits)
    end = 1 << address_bits
    beyond = [end, min(end << 1, 1 << 33), 0xFFFF_FFFF * 4]

    async def testbench(ctx):
        for address in beyond:
            await bench.send(ctx, command(WRITE, address, [1]))
            assert await bench.ask(ctx, READ, address, 1) == [0xFFFF_FFFF]
        assert ctx.get(bench.dut.errors) == 2 * len(beyond)
        assert await bench.ask(ctx, READ, 0, 1) == [5]

    bench.run(testbench)
    assert bench.subordinate.accesses == [("read", 0)]
    assert bench.subordinate.words == {0: 5}


@pytest.mark.parametrize("address_bits", [4, 32])
def test_a_burst_over_the_end_of_the_bus_does_not_begin_at_zero_again(address_bits):
    last = (1 << address_bits) - 4
    bench = Bench({0: 5, last: 6}, address_bits=address_bits)

    async def testbench(ctx):
        assert await bench.ask(ctx, READ, last, 3) == [6, 0xFFFF_FFFF, 0xFFFF_FFFF]

    bench.run(testbench)


def test_the_count_of_errors_stops_at_its_highest_value():
    bench = Bench({})

    async def testbench(ctx):
        ctx.set(bench.dut.errors, 0xFFFE)
        assert await bench.ask(ctx, READ, 0, 3) == [0xFFFF_FFFF] * 3
        assert ctx.get(bench.dut.errors) == 0xFFFF

    bench.run(testbench)


@pytest.mark.parametrize("kind", [0, 5, 0x81, 0xFF])
def test_an_unknown_command_ends_with_its_address(kind):
    bench = Bench({0: 5})

    async def testbench(ctx):
        await bench.send(ctx, command(kind, 0, 3))
        assert await bench.ask(ctx, READ, 0, 1) == [5]

    bench.run(testbench)
    assert bench.subordinate.accesses == [("read", 0)]


@pytest.mark.parametrize("kind", [WRITE, READ, WRITE_FIXED, READ_FIXED])
def test_a_command_for_no_words_does_nothing(kind):
    bench = Bench({0: 5})

    async def testbench(ctx):
        await bench.send(ctx, command(kind, 0, 0))
        assert await bench.ask(ctx, READ, 0, 1) == [5]

    bench.run(testbench)
    assert bench.subordinate.accesses == [("read", 0)]


@pytest.mark.parametrize("kind", [WRITE, READ])
def test_a_command_that_is_not_carried_on_is_dropped(kind):
    first, second = 0x404, 0x408  # neither byte of the word's number is 0
    whole = command(kind, first, [0x0102_0304, 6] if kind == WRITE else 2)
    bench = Bench({first: 5, second: 5})

    async def testbench(ctx):
        for size in {1, 2, 5, 6, 7, 9, 10, 13} & set(range(1, len(whole))):
            await bench.send(ctx, whole[:size])
            await idle(ctx, TIMEOUT + BYTE_CYCLES)
            bench.subordinate.words[first] = 7
            assert await bench.ask(ctx, READ, first, 1) == [7]
        await bench.send(ctx, whole[:7])
        await idle(ctx, TIMEOUT - BYTE_CYCLES)  # just not too late
        await bench.send(ctx, whole[7:])
        await idle(ctx, BYTE_CYCLES)

    bench.run(testbench)
    assert bench.subordinate.words[second] == (6 if kind == WRITE else 5)


@each_pace
def test_the_checksum_is_over_all_bytes_of_commands_and_answers(pace):
    """Whatever becomes of them: refused words, unknown commands and what they bring along too."""
    rng = random.Random("checksum")
    golden = dict.fromkeys(range(0, 64, 4), 0)
    bench = Bench(dict(golden), pace=pace, seed="checksum")

    async def testbench(ctx):
        checksum = 0
        assert ctx.get(bench.dut.checksum) == checksum
        for kind in (WRITE, READ, 0, WRITE_FIXED, READ_FIXED, 9, READ, WRITE):
            first, count = rng.randrange(14), rng.randint(1, 4)
            if kind in (READ, READ_FIXED):
                asked = command(kind, 4 * first, count)
                words = await bench.ask(ctx, kind, 4 * first, count)
                asked += b"".join(word.to_bytes(4, "big") for word in words)
            else:
                words = [rng.getrandbits(32) for _ in range(count)]
                asked = command(kind, 4 * first, words if kind in (WRITE, WRITE_FIXED) else 1)
                await bench.send(ctx, asked)
                await idle(ctx, BYTE_CYCLES)
            checksum = zlib.crc32(asked, checksum)
            assert ctx.get(bench.dut.checksum) == checksum

    bench.run(testbench)


@pytest.mark.parametrize("size", [1, 3, 6, 9])
def test_a_command_that_is_dropped_begins_the_checksum_anew(size):
    bench = Bench({0: 5})

    async def testbench(ctx):
        assert await bench.ask(ctx, READ, 0, 1) == [5]
        await idle(ctx, 2 * TIMEOUT)  # between commands, silence means nothing
        assert ctx.get(bench.dut.checksum) == zlib.crc32(command(READ, 0, 1) + bytes((0, 0, 0, 5)))
        begun = command(WRITE, 0, [0x0102_0304])[:size]
        await bench.send(ctx, begun)
        assert ctx.get(bench.dut.checksum) != 0
        await idle(ctx, TIMEOUT + BYTE_CYCLES)
        assert ctx.get(bench.dut.checksum) == 0
        assert await bench.ask(ctx, READ, 0, 1) == [5]
        assert ctx.get(bench.dut.checksum) == zlib.crc32(command(READ, 0, 1) + bytes((0, 0, 0, 5)))

    bench.run(testbench)


PROPER = {"address_bits": 12, "divisor": 16, "timeout_cycles": 1000}


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        (
            {"address_bits": bits},
            TypeError,
            f"Address bits must be an integer from 3 to 32, not {bits!r}",
        )
        for bits in (2, 33, "12", None)
    ]
    + [
        (
            {"divisor": 3},
            TypeError,
            "Divisor must be an integer of at least 4 cycles per bit, not 3",
        ),
        ({"timeout_cycles": 0}, TypeError, "Timeout cycles must be a positive integer, not 0"),
        (
            {"timeout_cycles": 319},
            ValueError,
            "Timeout cycles must be at least two bytes of 160 cycles, not 319",
        ),
    ],
)
def test_parameters_out_of_range_are_refused(changes, error, message):
    options = PROPER | changes
    with pytest.raises(error) as refused:
        UartBone(options.pop("address_bits"), **options)
    assert str(refused.value) == message
