# amaranth: UnusedElaboratable=no
"""The host port between a bus manager and two memories, apart from any chip."""

import random

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import connect

from hw.host_port import HostPort
from hw.register_map import Access, Register, RegisterMap, Window
from hw.tensor_memory import OperandMemory, ResultMemory
from hw.verilog.convert import to_verilog
from tests.hw.bus_bench import ALL_BYTES, OKAY, PACES, SLVERR, BusManager
from tests.hw.simulation import lanes, plain, simulate

READ, WRITE, BOTH = Access.READ, Access.WRITE, Access.READ_WRITE
REGISTERS = (
    Register("identity", 0x00, READ, "", value=0xCAFE_F00D),
    Register("coordinate", 0x04, READ, "", source="coordinate"),
    Register("control", 0x08, WRITE, "", bits=((0, "start"),)),
    Register("status", 0x0C, READ, "", source="status"),
    Register("cycles", 0x10, READ, "", source="cycles"),
    Register("beats_count", 0x14, READ, "", source="beats_count"),
)
OFFSET = {register.name: register.offset for register in REGISTERS}
IDLE, RUNNING, DONE, FAULT = 1, 2, 4, 8
SHAPES = [(1, 32), (2, 20), (3, 17), (4, 32), (8, 20)]
"""Lanes of both memories, and bits of a result."""
each_shape = pytest.mark.parametrize(("lane_count", "bits"), SHAPES)
each_pace = pytest.mark.parametrize("pace", PACES.values(), ids=PACES)


def power_of_two(number: int) -> int:
    return 1 << (number - 1).bit_length()


class Fixture(wiring.Component):
    """A host port with an operand memory ``x`` and a result memory ``y`` of six words each."""

    words = 6

    def __init__(self, lane_count: int = 4, bits: int = 32):
        x_bytes, y_bytes = power_of_two(max(4, lane_count)), power_of_two(4 * lane_count)
        span = 8 * max(x_bytes, y_bytes)
        self.windows = {
            "x": Window("x", span, BOTH, self.words, lane_count, 8, x_bytes, ""),
            "y": Window("y", 2 * span, READ, self.words, lane_count, 32, y_bytes, ""),
        }
        register_map = RegisterMap(REGISTERS, tuple(self.windows.values()))
        beats = {"x": lanes(lane_count), "y": lanes(lane_count, bits)}
        self.port = HostPort(register_map, beats)
        self.x = OperandMemory(beats["x"], depth_words=self.words)
        self.y = ResultMemory(beats["y"], depth_words=self.words)
        super().__init__({})

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.port, m.submodules.x, m.submodules.y = self.port, self.x, self.y
        connect(m, self.port.read_x, self.x.host_read)
        connect(m, self.port.write_x, self.x.host_write)
        connect(m, self.port.read_y, self.y.host_read)
        m.d.comb += self.x.running.eq(self.port.running)
        return m

    def contents(self, ctx) -> list:
        return [plain(ctx.get(m.data[row])) for m in (self.x, self.y) for row in range(self.words)]


def strobes_of_start(dut: Fixture, log: list):
    """A monitor that logs the cycles in which a run is started."""

    async def run(ctx):
        cycle = 0
        while True:
            _, _, start = await ctx.tick().sample(dut.port.start)
            if start:
                log.append(cycle)
            cycle += 1

    return run


@each_pace
def test_registers_show_constants_and_inputs(pace):
    dut = Fixture()
    manager = BusManager(dut.port.bus, pace=pace, seed="registers")
    rng = random.Random("registers")

    async def testbench(ctx):
        for _ in range(10):
            shown = {
                "coordinate": (dut.port.coordinate, rng.randrange(1 << 16)),
                "cycles": (dut.port.cycles, rng.randrange(1 << 32)),
                "beats_count": (dut.port.beats_count, rng.randrange(1 << 32)),
            }
            for signal, value in shown.values():
                ctx.set(signal, value)
            assert await manager.read(ctx, OFFSET["identity"]) == (0xCAFE_F00D, OKAY)
            for name, (_, value) in shown.items():
                assert await manager.read(ctx, OFFSET[name]) == (value, OKAY)

    simulate(dut, testbench)


@pytest.mark.parametrize("running", [0, 1])
@pytest.mark.parametrize("done", [0, 1])
@pytest.mark.parametrize("fault", [0, 1])
def test_status_is_the_state_of_the_chip_bit_by_bit(running, done, fault):
    dut = Fixture()
    manager = BusManager(dut.port.bus)

    async def testbench(ctx):
        ctx.set(dut.port.running, running)
        ctx.set(dut.port.done, done)
        ctx.set(dut.port.fault, fault)
        state = (RUNNING if running else IDLE) | DONE * done | FAULT * fault
        assert await manager.read(ctx, OFFSET["status"]) == (state, OKAY)

    simulate(dut, testbench)


