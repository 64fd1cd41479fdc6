# amaranth: UnusedElaboratable=no
"""Whole chips and systems, driven over their AXI4-Lite buses and nothing else."""

import random

import numpy as np
import pytest

from compiler.workload import MatmulSpec
from hw.chip import Chip
from hw.register_map import Access
from hw.system import System
from tests.hw.bus_bench import OKAY, PACES, SLVERR, BusManager, write_at_once
from tests.hw.simulation import idle, plain, simulate
from tests.hw.system_bench import SETTLING_CYCLES, column_beats, row_beats
from tests.programs import finished, program_for, random_operands

IDLE, RUNNING, DONE, FAULT = 1, 2, 4, 8
SMALL = program_for(4, 4, 8, chips=1, tile=2)
PAIR = program_for(4, 4, 8, chips=2, tile=2)
SHAPES = {
    "tiles of 1": program_for(2, 3, 2, chips=1, tile=1),
    "tiles of 2": SMALL,
    "tiles of 3": program_for(3, 6, 6, chips=1, tile=3),
    "tiles of 8": program_for(8, 8, 16, chips=1, tile=8),
    "sums of 20 bits": finished(MatmulSpec(4, 4, 8, sum_bits=20), chips=1, tile=2),
}
each_pace = pytest.mark.parametrize("pace", PACES.values(), ids=PACES)


class HostBench(BusManager):
    """A chip's bus, its registers by name, and its windows in beats."""

    def __init__(self, chip: Chip, **options):
        super().__init__(chip.host, **options)
        self.map = chip.register_map

    async def register(self, ctx, name: str) -> int:
        value, response = await self.read(ctx, self.map.register(name).offset)
        assert response == OKAY
        return value

    async def registers(self, ctx) -> dict[str, int]:
        return {
            register.name: await self.register(ctx, register.name)
            for register in self.map.registers
            if register.access is Access.READ
        }

    async def start(self, ctx) -> int:
        return await self.write(ctx, self.map.register("control").offset, 1)

    async def put_in(self, ctx, tensor: str, beats: list[list[int]]) -> None:
        window = self.map.window(tensor)
        data = b"".join(
            np.array(beat, f"<i{window.element_bits // 8}")
            .tobytes()
            .ljust(window.beat_bytes, b"\0")
            for beat in beats
        )
        assert len(data) == window.span_bytes
        await self.write_bytes(ctx, window.offset, data)

    async def taken_out(self, ctx, tensor: str) -> list[list[int]]:
        window = self.map.window(tensor)
        data = await self.read_bytes(ctx, window.offset, window.span_bytes)
        lane_type = f"<i{window.element_bits // 8}"
        beats = np.frombuffer(data, lane_type).reshape(window.beats, -1)
        return beats[:, : window.lanes].tolist()

    async def finish(self, ctx) -> None:
        while not await self.register(ctx, "status") & DONE:
            pass


def contents(ctx, chip: Chip) -> dict[str, list]:
    """Every word of every memory of a chip."""
    return {
        name: [plain(ctx.get(memory.data[row])) for row in range(memory.depth)]
        for name, memory in chip.memories.items()
    }


@each_pace
def test_registers_say_what_the_chip_is_and_where(pace):
    program = PAIR
    chip = Chip(program, 1, host=True)
    host = HostBench(chip, pace=pace)
    expected = {
        "identity": 0x53485244,
        "version": 1,
        "chips": 2,
        "tile": 2,
        "m": 4,
        "n": 4,
        "k": 8,
        "k_slice": 4,
        "coordinate": 1234,
        "status": IDLE,
        "cycles": 0,
    }

    async def testbench(ctx):
        ctx.set(chip.coordinate, 1234)
        registers = await host.registers(ctx)
        assert {name: registers[name] for name in expected} == expected
        assert all(registers[name] == 0 for name in registers.keys() - expected.keys())

    simulate(chip, testbench)


