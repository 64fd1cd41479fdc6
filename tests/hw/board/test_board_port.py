# amaranth: UnusedElaboratable=no
"""A board's registers beside a chip, between a bus manager and a bus that waits at random."""

import random

import pytest

from hw.board.board_port import BoardPort
from tests.hw.board.bus_subordinate import BusSubordinate
from tests.hw.bus_bench import OKAY, PACES, SLVERR, BusManager
from tests.hw.simulation import monitor, simulate

IDENTITY, HOLD, LINK_COUNT, LINKS_UP, BUS_ERRORS, CLOCK_HZ, START = range(
    0x8000_0000, 0x8000_001C, 4
)
VERSION, CHECKSUM, DIGEST_HIGH, DIGEST_LOW = range(0x8000_001C, 0x8000_002C, 4)
DIGEST = 0xFEDC_BA98_7654_3210
CHIP_BITS = 6
each_pace = pytest.mark.parametrize("pace", PACES.values(), ids=PACES)
each_chip_pace = pytest.mark.parametrize("chip_pace", PACES.values(), ids=PACES)


def board_port(link_count: int = 3) -> BoardPort:
    return BoardPort(CHIP_BITS, clock_hz=12_345_678, link_count=link_count, digest=DIGEST)


@each_pace
@pytest.mark.parametrize("link_count", [0, 1, 3, 32])
def test_registers_show_constants_and_inputs(pace, link_count):
    dut = board_port(link_count)
    manager = BusManager(dut.bus, pace=pace, seed=link_count)
    rng = random.Random(f"registers/{link_count}")

    async def testbench(ctx):
        for _ in range(5):
            up, errors = rng.getrandbits(link_count), rng.getrandbits(16)
            checksum = rng.getrandbits(32)
            ctx.set(dut.links_up, up)
            ctx.set(dut.bus_errors, errors)
            ctx.set(dut.checksum, checksum)
            assert await manager.read(ctx, IDENTITY) == (0x424F5244, OKAY)
            assert await manager.read(ctx, HOLD) == (0, OKAY)
            assert await manager.read(ctx, LINK_COUNT) == (link_count, OKAY)
            assert await manager.read(ctx, LINKS_UP) == (up, OKAY)
            assert await manager.read(ctx, BUS_ERRORS) == (errors, OKAY)
            assert await manager.read(ctx, CLOCK_HZ) == (12_345_678, OKAY)
            assert await manager.read(ctx, VERSION) == (2, OKAY)
            assert await manager.read(ctx, CHECKSUM) == (checksum, OKAY)
            assert await manager.read(ctx, DIGEST_HIGH) == (0xFEDC_BA98, OKAY)
            assert await manager.read(ctx, DIGEST_LOW) == (0x7654_3210, OKAY)

    simulate(dut, testbench)


@each_pace
def test_hold_is_bit_0_of_its_register(pace):
    dut = board_port()
    manager = BusManager(dut.bus, pace=pace, seed="hold")

    async def testbench(ctx):
        assert ctx.get(dut.hold) == 0
        for word, strobe, held in (
            (1, 0b1111, 1),
            (0, 0b1110, 1),
            (0xFFFF_FFFE, 0b0001, 0),
            (1, 0b1110, 0),
            (0xFFFF_FFFF, 0b1111, 1),
        ):
            assert await manager.write(ctx, HOLD, word, strobe) == OKAY
            assert ctx.get(dut.hold) == held
            assert await manager.read(ctx, HOLD) == (held, OKAY)

    simulate(dut, testbench)


@each_pace
def test_a_one_in_bit_0_of_start_starts_a_run_for_one_cycle(pace):
    dut, log = board_port(), []
    manager = BusManager(dut.bus, pace=pace, seed="start")

    async def testbench(ctx):
        for word, strobe, begins in (
            (1, 0b1111, True),
            (0, 0b1111, False),
            (0xFFFF_FFFE, 0b1111, False),
            (0xFFFF_FFFF, 0b0001, True),
            (1, 0b1110, False),
        ):
            before = sum(start for (start,) in log)
            assert await manager.write(ctx, START, word, strobe) == OKAY
            await ctx.tick()
            assert sum(start for (start,) in log) - before == begins

    simulate(dut, testbench, monitors=[monitor(log, dut.start)])