@each_pace
def test_a_one_in_bit_0_of_control_starts_a_run_for_one_cycle(pace):
    dut, starts = Fixture(), []
    manager = BusManager(dut.port.bus, pace=pace, seed="start")

    async def testbench(ctx):
        for word, strobe, begins in (
            (1, ALL_BYTES, True),
            (0, ALL_BYTES, False),
            (0xFFFF_FFFE, ALL_BYTES, False),
            (0xFFFF_FFFF, 0b0001, True),
            (0xFFFF_FFFF, 0b1110, False),
            (0xFFFF_FFFF, 0b0000, False),
        ):
            before = len(starts)
            assert await manager.write(ctx, OFFSET["control"], word, strobe) == OKAY
            await ctx.tick()
            assert len(starts) - before == begins

    simulate(dut, testbench, monitors=[strobes_of_start(dut, starts)])


@pytest.mark.covers("values")
@each_pace
@each_shape
def test_an_operand_memory_reads_back_what_is_written_byte_by_byte(lane_count, bits, pace):
    dut = Fixture(lane_count, bits)
    window = dut.windows["x"]
    manager = BusManager(dut.port.bus, pace=pace, seed=f"bytes/{lane_count}")
    rng = random.Random(f"bytes/{lane_count}")
    image = bytearray(window.span_bytes)

    async def testbench(ctx):
        words = [4 * i for i in range(window.span_bytes // 4)]
        for offset in [*words, *rng.choices(words, k=30)]:
            data = rng.randbytes(4)
            strobe = ALL_BYTES if offset == 0 else rng.randrange(16)
            number = int.from_bytes(data, "little")
            assert await manager.write(ctx, window.offset + offset, number, strobe) == OKAY
            for byte in range(4):
                lane = offset % window.beat_bytes + byte
                if strobe >> byte & 1 and lane < lane_count:
                    image[offset + byte] = data[byte]
        for row in range(dut.words):
            beat = image[row * window.beat_bytes :][:lane_count]
            assert plain(ctx.get(dut.x.data[row])) == [(b ^ 0x80) - 0x80 for b in beat]
        for offset in words:
            word = int.from_bytes(image[offset : offset + 4], "little")
            assert await manager.read(ctx, window.offset + offset) == (word, OKAY)

    simulate(dut, testbench)


@each_shape
def test_a_result_memory_shows_each_lane_as_a_word_with_its_sign(lane_count, bits):
    dut = Fixture(lane_count, bits)
    window = dut.windows["y"]
    manager = BusManager(dut.port.bus)
    rng = random.Random(f"result/{lane_count}")
    high = 1 << bits - 1
    beats = [
        [
            rng.choice((-high, -1, 0, high - 1, rng.randrange(-high, high)))
            for _ in range(lane_count)
        ]
        for _ in range(dut.words)
    ]

    async def testbench(ctx):
        for row, beat in enumerate(beats):
            ctx.set(dut.y.data[row], beat)
        for row, beat in enumerate(beats):
            address = window.offset + row * window.beat_bytes
            for lane in range(window.beat_bytes // 4):
                data, response = await manager.read(ctx, address + 4 * lane)
                assert response == OKAY
                assert data == (beat[lane] & 0xFFFF_FFFF if lane < lane_count else 0)

    simulate(dut, testbench)


def refused_accesses(dut: Fixture, *, running: bool) -> tuple[list[int], list[int]]:
    """Addresses that must not be written, and that must not be read."""
    x, y = dut.windows["x"], dut.windows["y"]
    aligned = range(0, 1 << dut.port.registers.address_bits, 4)
    known = {register.offset for register in REGISTERS}
    in_x, in_y = (range(w.offset, w.offset + w.span_bytes, 4) for w in (x, y))
    unaligned = [address + byte for address in (0, 8, x.offset, y.offset) for byte in (1, 2, 3)]
    unmapped = [a for a in aligned if a not in known and a not in in_x and a not in in_y]
    read_only = [register.offset for register in REGISTERS if register.access is READ]
    writes = [*unaligned, *unmapped, *read_only, *in_y]
    reads = [*unaligned, *unmapped, OFFSET["control"]]
    if running:
        writes += [OFFSET["control"], *in_x]
        reads += [*in_x, *in_y]
    return writes, reads


@pytest.mark.covers("values")
@pytest.mark.parametrize("running", [False, True], ids=["idle", "running"])
@each_shape
def test_what_is_not_allowed_is_refused_and_changes_nothing(lane_count, bits, running):
    dut, starts = Fixture(lane_count, bits), []
    manager = BusManager(dut.port.bus, pace=PACES["late at all"], seed=f"refused/{running}")
    rng = random.Random(f"refused/{lane_count}/{running}")
    writes, reads = refused_accesses(dut, running=running)

    async def testbench(ctx):
        for memory in (dut.x, dut.y):
            for row in range(dut.words):
                ctx.set(memory.data[row], [rng.randrange(-99, 99) for _ in range(lane_count)])
        ctx.set(dut.port.running, running)
        before = dut.contents(ctx)
        for address in writes:
            assert await manager.write(ctx, address, rng.getrandbits(32) | 1) == SLVERR
        for address in reads:
            assert await manager.read(ctx, address) == (0, SLVERR)
        assert dut.contents(ctx) == before

    simulate(dut, testbench, monitors=[strobes_of_start(dut, starts)], cycles=200_000)
    assert starts == []


def test_registers_can_be_read_during_a_run():
    dut = Fixture()
    manager = BusManager(dut.port.bus)

    async def testbench(ctx):
        ctx.set(dut.port.running, 1)
        ctx.set(dut.port.cycles, 77)
        for register in REGISTERS:
            if register.access is READ:
                _, response = await manager.read(ctx, register.offset)
                assert response == OKAY
        assert await manager.read(ctx, OFFSET["cycles"]) == (77, OKAY)

    simulate(dut, testbench)


def test_a_read_that_meets_the_start_of_a_run_is_right_or_refused():
    dut = Fixture()
    window = dut.windows["x"]

    async def testbench(ctx):
        for row in range(dut.words):
            ctx.set(dut.x.data[row], [row + 1] * 4)
        for delay in range(8):
            ctx.set(dut.port.running, 0)
            await ctx.tick()
            bus = dut.port.bus
            ctx.set(bus.araddr, window.offset + 3 * window.beat_bytes)
            ctx.set(bus.arvalid, 1)
            ctx.set(bus.rready, 1)
            answer = None
            for cycle in range(10):
                ctx.set(dut.port.running, cycle >= delay)
                _, _, taken, valid, data, response = await ctx.tick().sample(
                    bus.arready, bus.rvalid, bus.rdata, bus.rresp
                )
                if taken:
                    ctx.set(bus.arvalid, 0)
                answer = (data, response) if valid else answer
            assert answer in [(0x04040404, OKAY), (0, SLVERR)]

    simulate(dut, testbench)


def test_a_read_is_answered_three_cycles_after_its_address_and_a_write_two():
    dut = Fixture()
    bus = dut.port.bus

    async def testbench(ctx):
        ctx.set(bus.arvalid, 1)
        assert ctx.get(bus.arready)
        for _ in range(3):
            await ctx.tick()
            ctx.set(bus.arvalid, 0)
            seen = ctx.get(bus.rvalid)
        assert seen
        ctx.set(bus.rready, 1)
        await ctx.tick()
        ctx.set(bus.awvalid, 1)
        ctx.set(bus.wvalid, 1)
        await ctx.tick()
        assert ctx.get(bus.awready)
        assert ctx.get(bus.wready)
        await ctx.tick()
        assert ctx.get(bus.bvalid)

    simulate(dut, testbench)


def test_address_and_data_of_a_write_are_taken_together_and_ahead_of_a_read():
    dut = Fixture()
    bus = dut.port.bus

    async def testbench(ctx):
        for valid, other in ((bus.awvalid, bus.wvalid), (bus.wvalid, bus.awvalid)):
            ctx.set(valid, 1)
            for _ in range(5):
                await ctx.tick()
                assert not ctx.get(bus.awready)
                assert not ctx.get(bus.wready)
            ctx.set(bus.arvalid, 1)
            ctx.set(other, 1)
            assert not ctx.get(bus.arready)
            await ctx.tick()
            assert (ctx.get(bus.awready), ctx.get(bus.wready), ctx.get(bus.arready)) == (1, 1, 0)
            await ctx.tick()
            for signal in (bus.awvalid, bus.wvalid, bus.arvalid):
                ctx.set(signal, 0)
            ctx.set(bus.bready, 1)
            await ctx.tick()
            ctx.set(bus.bready, 0)

    simulate(dut, testbench)


def test_a_chip_without_a_tensor_has_registers_alone():
    """As one that only passes pages on. Its addresses end behind the last register."""
    registers = RegisterMap(REGISTERS, ())
    dut = HostPort(registers, {})
    manager = BusManager(dut.bus)

    async def testbench(ctx):
        ctx.set(dut.coordinate, 5)
        assert await manager.read(ctx, OFFSET["identity"]) == (0xCAFE_F00D, OKAY)
        assert await manager.read(ctx, OFFSET["coordinate"]) == (5, OKAY)
        assert await manager.write(ctx, OFFSET["control"], 0) == OKAY
        for address in range(4 * len(REGISTERS), 1 << registers.address_bits, 4):
            assert await manager.read(ctx, address) == (0, SLVERR)
            assert await manager.write(ctx, address, 0) == SLVERR

    simulate(dut, testbench)
    assert registers.address_bits == 5
    assert "read_" not in to_verilog(HostPort(registers, {}), "port")
