"""Plans of the multipliers of an array."""

import pytest

from hw.multiplier.ecp5 import Ecp5Multiplier
from hw.multiplier.logic import LogicMultiplier
from hw.multiplier.plan import MultiplierPlan, plan_multipliers


@pytest.mark.parametrize("tile", [1, 2, 8, 16])
@pytest.mark.parametrize("available", [0, 1, 100, 156, 1000])
def test_takes_the_blocks_as_far_as_they_reach(tile, available):
    plan = plan_multipliers(tile, available, block=Ecp5Multiplier)
    kinds = [plan.kind(row, lane) for row in range(tile) for lane in range(tile)]
    assert kinds.count(Ecp5Multiplier) == plan.block_count == min(available, tile**2)
    assert kinds.count(LogicMultiplier) == plan.rest_count == tile**2 - plan.block_count


def test_spreads_the_blocks_evenly_over_the_rows():
    plan = plan_multipliers(16, 156, block=Ecp5Multiplier)
    counts = [
        sum(plan.kind(row, lane) is Ecp5Multiplier for lane in range(16)) for row in range(16)
    ]
    assert set(counts) == {9, 10}


@pytest.mark.parametrize("block_count", [-1, 5])
def test_refuses_a_count_that_does_not_fit_the_array(block_count):
    text = rf"Block count must be in 0 .. 4 for tiles of 2, not {block_count}"
    with pytest.raises(ValueError, match=text):
        MultiplierPlan(2, Ecp5Multiplier, block_count)
