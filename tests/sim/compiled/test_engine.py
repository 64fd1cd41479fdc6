"""The compiled engine against Amaranth's simulator: all that a run gives is the same."""

import numpy as np
import pytest

from compiler.ir.body import Literal, Max, Operand
from compiler.ir.buffer import Depth
from compiler.ir.mesh import Mesh
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from sim.amaranth_engine import AmaranthEngine
from sim.compiled.engine import CompiledEngine
from sim.errors import SimulationHangError
from sim.simulate import simulate
from tests.compiler.programs import changed
from tests.hw.hand_built import relay, shared_link
from tests.hw.simulation import idle
from tests.hw.simulation import simulate as run_on_amaranth
from tests.hw.system_bench import SETTLING_CYCLES, SystemBench
from tests.programs import finished, program_for, random_operands
from tests.sim.compiled.images import images, results
from tests.sim.compiled.needs import BUILDS_MODELS
from tests.tiers import chosen

pytestmark = BUILDS_MODELS

TARGETS = ("token-mesh", "semaphore-mesh", "barrier-mesh")

# m, n, k; target, tile, link width, link latency; chips, reduction.
CONFIGURATIONS = [
    ((1, 1, 1), ("token-mesh", 1, 8, 1), (1, "tree")),
    ((13, 11, 29), ("token-mesh", 8, 256, 8), (1, "tree")),
    # Crossings by credits: narrow, wide and odd links, short and long ones.
    ((6, 6, 16), ("token-mesh", 2, 7, 13), (2, "tree")),
    ((4, 12, 15), ("token-mesh", 5, 33, 2), (3, "star")),
    ((8, 8, 32), ("token-mesh", 4, 128, 1), (4, "tree")),
    ((5, 4, 12), ("token-mesh", 2, 1000, 20), (6, "star")),
    # Page by page.
    ((4, 4, 16), ("semaphore-mesh", 2, 24, 8), (4, "tree")),
    ((5, 4, 12), ("semaphore-mesh", 2, 64, 1), (3, "star")),
    ((4, 6, 10), ("semaphore-mesh", 1, 32, 20), (5, "tree")),
    # A whole group at a time.
    ((4, 4, 16), ("barrier-mesh", 2, 128, 8), (4, "tree")),
    ((5, 4, 12), ("barrier-mesh", 2, 64, 1), (3, "star")),
]

IN_EVERY_RUN = [CONFIGURATIONS[0], CONFIGURATIONS[2], CONFIGURATIONS[10]]
"""None, credits, and whole groups. Each takes seconds to compile."""


def already_built():
    """A program whose chips the second configuration of every run has compiled."""
    return program_for(6, 6, 16, chips=2, tile=2, link_width_bits=7, link_latency_cycles=13)


def named(configuration) -> str:
    (m, n, k), (target, tile, width, latency), (chips, reduce) = configuration
    machine = f"{target}-tile{tile}-{width}bit-{latency}cycles"
    return f"{m}x{n}x{k}-{machine}-{reduce}{chips}"


@pytest.mark.parametrize("configuration", chosen(CONFIGURATIONS, IN_EVERY_RUN, ids=named))
def test_a_run_gives_what_amaranths_simulator_gives(configuration, models):
    shape, (target, tile, width, latency), (chips, reduce) = configuration
    program = program_for(
        *shape,
        target=target,
        tile=tile,
        link_width_bits=width,
        link_latency_cycles=latency,
        chips=chips,
        reduce=reduce,
    )
    contents = images(program, *random_operands(program, 1))
    expected = AmaranthEngine(program).run(contents, max_cycles=10_000)
    assert expected.cycles == program.schedule.cycles
    for threads in (1, 2, 3):
        engine = CompiledEngine(program, cache=models, threads=threads)
        assert engine.run(contents, max_cycles=10_000) == expected


ROWS = (("m", "row"), ("k", "col"))
PLANS = {
    "sums on every chip": ((4, 4, 16), ShardPlan(4, "tree", result="all")),
    "a mesh": ((8, 4, 8), ShardPlan(Mesh(row=2, col=2), "star", shard=ROWS)),
    "no links, uneven": ((10, 4, 2), ShardPlan(3, shard=(("m", "tp"),), uneven=True)),
    "everything": (
        (6, 4, 10),
        ShardPlan(Mesh(row=2, col=3), shard=ROWS, result="all", uneven=True),
    ),
}


@pytest.mark.parametrize("target", ["token-mesh", "barrier-mesh"])
@pytest.mark.parametrize("name", chosen(PLANS, ["no links, uneven"]))
def test_every_output_of_a_plan_is_what_amaranths_simulator_gives(name, target, models):
    shape, plan = PLANS[name]
    program = finished(MatmulSpec(*shape), target=target, tile=2, plan=plan)
    operands = random_operands(program, 4)
    contents = images(program, *operands)
    expected = AmaranthEngine(program).run(contents, max_cycles=1000)
    assert expected.memories == results(program, *operands)
    assert expected.cycles == program.schedule.cycles
    assert CompiledEngine(program, cache=models).run(contents, max_cycles=1000) == expected


