import random

import pytest

from hw.start_guard import StartGuard
from tests.hw.simulation import simulate


@pytest.mark.parametrize("seed", range(4))
def test_a_start_passes_unless_a_run_is_under_way(seed):
    rng = random.Random(seed)
    dut = StartGuard()

    async def testbench(ctx):
        running, done, passed, kept_back = False, False, 0, 0
        for _ in range(300):
            if running and rng.random() < 0.1:
                done = True
            start = rng.random() < 0.4
            ctx.set(dut.start, start)
            ctx.set(dut.done, done)
            begins = start and (done or not running)
            _, _, starts = await ctx.tick().sample(dut.starts)
            assert starts == begins
            passed += begins
            kept_back += start and not begins
            running = begins or (running and not done)
            done = done and not begins
        assert passed > 10
        assert kept_back > 10

    simulate(dut, testbench)


def test_starts_that_come_in_every_cycle_begin_one_run_for_each_that_ends():
    dut = StartGuard()
    begun = []

    async def testbench(ctx):
        ctx.set(dut.start, 1)
        for cycle in range(20):
            ctx.set(dut.done, cycle % 5 == 4)
            _, _, starts = await ctx.tick().sample(dut.starts)
            begun.extend([cycle] * starts)

    simulate(dut, testbench)
    assert begun == [0, 4, 9, 14, 19]
