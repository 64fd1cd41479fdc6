"""The performance model, by the properties that any run must have."""

from dataclasses import replace
from itertools import pairwise

import pytest

from compiler.check.token_run import TokenRun
from compiler.check.unbounded_run import unbounded_end as end_of_tokens
from compiler.flow.components import components
from compiler.ir.buffer import Depth
from compiler.ir.mesh import Mesh
from compiler.ir.stage import Load, Recv
from compiler.passes.schedule import schedule
from compiler.pipeline import compile
from compiler.shard_plan import ShardPlan
from compiler.targets import get
from compiler.timing.model import TimingModel, drain_cycles
from compiler.timing.rates import round_cycles
from compiler.timing.steady_state import follow, unbounded_end
from compiler.workload import MatmulSpec
from tests.compiler.programs import MANY_PORTS, changed, compiled, sharded, spread
from tests.compiler.random_programs import (
    parts_of,
    random_mesh_program,
    random_program,
    random_ring,
    shared_links,
    with_depth,
    with_depths,
    with_links,
)


def cycles(chips: int, reduce: str = "tree", *, m=16, n=16, k=None, **changes) -> int:
    target = get(changes.pop("target", "token-mesh"), link_ports=16, **changes)
    plan = ShardPlan(chips, reduce)
    return compile(MatmulSpec(m, n, k or 16 * chips), target, plan).schedule.cycles


@pytest.mark.parametrize(
    ("chips", "expected"), [(1, 8208), (2, 4124), (4, 2088), (8, 1076), (16, 576)]
)
def test_the_figures_of_the_prototype(chips, expected):
    """32 x 32 x 512 on tiles of 8, links of 256 bits and 8 cycles, a tree."""
    assert cycles(chips, m=32, n=32, k=512) == expected


@pytest.mark.parametrize("chips", [1, 2, 4, 8, 16])
def test_the_run_is_close_to_the_ideal(chips):
    ideal = 32 * 32 * 512 // (chips * 8 * 8)
    assert ideal < cycles(chips, m=32, n=32, k=512) < ideal * 1.13


@pytest.mark.parametrize("chips", [1, 2, 5, 8])
@pytest.mark.parametrize("reduce", ["star", "tree"])
@pytest.mark.parametrize("target", ["token-mesh", "semaphore-mesh"])
def test_chosen_depths_are_as_good_as_unbounded_ones(chips, reduce, target):
    target = get(target, link_ports=16)
    program = compile(MatmulSpec(32, 32, 32 * chips), target, ShardPlan(chips, reduce))
    unbounded = schedule(with_depth(program, None))
    assert unbounded.schedule.cycles == program.schedule.cycles


@pytest.mark.parametrize("chips", [2, 5, 8])
@pytest.mark.parametrize("reduce", ["star", "tree"])
@pytest.mark.parametrize("target", ["token-mesh", "semaphore-mesh"])
def test_a_longer_link_is_never_faster(chips, reduce, target):
    by_latency = [
        cycles(chips, reduce, target=target, link_latency_cycles=latency)
        for latency in (1, 2, 5, 8, 13, 40, 100)
    ]
    assert by_latency == sorted(by_latency)
    assert by_latency[0] < by_latency[-1]


@pytest.mark.parametrize("chips", [2, 5, 8])
@pytest.mark.parametrize("reduce", ["star", "tree"])
def test_a_narrower_link_is_never_faster(chips, reduce):
    by_width = [
        cycles(chips, reduce, link_width_bits=width) for width in (256, 128, 100, 64, 32, 8, 1)
    ]
    assert by_width == sorted(by_width)


@pytest.mark.parametrize("name", ["c0.landing_0", "c0.reduced", "c1.partial", "c2.subtotal"])
def test_a_deeper_buffer_is_never_slower(name):
    program = sharded(4, k=32)
    by_depth = []
    for depth in (1, 2, 3, 4):
        deeper = changed(program, name, depth=Depth(depth))
        by_depth.append(schedule(deeper).schedule.cycles)
    assert by_depth == sorted(by_depth, reverse=True)


@pytest.mark.parametrize("chips", [2, 4, 16])
def test_in_a_tree_a_level_costs_a_link_and_a_fold(chips):
    """Every other chip starts at once, so only the levels on the way home add to the run."""
    levels = chips.bit_length() - 1
    one_level = cycles(2, k=32) - cycles(1, k=16)
    assert cycles(chips, k=16 * chips) - cycles(1, k=16) <= levels * one_level


