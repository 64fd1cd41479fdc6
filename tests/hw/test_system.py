# amaranth: UnusedElaboratable=no
import random

import pytest
from amaranth.hdl import Fragment

from compiler.ir.mesh import Mesh
from compiler.shard_plan import ShardPlan
from hw.system import System
from tests.hw.simulation import idle, simulate
from tests.hw.system_bench import SETTLING_CYCLES, SystemBench, row_beats, taken_out
from tests.programs import program_for, random_operands

TARGETS = ("token-mesh", "semaphore-mesh")
MESH = Mesh(row=2, col=2)
PROGRAMS = {
    "tree over 4": {"m": 8, "n": 8, "k": 32, "chips": 4},
    "star over 3": {"m": 8, "n": 4, "k": 24, "chips": 3, "reduce": "star", "tile": 2},
    "narrow links": {"m": 4, "n": 8, "k": 16, "chips": 2, "link_width_bits": 24},
    "one result page": {"m": 4, "n": 4, "k": 32, "chips": 4, "link_latency_cycles": 3},
}


def each_program_on_each_target(test):
    test = pytest.mark.parametrize("target", TARGETS)(test)
    return pytest.mark.parametrize("shape", PROGRAMS.values(), ids=PROGRAMS)(test)


@pytest.mark.covers("values")
@each_program_on_each_target
def test_runs_again_without_reset_in_the_same_number_of_cycles(shape, target):
    bench = SystemBench(program_for(**shape, target=target))
    runs = []

    async def testbench(ctx):
        await idle(ctx, SETTLING_CYCLES)
        for seed in range(3):
            runs.append(await bench.multiply(ctx, *random_operands(bench.program, seed)))

    simulate(bench.dut, testbench)
    assert [exact for exact, _ in runs] == [True] * 3
    assert {cycles for _, cycles in runs} == {bench.program.schedule.cycles}


PLANS = {
    "sums on every chip": ((8, 8, 32), ShardPlan(4, "tree", result="all")),
    "from a star": ((4, 8, 20), ShardPlan(4, "star", result="all", uneven=True)),
    "a mesh": ((16, 8, 16), ShardPlan(MESH, "tree", shard=(("m", "row"), ("k", "col")))),
    "no links": ((14, 12, 8), ShardPlan(MESH, shard=(("m", "row"), ("n", "col")), uneven=True)),
    "whole rows": ((12, 8, 20), ShardPlan(MESH, shard=(("k", "col"),), result="all", uneven=True)),
}


@pytest.mark.covers("values")
@pytest.mark.parametrize("target", [*TARGETS, "barrier-mesh"])
@pytest.mark.parametrize("name", PLANS)
def test_every_output_is_right_in_every_run_and_takes_the_predicted_cycles(name, target):
    shape, plan = PLANS[name]
    bench = SystemBench(program_for(*shape, plan=plan, target=target))
    runs = []

    async def testbench(ctx):
        for seed in range(3):
            await idle(ctx, SETTLING_CYCLES)
            runs.append(await bench.multiply(ctx, *random_operands(bench.program, seed)))

    simulate(bench.dut, testbench)
    assert runs == [(True, bench.program.schedule.cycles)] * 3


@pytest.mark.covers("values")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("pause_cycles", [0, 5, 25])
def test_restart_loses_no_more_than_what_page_slots_still_take_to_come_back(target, pause_cycles):
    # The one slot of the landing buffer is on its way back for longer than the product takes.
    latency_cycles = 20
    bench = SystemBench(
        program_for(2, 2, 4, chips=2, tile=2, target=target, link_latency_cycles=latency_cycles)
    )
    runs = []

    async def testbench(ctx):
        await idle(ctx, SETTLING_CYCLES)
        for seed in range(3):
            runs.append(await bench.multiply(ctx, *random_operands(bench.program, seed)))
            await idle(ctx, pause_cycles)

    simulate(bench.dut, testbench)
    assert [exact for exact, _ in runs] == [True] * 3
    (_, first), *later = runs
    for _, cycles in later:
        assert first <= cycles <= first + max(0, latency_cycles - pause_cycles)


