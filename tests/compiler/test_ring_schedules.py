"""What rings cost: the cycles that certified schedules of one shape predict, and how many are left
over beside the products."""

import pytest

from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.pipeline import compile
from compiler.shard_plan import ShardPlan
from compiler.targets import get
from compiler.workload import MatmulSpec

SPEC = MatmulSpec(64, 64, 4096)
TARGET = get("token-mesh", tile=8, link_width_bits=64, link_latency_cycles=10)
MULTIPLYING = 64 * 64 * 4096 // 8**2
"""Cycles in which one array of 8 x 8 has done all products."""
ONE_CHIP = 262_160


def cycles_of(program: Program) -> int:
    """Cycles of a schedule that its certificate covers."""
    assert program.certificate is not None
    assert program.certificate.holds
    assert program.schedule is not None
    return program.schedule.cycles


@pytest.mark.parametrize(
    ("chips", "cycles"), [(1, ONE_CHIP), (2, 131_140), (4, 65_666), (8, 33_022), (16, 16_886)]
)
def test_a_ring_of_any_size_leaves_the_sum_everywhere_in_little_more_than_its_products_take(
    chips, cycles
):
    program = compile(SPEC, TARGET, ShardPlan(chips, "ring", result="all"))
    assert cycles_of(program) == cycles
    assert cycles - MULTIPLYING // chips <= 0.04 * MULTIPLYING // chips
    assert ONE_CHIP / (chips * cycles) >= 0.95


def test_rings_along_one_axis_of_a_mesh_take_fewer_hops():
    plan = ShardPlan(Mesh(row=4, col=4), "ring", shard={"m": "row", "k": "col"}, result="all")
    cycles = cycles_of(compile(SPEC, TARGET, plan))
    assert cycles == 16_514
    assert ONE_CHIP / (16 * cycles) >= 0.99