@each_pace
def test_status_goes_from_idle_over_running_to_done_and_over_running_again(pace):
    chip = Chip(SMALL, 0, host=True)
    host = HostBench(chip, pace=pace)
    a, b = random_operands(SMALL, 0)

    async def testbench(ctx):
        assert await host.register(ctx, "status") == IDLE
        await host.put_in(ctx, "a", column_beats(a, 2))
        await host.put_in(ctx, "b", row_beats(b, 2))
        for state in (IDLE, IDLE | DONE):
            assert await host.register(ctx, "status") == state
            assert await host.start(ctx) == OKAY
            states = [await host.register(ctx, "status")]
            while not states[-1] & IDLE:
                states.append(await host.register(ctx, "status"))
            assert {*states[:-1]} <= {RUNNING, RUNNING | DONE}
            assert states[0] == RUNNING
            assert states[-1] == IDLE | DONE
            assert await host.register(ctx, "cycles") == SMALL.schedule.cycles
            assert await host.taken_out(ctx, "c") == row_beats(a @ b, 2)

    simulate(chip, testbench)


def test_counters_are_those_of_the_run():
    program = program_for(8, 12, 16, chips=1)
    chip = Chip(program, 0, host=True)
    host = HostBench(chip)
    a, b = random_operands(program, 1)
    counted = [r.name for r in chip.register_map.registers if r.name.endswith(("_count", "_last"))]

    async def testbench(ctx):
        await host.put_in(ctx, "a", column_beats(a, 4))
        await host.put_in(ctx, "b", row_beats(b, 4))
        for _ in range(2):
            assert await host.start(ctx) == OKAY
            await host.finish(ctx)
            registers = await host.registers(ctx)
            assert registers["matmul_active_count"] == 8 * 12 * 16 // 4**2
            assert registers["matmul_active_last"] < registers["cycles"]
            assert registers["cycles"] == program.schedule.cycles
            for name in counted:
                assert registers[name] == ctx.get(getattr(chip.activity, name))

    simulate(chip, testbench)
    assert {"load_a_stalled_count", "load_b_stalled_count", "matmul_stalled_count"} <= {*counted}


@pytest.mark.parametrize("program", SHAPES.values(), ids=SHAPES)
def test_operands_read_back_and_the_product_reads_as_signed_words(program):
    chip = Chip(program, 0, host=True)
    host = HostBench(chip, pace=PACES["late at all"], seed=program.name)
    a, b = random_operands(program, 2)
    if program is SHAPES["sums of 20 bits"]:
        a, b = np.full_like(a, -128), np.full_like(b, 127)
    images = {
        "a": column_beats(a, program.tile),
        "b": row_beats(b, program.tile),
        "c": row_beats(a @ b, program.tile),
    }
    (result,) = (name for name in chip.memories if name.split(".")[-1] == "c")

    async def testbench(ctx):
        for tensor in ("a", "b"):
            await host.put_in(ctx, tensor, images[tensor])
        for tensor in ("a", "b"):
            assert await host.taken_out(ctx, tensor) == images[tensor]
        assert await host.start(ctx) == OKAY
        await host.finish(ctx)
        for tensor, image in images.items():
            assert await host.taken_out(ctx, tensor) == image
        assert contents(ctx, chip)[result] == images["c"]

    simulate(chip, testbench, cycles=60_000)


def test_a_write_of_some_bytes_leaves_the_others():
    chip = Chip(SMALL, 0, host=True)
    host = HostBench(chip)
    window = chip.register_map.window("a")
    rng = random.Random("bytes")
    image = bytearray(window.span_bytes)

    async def testbench(ctx):
        for _ in range(60):
            offset, strobe, data = (
                4 * rng.randrange(window.beats),
                rng.randrange(16),
                rng.randbytes(4),
            )
            word = int.from_bytes(data, "little")
            assert await host.write(ctx, window.offset + offset, word, strobe) == OKAY
            for byte in range(window.lanes):  # bytes that are no lanes are not kept
                if strobe >> byte & 1:
                    image[offset + byte] = data[byte]
        assert await host.read_bytes(ctx, window.offset, window.span_bytes) == image

    simulate(chip, testbench)