@pytest.mark.covers("values")
@each_program_on_each_target
def test_reset_in_mid_run_leaves_no_page_and_no_credit_behind(shape, target):
    bench = SystemBench(program_for(**shape, target=target))
    cycles = bench.program.schedule.cycles
    runs = []

    async def testbench(ctx):
        await idle(ctx, SETTLING_CYCLES)
        for tenth in (1, 4, 6, 8, 9):
            await bench.begin(ctx, *random_operands(bench.program, tenth))
            await idle(ctx, cycles * tenth // 10)
            assert not ctx.get(bench.system.done)
            await bench.reset_for_one_cycle(ctx)
            assert not ctx.get(bench.system.done)
            runs.append(await bench.multiply(ctx, *random_operands(bench.program, 0)))

    simulate(bench.dut, testbench)
    assert runs == [(True, cycles)] * 5


def test_done_holds_from_the_last_beat_until_the_next_start():
    bench = SystemBench(program_for(**PROGRAMS["tree over 4"]))
    done = bench.system.done

    async def testbench(ctx):
        for _ in range(10):
            assert not ctx.get(done), "done before the first start"
            await ctx.tick()
        await bench.multiply(ctx, *random_operands(bench.program, 0))
        for _ in range(50):
            assert ctx.get(done)
            await ctx.tick()
        await bench.begin(ctx, *random_operands(bench.program, 1))
        assert not ctx.get(done)

    simulate(bench.dut, testbench)


@pytest.mark.covers("values")
@pytest.mark.parametrize("target", ["token-mesh", "semaphore-mesh", "barrier-mesh"])
@pytest.mark.parametrize("reduce", ["star", "tree"])
@pytest.mark.parametrize("density", [0.1, 1.0])
def test_starts_in_mid_run_are_ignored(target, reduce, density):
    """The chips that send are done before the home is, and must not begin a run of their own."""
    rng = random.Random(f"{target}/{reduce}/{density}")
    program = program_for(4, 6, 18, chips=3, target=target, reduce=reduce, tile=2)
    bench = SystemBench(program)
    start, done = bench.system.start, bench.system.done

    async def testbench(ctx):
        await idle(ctx, SETTLING_CYCLES)
        for seed in range(3):
            a, b = random_operands(program, seed)
            await bench.begin(ctx, a, b)
            cycles = ignored = 0
            while not ctx.get(done):
                pulse = rng.random() < density
                ctx.set(start, pulse)
                ignored += pulse
                await ctx.tick()
                cycles += 1
            ctx.set(start, 0)
            assert ignored > 1
            assert cycles == program.schedule.cycles
            product = taken_out(ctx, bench.system.chips[0], "c")
            assert product == row_beats(a @ b, program.tile)

    simulate(bench.dut, testbench)


@pytest.mark.covers("values")
@each_program_on_each_target
def test_counters_tell_the_work_that_the_program_has(shape, target):
    bench = SystemBench(program_for(**shape, target=target))
    program, m, n, k = bench.program, shape["m"], shape["n"], shape["k"]

    async def testbench(ctx):
        await idle(ctx, SETTLING_CYCLES)
        for seed in range(2):
            _, cycles = await bench.multiply(ctx, *random_operands(program, seed))
            for chip in bench.system.chips:
                active = ctx.get(chip.activity.count("matmul_active"))
                assert active == m * n * k // program.chip_count // program.tile**2
                for edge in chip.outgoing:
                    link = program.link_by_name[edge.link]
                    port = f"{edge.buffer.split('.')[1]}_link"
                    beats = m * n // program.tile
                    flits = -(-32 * program.tile // link.width_bits)
                    assert ctx.get(chip.activity.count(f"{port}_beats")) == beats
                    assert ctx.get(chip.activity.count(f"{port}_busy")) == beats * flits
            assert ctx.get(bench.system.chips[0].activity.cycles) == cycles

    simulate(bench.dut, testbench)


def test_chips_and_channels_are_submodules_by_name():
    system = System(program_for(8, 8, 32, chips=4))
    names = [name for _, name, _ in Fragment.get(system, None).subfragments]
    assert sorted(names) == [
        *("c0", "c1", "c1_to_c0", "c2", "c2_to_c0", "c3", "c3_to_c2"),
        "start_guard",
    ]


def test_one_chip_has_no_channel():
    system = System(program_for(8, 8, 32, chips=1))
    names = [name for _, name, _ in Fragment.get(system, None).subfragments]
    assert sorted(names) == ["c0", "start_guard"]
