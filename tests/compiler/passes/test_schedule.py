"""The schedule says when beats pass, and never less than the work takes."""

from dataclasses import replace

import pytest
from compiler.passes.shard import ShardPlan

from compiler import steady_state
from compiler.errors import UncertifiedProgramError
from compiler.flow.counts import page_counts
from compiler.ir.program import Program
from compiler.passes.schedule import schedule
from compiler.pipeline import compile, run_passes, shard
from compiler.shard_plan import ShardPlan
from compiler.targets import Target, get
from compiler.workload import MatmulSpec
from tests.compiler.programs import TOKEN, compiled, sharded

SHAPES = [(8, 8, 8), (16, 24, 32), (5, 17, 9), (1, 1, 1), (64, 64, 16)]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_ideal_is_what_the_arrays_need_for_the_tiles(shape):
    m, n, k = (len(range(0, extent, 8)) for extent in shape)
    predicted = compiled(*shape).schedule
    assert predicted.ideal_cycles == m * n * k * 8
    assert predicted.cycles > predicted.ideal_cycles


@pytest.mark.parametrize("chips", [2, 4, 8])
def test_the_ideal_is_shared_by_the_chips(chips):
    whole, part = compiled(k=256), sharded(chips, k=256)
    assert part.schedule.ideal_cycles * chips == whole.schedule.ideal_cycles


@pytest.mark.parametrize(
    "program", [compiled(), sharded(4), sharded(3, "star")], ids=lambda p: p.name
)
def test_every_stage_is_timed_and_none_begins_before_what_feeds_it(program):
    timings = {timing.stage: timing for timing in program.schedule.timings}
    assert list(timings) == [stage.name for stage in program.stages]
    for edge in program.edges:
        before, after = timings[edge.source], timings[edge.destination]
        assert 0 < before.first_beat <= before.last_beat
        assert before.first_beat < after.first_beat
        assert before.last_beat < after.last_beat
    assert max(t.last_beat for t in timings.values()) == program.schedule.cycles


@pytest.mark.parametrize("chips", [1, 3])
@pytest.mark.parametrize("target", [TOKEN, get("barrier-mesh", link_width_bits=24)])
def test_pages_beyond_those_followed_go_on_at_the_steady_rate(chips, target, monkeypatch):
    """What is followed to the end, and what is concluded, take the same time."""
    program = compile(MatmulSpec(160, 160, 8 * chips), target)
    program = shard(program, ShardPlan(chips, "star"), target)
    monkeypatch.setattr(steady_state, "LEAST_WINDOW", max(page_counts(program).values()))
    assert schedule(program).schedule == program.schedule


def with_links_of(latency: int) -> tuple[Program, Target]:
    """A finished program on links of another latency than that which it was finished for."""
    links = tuple(replace(link, latency_cycles=latency) for link in sharded(4).links)
    return replace(sharded(4), links=links), replace(TOKEN, link_latency_cycles=latency)


def test_the_schedule_is_made_anew():
    """It is derived, not chosen: what stands there does not outlive a change."""
    stale, target = with_links_of(2)
    assert run_passes(stale, target).schedule.cycles == stale.schedule.cycles - 2 * (8 - 2)


def test_depths_that_are_too_small_for_longer_links_are_refused():
    """They were chosen, and are kept; so the program can no longer run at full rate."""
    with pytest.raises(UncertifiedProgramError, match="room was waited for in") as refusal:
        run_passes(*with_links_of(100))
    assert [name for name, _ in refusal.value.violations] == ["no deadlock"]


def test_a_narrow_link_bounds_the_run_and_is_named():
    target = get("token-mesh", link_width_bits=8)
    program = sharded(4, target=target)
    page_cycles = 8 * 8 * 32 // 8
    assert program.schedule.bound == "link c1->c0"
    assert program.schedule.cycles > page_counts(program)["c0.reduced"] * page_cycles
    assert compiled(target=target).schedule.bound == "compute"