def refused(chip: Chip, *, running: bool) -> tuple[list[int], list[int]]:
    """Addresses that must not be written, and that must not be read."""
    windows = {window.tensor: window for window in chip.register_map.windows}
    words = {t: range(w.offset, w.offset + w.span_bytes, 4) for t, w in windows.items()}
    readable = [r.offset for r in chip.register_map.registers if r.access is Access.READ]
    control = chip.register_map.register("control").offset
    mapped = {*readable, control, *(word for span in words.values() for word in span)}
    unmapped = [a for a in range(0, 1 << chip.register_map.address_bits, 4) if a not in mapped]
    unaligned = [
        address + byte
        for address in (0, control, windows["a"].offset, windows["c"].offset)
        for byte in (1, 2, 3)
    ]
    writes = [*unaligned, *unmapped, *readable, *words["c"]]
    reads = [*unaligned, *unmapped, control]
    if running:
        writes += [control, *words["a"], *words["b"]]
        reads += [word for span in words.values() for word in span]
    return writes, reads


def test_what_is_not_allowed_is_refused_and_changes_nothing():
    chip = Chip(SMALL, 0, host=True)
    host = HostBench(chip, pace=PACES["late at all"])
    a, b = random_operands(SMALL, 3)
    writes, reads = refused(chip, running=False)

    async def testbench(ctx):
        await host.put_in(ctx, "a", column_beats(a, 2))
        await host.put_in(ctx, "b", row_beats(b, 2))
        await host.start(ctx)
        await host.finish(ctx)
        await ctx.tick()
        before = contents(ctx, chip), await host.registers(ctx)
        for address in writes:
            assert await host.write(ctx, address, 0xFFFF_FFFF) == SLVERR
        for address in reads:
            assert await host.read(ctx, address) == (0, SLVERR)
        assert (contents(ctx, chip), await host.registers(ctx)) == before

    simulate(chip, testbench, cycles=60_000)


def test_what_is_not_allowed_during_a_run_is_refused_and_leaves_the_run_as_it_is():
    # The chip waits for credits that do not come, so that its run lasts as long as it is needed.
    chip = Chip(PAIR, 1, host=True)
    host = HostBench(chip, pace=PACES["late at all"])
    a, b = random_operands(PAIR, 4)
    a, b = a[:, 4:], b[4:]
    windows = chip.register_map.windows
    control = chip.register_map.register("control").offset

    async def testbench(ctx):
        await host.put_in(ctx, "a", column_beats(a, 2))
        await host.put_in(ctx, "b", row_beats(b, 2))
        assert await host.start(ctx) == OKAY
        await idle(ctx, 100)
        before = contents(ctx, chip)
        seen = await host.registers(ctx)
        assert seen["status"] == RUNNING
        for window in windows:
            for address in range(window.offset, window.offset + window.span_bytes, 4):
                assert await host.write(ctx, address, 0x5555_5555) == SLVERR
                assert await host.read(ctx, address) == (0, SLVERR)
        for word in (0, 1):
            assert await host.write(ctx, control, word) == SLVERR
        assert contents(ctx, chip) == before
        later = await host.registers(ctx)
        assert later["cycles"] > seen["cycles"]
        assert later["status"] == RUNNING
        changing = ("cycles", "stalled_count")
        assert all(later[name] == seen[name] for name in seen if not name.endswith(changing))

    simulate(chip, testbench)


@pytest.mark.covers("values")
@each_pace
@pytest.mark.parametrize("target", ["token-mesh", "semaphore-mesh"])
@pytest.mark.parametrize("tile", [1, 2])
def test_a_product_of_two_chips_is_exact_and_on_time_over_the_buses_alone(tile, target, pace):
    program = program_for(2 * tile, 4 * tile, 4 * tile, chips=2, tile=tile, target=target)
    system = System(program, host=True)
    hosts = [HostBench(c, pace=pace, seed=c.chip) for c in system.chips]
    control = hosts[0].map.register("control").offset

    async def testbench(ctx):
        await idle(ctx, SETTLING_CYCLES)
        for seed in range(2):
            a, b = random_operands(program, seed)
            halves = zip(hosts, np.split(a, 2, axis=1), np.split(b, 2), strict=True)
            for host, left, right in halves:
                await host.put_in(ctx, "a", column_beats(left, tile))
                await host.put_in(ctx, "b", row_beats(right, tile))
            await write_at_once(ctx, hosts, control, 1)
            for host in hosts:
                await host.finish(ctx)
            await ctx.tick()
            assert [await host.register(ctx, "status") for host in hosts] == [IDLE | DONE] * 2
            assert [await host.register(ctx, "coordinate") for host in hosts] == [0, 1]
            assert await hosts[0].register(ctx, "cycles") == program.schedule.cycles
            assert await hosts[0].taken_out(ctx, "c") == row_beats(a @ b, tile)
            await idle(ctx, SETTLING_CYCLES)

    simulate(system, testbench)


