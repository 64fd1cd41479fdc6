"""A product may be larger than one chip's memory, if it is for several."""

import pytest

from compiler.errors import PlanningOnlyError, ValidationError
from compiler.pipeline import compile, shard
from compiler.shard_plan import ShardPlan
from compiler.targets import find_any, get
from compiler.workload import MatmulSpec

SPEC = MatmulSpec(16, 16, 1024)


@pytest.mark.parametrize("plan", [ShardPlan(1), ShardPlan(4), ShardPlan(8, "star")])
def test_it_compiles_and_shards(plan):
    target = get("token-mesh")
    assert compile(SPEC, target, plan) == shard(compile(SPEC, target), plan, target)


def test_one_chip_need_not_hold_the_whole():
    target = get("token-mesh", memory_bytes=20_000)
    with pytest.raises(ValidationError, match=r"chip 0 needs .* use more chips"):
        compile(SPEC, target)
    program = compile(SPEC, target, ShardPlan(4))
    assert program.target == target
    assert program.certificate.holds


@pytest.mark.parametrize("chips", [1, 2])
def test_what_all_chips_together_cannot_hold_is_refused(chips):
    target = get("token-mesh", memory_bytes=5_000)
    with pytest.raises(ValidationError, match="has 5000"):
        compile(SPEC, target, ShardPlan(chips))


@pytest.mark.parametrize("chips", [1, 2])
def test_a_planning_target_is_refused(chips):
    with pytest.raises(PlanningOnlyError):
        compile(SPEC, find_any("sn50"), ShardPlan(chips))
    with pytest.raises(PlanningOnlyError):
        compile(SPEC, find_any("sn50"))