@pytest.mark.parametrize("why", ["running", "held"])
def test_a_start_is_refused_while_the_chip_runs_or_is_held(why):
    dut, log = board_port(), []
    manager = BusManager(dut.bus)

    async def testbench(ctx):
        if why == "running":
            ctx.set(dut.running, 1)
        else:
            assert await manager.write(ctx, HOLD, 1) == OKAY
        assert await manager.write(ctx, START, 1) == SLVERR
        ctx.set(dut.running, 0)
        assert await manager.write(ctx, HOLD, 0) == OKAY
        assert await manager.write(ctx, START, 1) == OKAY
        await ctx.tick()

    simulate(dut, testbench, monitors=[monitor(log, dut.start)])
    assert sum(start for (start,) in log) == 1


@each_pace
@each_chip_pace
def test_the_chip_is_read_and_written_at_its_addresses(pace, chip_pace):
    dut = board_port()
    manager = BusManager(dut.bus, pace=pace, seed="chip")
    golden = dict.fromkeys(range(0, 1 << CHIP_BITS, 8), 0)
    chip = BusSubordinate(dut.chip, dict(golden), chip_pace, "chip")
    rng = random.Random("chip")

    async def testbench(ctx):
        for _ in range(20):
            address, word = 4 * rng.randrange(1 << CHIP_BITS - 2), rng.getrandbits(32)
            if rng.random() < 0.5:
                response = await manager.write(ctx, address, word)
                assert response == (OKAY if address in golden else SLVERR)
                if address in golden:
                    golden[address] = word
            else:
                data, response = await manager.read(ctx, address)
                assert response == (OKAY if address in golden else SLVERR)
                assert data == golden.get(address, 0x0BAD_0BAD)

    simulate(dut, testbench, monitors=[chip.serve])
    assert chip.words == golden
    assert len(chip.accesses) == 20


@each_pace
def test_what_neither_board_nor_chip_has_is_refused(pace):
    dut = board_port()
    manager = BusManager(dut.bus, pace=pace, seed="refused")
    chip = BusSubordinate(dut.chip, dict.fromkeys(range(1 << CHIP_BITS), 1))
    nowhere = [1 << bit for bit in range(CHIP_BITS, 32) if bit != 31]
    nowhere += [HOLD + 1, HOLD | 1 << 30, HOLD | 1 << 8, DIGEST_LOW + 4, 0xFFFF_FFFC]
    read_only = [
        IDENTITY,
        LINK_COUNT,
        LINKS_UP,
        BUS_ERRORS,
        CLOCK_HZ,
        VERSION,
        CHECKSUM,
        DIGEST_LOW,
    ]

    async def testbench(ctx):
        for address in [*nowhere, START]:
            assert await manager.read(ctx, address) == (0, SLVERR)
        for address in nowhere + read_only:
            assert await manager.write(ctx, address, 0xFFFF_FFFF) == SLVERR
        assert ctx.get(dut.hold) == 0

    simulate(dut, testbench, monitors=[chip.serve])
    assert chip.accesses == []


def test_a_chip_that_is_held_is_not_asked():
    dut = board_port()
    manager = BusManager(dut.bus)
    chip = BusSubordinate(dut.chip, {0: 9})

    async def testbench(ctx):
        assert await manager.write(ctx, HOLD, 1) == OKAY
        assert await manager.read(ctx, 0) == (0, SLVERR)
        assert await manager.write(ctx, 0, 1) == SLVERR
        assert chip.accesses == []
        assert await manager.write(ctx, HOLD, 0) == OKAY
        assert await manager.read(ctx, 0) == (9, OKAY)

    simulate(dut, testbench, monitors=[chip.serve])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"address_bits": 2}, "Address bits must be an integer from 3 to 31, not 2"),
        ({"address_bits": 32}, "Address bits must be an integer from 3 to 31, not 32"),
        ({"clock_hz": 1.5e6}, "Clock frequency must be a positive integer, not 1500000.0"),
        ({"link_count": -1}, "Link count must be an integer from 0 to 32, not -1"),
        ({"link_count": 33}, "Link count must be an integer from 0 to 32, not 33"),
        ({"digest": -1}, "Digest must be an integer of 64 bits, not -1"),
        ({"digest": 1 << 64}, "Digest must be an integer of 64 bits, not 18446744073709551616"),
        ({"digest": None}, "Digest must be an integer of 64 bits, not None"),
    ],
)
def test_parameters_out_of_range_are_refused(changes, message):
    options = {"address_bits": 12, "clock_hz": 12_000_000, "link_count": 1, "digest": 0} | changes
    with pytest.raises(TypeError) as refused:
        BoardPort(options.pop("address_bits"), **options)
    assert str(refused.value) == message