def test_page_semaphores_store_and_forward():
    assert cycles(4, target="semaphore-mesh") > cycles(4, target="token-mesh")


@pytest.mark.parametrize("width", [256, 64, 32, 8])
def test_the_slower_of_array_and_link_is_the_bound_and_is_named(width):
    """A page of 8 x 8 sums takes 2 x 8 cycles of the array, or its bits over the link's."""
    target = get("token-mesh", link_width_bits=width)
    program = sharded(4, target=target)
    link_cycles = 8 * -(-8 * 32 // width)
    (part,) = components(program)
    interval, name = round_cycles(program, part)
    assert interval == max(2 * 8, link_cycles)
    assert name == program.schedule.bound == ("compute" if link_cycles <= 16 else "link c1->c0")


def test_a_single_slow_link_is_the_one_that_is_named():
    program = sharded(4)
    links = tuple(
        replace(link, width_bits=4) if link.name == "c3->c2" else link for link in program.links
    )
    again = schedule(replace(program, links=links)).schedule
    assert again.bound == "link c3->c2"
    assert again.cycles > program.schedule.cycles


@pytest.mark.parametrize(
    "program",
    [
        sharded(5, "star", target=MANY_PORTS),
        spread(mesh=Mesh(tp=4), result="all"),
        *map(random_ring, range(5)),
        *map(shared_links, range(5)),
    ],
    ids=lambda p: p.name,
)
def test_beats_are_in_order_and_causal(program):
    (part,) = components(program)
    times = TimingModel(program, part, part.rounds).solve()
    for name, written in times.written.items():
        assert len(written) == part.rounds * part.share[name] * program.tile
        assert all(before < after for before, after in pairwise(written.tolist()))
        least = 0 if program.buffer_by_name[name].fall_through else 1
        assert (written + least <= times.readable[name]).all()
        assert (times.readable[name] <= times.taken[name]).all()
    for stage in program.stages:
        if isinstance(stage.kind, Recv):
            (edge,) = program.edges_by_destination[stage.name]
            flight = times.written[stage.outs[0]] - times.taken[edge.buffer]
            assert (flight >= program.link_by_name[edge.link].latency_cycles).all()
    assert max(stored[-1] for stored in times.stored.values()) == program.schedule.cycles


@pytest.mark.covers("pairs")
@pytest.mark.parametrize("rounds", [1, 3, 40, 150])
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("draw", [random_program, random_mesh_program, random_ring, shared_links])
def test_any_depths_and_any_links_are_timed_as_the_tokens_run(draw, seed, rounds):
    """Also depths that cost cycles, and links of unequal pace and latency in one barrier."""
    program = with_links(draw(seed), seed)
    part = parts_of(program, rounds)[0]
    for most in (1, 2, 5):
        program = with_depths(program, seed, most)
        run, followed = TokenRun(program, part).run(), follow(program, part)
        assert followed.end == run.end
        for stage in part.stages:
            if isinstance(stage.kind, Load):
                continue
            beats = [followed.times.written[name] for name in stage.outs]
            beats = beats or [followed.times.stored[stage.name]]
            first, last = min(int(each[0]) for each in beats), max(map(followed.last, beats))
            assert run.sent[stage.name] == (first, last)


@pytest.mark.covers("values")
@pytest.mark.parametrize("rounds", [1, 2, 7, 60, 1000])
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("draw", [random_program, random_mesh_program, random_ring, shared_links])
def test_the_end_without_limits_is_found_from_the_first_rounds_and_the_last(draw, seed, rounds):
    """It is the one that is found from all of them, and the one that other code finds."""
    program = with_depth(with_links(draw(seed), seed), None)
    for part in parts_of(program, rounds):
        found = unbounded_end(program, part)
        everything = TimingModel(program, part, rounds, bounded=False).solve().stored
        assert found == max(int(cycles[-1]) for cycles in everything.values())
        assert found == end_of_tokens(program, part)


@pytest.mark.parametrize("tile", [2, 4, 8, 16])
def test_a_single_chip_takes_its_work_and_a_constant(tile):
    """Nothing waits between two results, whatever their number and length."""
    target = get("token-mesh", tile=tile)
    overheads = set()
    for m, n, k in ((1, 1, 1), (1, 1, 9), (2, 3, 1), (3, 2, 4), (9, 9, 1)):
        program = compiled(m * tile, n * tile, k * tile, target=target)
        overheads.add(program.schedule.cycles - m * n * k * tile)
    (overhead,) = overheads
    assert drain_cycles(tile) < overhead < drain_cycles(tile) + 4
