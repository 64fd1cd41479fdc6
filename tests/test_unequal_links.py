"""A program may have links of every kind that its target has, and runs on them as it says."""

from dataclasses import replace

import numpy as np
import pytest

from compiler.check import check
from compiler.ir.program import Program
from compiler.pipeline import compile, run_passes
from compiler.shard_plan import ShardPlan
from compiler.targets import LinkKind, Target, get
from compiler.workload import MatmulSpec
from sim.simulate import simulate
from tests.compiler.random_programs import with_depth
from tests.programs import random_operands

KINDS = (LinkKind("cable", 8, 21, 3), LinkKind("bus", 64, 2), LinkKind("slow", 32, 40, 2))


def with_links(target: Target, reduce: str) -> Program:
    """A program of 4 chips, each of whose links is of another kind, with all else chosen anew."""
    target = replace(target, link_kinds=KINDS)
    program = compile(MatmulSpec(4, 6, 16), target, ShardPlan(4, reduce))
    links = tuple(
        replace(
            link,
            width_bits=kind.width_bits,
            latency_cycles=kind.latency_cycles,
            flit_cycles=kind.flit_cycles,
        )
        for link, kind in zip(program.links, KINDS, strict=True)
    )
    return run_passes(replace(with_depth(program, None), links=links, memory=()), target)


@pytest.mark.parametrize("reduce", ["star", "tree"])
@pytest.mark.parametrize("machine", ["token-mesh", "semaphore-mesh"])
def test_links_of_several_kinds_carry_a_product_on_time(machine, reduce):
    program = with_links(get(machine, tile=2), reduce)
    assert {(link.width_bits, link.latency_cycles) for link in program.links} == {
        (8, 21),
        (64, 2),
        (32, 40),
    }
    a, b = random_operands(program, 5)
    result = simulate(program, a, b)
    assert np.array_equal(result.c, a @ b)
    assert result.cycles == program.schedule.cycles


def test_without_the_kinds_each_of_these_links_is_refused():
    program = with_links(get("token-mesh", tile=2), "star")
    for missing in KINDS:
        kinds = tuple(kind for kind in KINDS if kind is not missing)
        fewer = replace(program, target=replace(program.target, link_kinds=kinds))
        (violated,) = check(fewer).violated
        assert violated.name == "capacity"
        assert violated.violations[0].startswith("LinkKind: link ")
        assert f" is of {missing}, but target 'token-mesh' has links of " in violated.violations[0]
