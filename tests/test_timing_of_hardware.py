"""The hardware takes the cycles that the token run says, for any depths and any links.

Most of these programs are refused, since their depths cost cycles. They are run all the same: what
a program is refused for must be what would happen.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest
from _pytest.mark import ParameterSet

from compiler.check.run import run_of
from compiler.ir.buffer import Depth
from compiler.ir.program import Program
from compiler.passes.schedule import schedule
from compiler.pipeline import compile
from compiler.shard_plan import ShardPlan
from compiler.targets import get
from compiler.workload import MatmulSpec
from sim.amaranth_engine import AmaranthEngine
from tests.compiler.programs import changed
from tests.compiler.random_programs import (
    random_mesh_program,
    random_program,
    random_ring,
    shared_links,
    with_depth,
    with_depths,
    with_links,
)

MOST_CYCLES = 2000
IN_EVERY_RUN = 3


def cycles_of(program: Program) -> int:
    """Cycles on Amaranth's simulator, with zeros for operands."""
    cycles = program.schedule.cycles
    return AmaranthEngine(program).run({}, max_cycles=2 * cycles + 1000).cycles


def small_programs(count: int, draw: Callable[[int], Program]) -> list[tuple[int, Program]]:
    """The first random programs that are quick to simulate."""
    found: list[tuple[int, Program]] = []
    for seed in range(1000):
        program = draw(seed)
        if program.chip_count <= 4 and program.schedule.cycles <= MOST_CYCLES:
            found.append((seed, program))
        if len(found) == count:
            break
    return found


def tiered(cases: list[tuple[int, Program]]) -> list[ParameterSet]:
    """The first few in every run, the others in the slow tier."""
    return [
        pytest.param(*case, marks=() if place < IN_EVERY_RUN else pytest.mark.slow)
        for place, case in enumerate(cases)
    ]


@pytest.mark.parametrize(
    ("seed", "program"),
    [
        *tiered(small_programs(16, random_program)),
        *tiered(small_programs(12, random_mesh_program)),
        *tiered(small_programs(12, random_ring)),
        *tiered(small_programs(12, shared_links)),
    ],
)
def test_any_depths_and_any_links(seed, program):
    program = with_depths(with_links(program, seed), seed, 1 + seed % 4)
    program = schedule(program)
    assert run_of(program).end == program.schedule.cycles
    assert cycles_of(program) == program.schedule.cycles


@pytest.mark.parametrize("latencies", [(40, 2), (2, 40), (7, 8)])
def test_a_barrier_of_links_of_unequal_latency(latencies):
    target = get("barrier-mesh", tile=1)
    program = compile(MatmulSpec(3, 5, 12), target, ShardPlan(3, "star"))
    links = tuple(
        replace(link, latency_cycles=latency)
        for link, latency in zip(program.links, latencies, strict=True)
    )
    program = schedule(replace(program, links=links))
    assert cycles_of(program) == program.schedule.cycles


@pytest.mark.parametrize("operand", ["a_pages", "b_pages"])
def test_an_operand_buffer_of_a_single_beat(operand):
    target = get("token-mesh", tile=1)
    program = compile(MatmulSpec(2, 3, 20), target)
    program = schedule(changed(program, operand, depth=Depth(1)))
    assert cycles_of(program) == program.schedule.cycles


def test_a_link_that_comes_back_late_after_more_pages_than_its_landing_buffer_holds():
    target = get("token-mesh", tile=1, link_latency_cycles=75)
    program = compile(MatmulSpec(15, 15, 4), target, ShardPlan(2))
    program = schedule(changed(program, "c0.landing_0", depth=Depth(64)))
    assert cycles_of(program) == program.schedule.cycles


def test_a_slower_link_that_overtakes_a_longer_one():
    target = get("token-mesh", tile=1)
    program = compile(MatmulSpec(12, 16, 6), target, ShardPlan(3, "star"))
    near, far = (
        replace(link, latency_cycles=latency, flit_cycles=flit_cycles)
        for link, latency, flit_cycles in zip(program.links, (1, 120), (8, 7), strict=True)
    )
    program = schedule(replace(with_depth(program, 60), links=(near, far)))
    assert cycles_of(program) == program.schedule.cycles