def test_a_chip_that_starts_late_loses_nothing():
    system = System(PAIR, host=True)
    hosts = [HostBench(chip) for chip in system.chips]
    a, b = random_operands(PAIR, 5)

    async def testbench(ctx):
        for host, left, right in zip(hosts, np.split(a, 2, axis=1), np.split(b, 2), strict=True):
            await host.put_in(ctx, "a", column_beats(left, 2))
            await host.put_in(ctx, "b", row_beats(right, 2))
        assert await hosts[1].start(ctx) == OKAY
        await idle(ctx, 200)
        assert await hosts[0].start(ctx) == OKAY
        for host in hosts:
            await host.finish(ctx)
        await ctx.tick()
        assert await hosts[0].taken_out(ctx, "c") == row_beats(a @ b, 2)
        assert await hosts[1].register(ctx, "status") == IDLE | DONE

    simulate(system, testbench)


@pytest.fixture
def without_asserts(monkeypatch):
    """Hardware as it is synthesized: what would stop a simulation goes on."""
    for module in ("chip", "link", "page_fifo", "recv_unit", "tile_unit"):
        monkeypatch.setattr(f"hw.{module}.Assert", lambda *_: [])


@pytest.mark.usefixtures("without_asserts")
@pytest.mark.parametrize("target", ["token-mesh", "semaphore-mesh"])
def test_a_beat_without_room_is_a_fault_that_stays(target):
    program = program_for(4, 4, 8, chips=2, tile=2, target=target)
    chip = Chip(program, 0, host=True)
    host = HostBench(chip)
    fifo = chip.fifos["c0.landing_0"]
    flits = -(-fifo.beat.size // chip.recv_0_link.signature.width_bits)

    async def testbench(ctx):
        ctx.set(chip.recv_0_link.flit.valid, 1)
        for _ in range(flits * fifo.depth_beats):
            await ctx.tick()
        ctx.set(chip.recv_0_link.flit.valid, 0)
        assert await host.register(ctx, "status") == IDLE
        ctx.set(chip.recv_0_link.flit.valid, 1)
        for _ in range(flits):
            await ctx.tick()
        ctx.set(chip.recv_0_link.flit.valid, 0)
        for _ in range(3):
            assert await host.register(ctx, "status") == IDLE | FAULT
            await idle(ctx, 50)
        assert await host.start(ctx) == OKAY
        assert await host.register(ctx, "status") & FAULT

    simulate(chip, testbench)


@pytest.mark.usefixtures("without_asserts")
def test_a_result_without_room_is_a_fault():
    chip = Chip(program_for(16, 16, 16, chips=2), 1, host=True)
    chip.units["c1.matmul"].result_pages += 8  # more than its buffer has
    host = HostBench(chip)

    async def testbench(ctx):
        assert await host.start(ctx) == OKAY
        await idle(ctx, 500)  # no credit comes back
        assert await host.register(ctx, "status") == RUNNING | FAULT

    simulate(chip, testbench)


def test_a_beat_without_room_stops_a_simulation():
    chip = Chip(PAIR, 0, host=True)

    async def testbench(ctx):
        ctx.set(chip.recv_0_link.flit.valid, 1)
        await idle(ctx, 500)

    with pytest.raises(AssertionError, match="a beat arrived without room in the landing buffer"):
        simulate(chip, testbench)