BY_HAND = {"a relay": relay, "a shared link": shared_link}


@pytest.mark.parametrize("handoff", chosen(["Token", "Semaphore", "Barrier"], ["Semaphore"]))
@pytest.mark.parametrize("name", chosen(BY_HAND, ["a shared link"]))
def test_forwards_merges_and_splits_are_the_same(name, handoff, models):
    program = BY_HAND[name](handoff=handoff)
    operands = random_operands(program, 4)
    run = CompiledEngine(program, cache=models).run(images(program, *operands), max_cycles=1000)
    assert run.memories == results(program, *operands)
    bench, took = SystemBench(program), []

    async def testbench(ctx):
        await idle(ctx, SETTLING_CYCLES)
        took.append(await bench.multiply(ctx, *operands))

    run_on_amaranth(bench.dut, testbench)
    assert took == [(True, run.cycles)]


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_a_run_that_waits_for_every_single_page_is_the_same(target, models):
    program = program_for(8, 8, 8, target=target, tile=2, chips=4, link_latency_cycles=3)
    landings = [buffer.name for buffer in program.buffers if ".landing" in buffer.name]
    for name in landings:
        program = changed(program, name, depth=Depth(1))
    contents = images(program, *random_operands(program, 7))
    expected = AmaranthEngine(program).run(contents, max_cycles=10_000)
    assert len(landings) == 3
    assert expected.cycles > program.schedule.cycles + 100
    assert CompiledEngine(program, cache=models).run(contents, max_cycles=10_000) == expected


def test_sums_of_any_width_are_mapped(models):
    body = Max(Operand(0), Literal(-7))
    spec = MatmulSpec(5, 6, 12, sum_bits=19, map=body)
    program = finished(spec, chips=2, tile=3, compute_engines=3)
    contents = images(program, *random_operands(program, 2))
    expected = AmaranthEngine(program).run(contents, max_cycles=10_000)
    assert CompiledEngine(program, cache=models).run(contents, max_cycles=10_000) == expected


def test_an_engine_runs_again_with_other_operands(models):
    program = already_built()
    engine = CompiledEngine(program, cache=models)
    amaranth = AmaranthEngine(program)
    for seed in (3, 4, 3):
        contents = images(program, *random_operands(program, seed))
        expected = amaranth.run(contents, max_cycles=1000)
        assert engine.run(contents, max_cycles=1000) == expected


@pytest.mark.parametrize("target", chosen(TARGETS, ["token-mesh"]))
def test_a_start_that_is_held_begins_one_run(target, models, monkeypatch):
    program = program_for(
        5,
        4,
        12,
        target=target,
        tile=2,
        link_width_bits=64,
        link_latency_cycles=1,
        chips=3,
        reduce="star",
    )
    contents = images(program, *random_operands(program, 8))
    engine = CompiledEngine(program, cache=models)
    expected = engine.run(contents, max_cycles=1000)
    run, starts = engine._driver.run, []

    def run_with_start_held(system, cycles, *, start=False, threads=1):
        starts.append(start)
        run(system, cycles, start=any(starts), threads=threads)

    monkeypatch.setattr(engine._driver, "run", run_with_start_held)
    assert engine.run(contents, max_cycles=1000) == expected
    assert expected.cycles == program.schedule.cycles
    assert len(starts) > 10


def test_tensors_without_contents_are_zero(models):
    program = already_built()
    engine = CompiledEngine(program, cache=models)
    engine.run(images(program, *random_operands(program, 5)), max_cycles=1000)
    assert engine.run({}, max_cycles=1000).memories == {"c": [0] * 18}


def test_a_run_of_too_few_cycles_is_a_hang(models):
    program = already_built()
    cycles = program.schedule.cycles
    engine = CompiledEngine(program, cache=models)
    assert engine.run({}, max_cycles=cycles).cycles == cycles
    with pytest.raises(SimulationHangError) as error:
        engine.run({}, max_cycles=cycles - 1)
    assert str(error.value) == (
        f"the run did not end within {cycles - 1} cycles; "
        f"waiting: the stages that the amaranth engine names"
    )
    assert engine.run({}, max_cycles=cycles).cycles == cycles


def test_progress_is_called_as_by_amaranths_engine(models):
    program = already_built()
    calls: dict[type, list[int]] = {AmaranthEngine: [], CompiledEngine: []}
    AmaranthEngine(program).run({}, max_cycles=1000, progress=calls[AmaranthEngine].append)
    engine = CompiledEngine(program, cache=models)
    engine.run({}, max_cycles=1000, progress=calls[CompiledEngine].append)
    assert calls[CompiledEngine] == calls[AmaranthEngine]


def test_simulate_takes_the_engine_by_its_name(models, monkeypatch):
    monkeypatch.setattr("sim.compiled.cache.cache_folder", lambda: models)
    program = already_built()
    a, b = random_operands(program, 6)
    results = [simulate(program, a, b, engine=engine) for engine in ("amaranth", "compiled")]
    for result in results:
        assert np.array_equal(result.c, a @ b)
    assert results[0].cycles == results[1].cycles
    assert results[0].chips == results[1].chips
    assert results[0].links == results[1].links
