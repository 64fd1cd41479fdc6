# amaranth: UnusedElaboratable=no
import random
from collections import Counter

import pytest

from hw.activity import ActivityCounters
from tests.hw.simulation import simulate

EVENTS = ("multiplies", "sends")


class Golden:
    """The counters as they are described: what happened in cycles 1 and up of the last run."""

    def __init__(self):
        self.running = False
        self.cycle = 0
        self.count = Counter()
        self.last = Counter()

    def step(self, start: bool, done: bool, happening: list[str]) -> None:
        if start:
            self.__init__()
            self.running = True
        elif self.running and done:
            self.running = False
        elif self.running:
            self.cycle += 1
            for event in happening:
                self.count[event] += 1
                self.last[event] = self.cycle


@pytest.mark.parametrize("density", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_counters_follow_the_golden_model(density, seed):
    rng = random.Random(f"{density}/{seed}")
    dut, golden = ActivityCounters(EVENTS), Golden()

    async def testbench(ctx):
        for _ in range(500):
            start, done = rng.random() < 0.03, rng.random() < 0.05
            happening = [event for event in EVENTS if rng.random() < density]
            ctx.set(dut.start, start)
            ctx.set(dut.done, done)
            for event in EVENTS:
                ctx.set(getattr(dut, event), event in happening)
            await ctx.tick()
            golden.step(start, done, happening)
            assert ctx.get(dut.cycles) == golden.cycle
            for event in EVENTS:
                assert ctx.get(dut.count(event)) == golden.count[event]
                assert ctx.get(dut.last(event)) == golden.last[event]

    simulate(dut, testbench)


def test_counters_keep_their_values_after_a_run_and_return_to_zero_with_the_next():
    dut = ActivityCounters(["sends"])

    def state(ctx):
        return tuple(ctx.get(signal) for signal in (dut.cycles, dut.sends_count, dut.sends_last))

    async def testbench(ctx):
        ctx.set(dut.sends, 1)
        await ctx.tick().repeat(3)
        assert state(ctx) == (0, 0, 0), "counted before the run"
        ctx.set(dut.start, 1)
        await ctx.tick()
        ctx.set(dut.start, 0)
        await ctx.tick().repeat(4)
        ctx.set(dut.sends, 0)
        await ctx.tick().repeat(2)
        ctx.set(dut.done, 1)
        ctx.set(dut.sends, 1)
        await ctx.tick().repeat(5)
        assert state(ctx) == (6, 4, 4)
        ctx.set(dut.start, 1)
        await ctx.tick()
        assert state(ctx) == (0, 0, 0)

    simulate(dut, testbench)


def test_counts_only_cycles_where_there_are_no_events():
    dut = ActivityCounters([])

    async def testbench(ctx):
        ctx.set(dut.start, 1)
        await ctx.tick()
        ctx.set(dut.start, 0)
        await ctx.tick().repeat(7)
        assert ctx.get(dut.cycles) == 7

    simulate(dut, testbench)


def test_refuses_two_events_of_one_name():
    with pytest.raises(ValueError, match=r"Events must have distinct names, not \('a', 'b', 'a'\)"):
        ActivityCounters(["a", "b", "a"])
