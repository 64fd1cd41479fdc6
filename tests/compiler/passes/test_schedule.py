"""The schedule says when beats pass, and never less than the work takes."""

from dataclasses import replace

import pytest

from compiler.errors import UncertifiedProgramError
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Merge, Split
from compiler.passes.schedule import schedule
from compiler.pipeline import compile, run_passes
from compiler.shard_plan import ShardPlan
from compiler.targets import Target, get
from compiler.timing import steady_state
from compiler.workload import MatmulSpec
from tests.compiler.programs import TOKEN, compiled, sharded, spread
from tests.compiler.random_programs import random_mesh_program, random_ring, shared_links

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


@pytest.mark.parametrize("dim", ["m", "n", "k"])
def test_the_ideal_of_uneven_slices_is_that_of_the_largest(dim):
    """Of 7 tiles over 3 chips one has 3, along whatever axis."""
    extents = {"m": 16, "n": 24, "k": 32} | {dim: 56}
    program = spread(*extents.values(), mesh=Mesh(tp=3), shard=((dim, "tp"),), uneven=True)
    tiles = {axis: extent // 8 for axis, extent in extents.items()} | {dim: 3}
    assert program.schedule.ideal_cycles == tiles["m"] * tiles["n"] * tiles["k"] * 8


@pytest.mark.parametrize(
    "program",
    [
        compiled(),
        sharded(4),
        sharded(3, "star"),
        *map(random_mesh_program, range(6)),
        *map(random_ring, range(6)),
        *map(shared_links, range(6)),
    ],
    ids=lambda p: p.name,
)
def test_every_stage_is_timed_and_none_begins_before_what_feeds_it(program):
    """A merge may begin with another input, and a split end with another output.

    What falls through a buffer is taken in the cycle in which it comes.
    """
    timings = {timing.stage: timing for timing in program.schedule.timings}
    assert list(timings) == [stage.name for stage in program.stages]
    for edge in program.edges:
        before, after = timings[edge.source], timings[edge.destination]
        assert 0 < before.first_beat <= before.last_beat
        least = 0 if program.buffer_by_name[edge.buffer].fall_through else 1
        if not isinstance(program.stage_by_name[edge.destination].kind, Merge):
            assert before.first_beat + least <= after.first_beat
        if not isinstance(program.stage_by_name[edge.source].kind, Split):
            assert before.last_beat + least <= after.last_beat
    assert max(t.last_beat for t in timings.values()) == program.schedule.cycles


@pytest.mark.parametrize("chips", [1, 3])
@pytest.mark.parametrize("target", [TOKEN, get("barrier-mesh", link_width_bits=24)])
@pytest.mark.parametrize("result", ["home", "all"])
def test_pages_beyond_those_followed_go_on_at_the_steady_rate(chips, target, result, monkeypatch):
    """What is followed to the end, and what is concluded, take the same time."""
    plan = ShardPlan(chips, "star", result=result)
    program = compile(MatmulSpec(160, 160, 8 * chips), target, plan)
    monkeypatch.setattr(steady_state, "LEAST_WINDOW", 20 * 20)
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
    assert program.schedule.cycles > 2 * 2 * page_cycles
    assert compiled(target=target).schedule.bound == "compute"


def has_merge_of_two(program: Program) -> bool:
    return [len(s.ins) for s in program.stages if isinstance(s.kind, Merge)] == [2]


def test_a_link_that_two_edges_share_bounds_a_run_that_others_of_its_pace_do_not():
    """A page takes two cycles for each beat of a link, as long as two blocks take an array."""
    program = next(filter(has_merge_of_two, map(shared_links, range(50))))
    (merge,) = (stage for stage in program.stages if isinstance(stage.kind, Merge))
    (edge,) = program.edges_by_source[merge.name]
    beat_bits = 32 * program.tile
    links = tuple(replace(link, width_bits=beat_bits, flit_cycles=2) for link in program.links)
    assert schedule(replace(program, links=links)).schedule.bound == f"link {edge.link}"
    halved = tuple(replace(link, flit_cycles=1) for link in links)
    assert schedule(replace(program, links=halved)).schedule.bound == "compute"
