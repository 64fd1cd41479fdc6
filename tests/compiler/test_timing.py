"""The performance model, by the properties that any run must have."""

from dataclasses import replace
from itertools import pairwise

import pytest
from compiler.passes.shard import ShardPlan

from compiler.check.token_run import TokenRun
from compiler.ir.stage import Recv
from compiler.passes.schedule import schedule
from compiler.pipeline import compile, shard
from compiler.targets import get
from compiler.timing import TimingModel, drain_cycles, page_interval
from compiler.workload import MatmulSpec
from tests.compiler.check.test_token_run import random_program, with_depths, with_links
from tests.compiler.programs import MANY_PORTS, TOKEN, compiled, sharded


def cycles(chips: int, reduce: str = "tree", *, m=16, n=16, k=None, **changes) -> int:
    target = get(changes.pop("target", "token-mesh"), link_ports=16, **changes)
    program = compile(MatmulSpec(m, n, k or 16 * chips), target)
    return shard(program, ShardPlan(chips, reduce), target).schedule.cycles


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
    program = compile(MatmulSpec(32, 32, 32 * chips), target)
    program = shard(program, ShardPlan(chips, reduce), target)
    endless = tuple(replace(buffer, depth_pages=None) for buffer in program.buffers)
    unbounded = schedule(replace(program, buffers=endless), target)
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
        buffers = tuple(
            replace(buffer, depth_pages=depth if buffer.name == name else buffer.depth_pages)
            for buffer in program.buffers
        )
        by_depth.append(schedule(replace(program, buffers=buffers), TOKEN).schedule.cycles)
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
    interval, name = page_interval(program, target)
    assert interval == max(2 * 8, link_cycles)
    assert name == program.schedule.bound == ("compute" if link_cycles <= 16 else "link c1->c0")


def test_a_single_slow_link_is_the_one_that_is_named():
    program = sharded(4)
    links = tuple(
        replace(link, width_bits=4) if link.name == "c3->c2" else link for link in program.links
    )
    again = schedule(replace(program, links=links), TOKEN).schedule
    assert again.bound == "link c3->c2"
    assert again.cycles > program.schedule.cycles


def test_beats_are_in_order_and_causal():
    program = sharded(5, "star", target=MANY_PORTS)
    pages = program.work.result_pages
    times = TimingModel(program, pages=pages, target=MANY_PORTS).solve()
    for name, written in times.written.items():
        assert len(written) == pages * program.tile
        assert all(before < after for before, after in pairwise(written.tolist()))
        assert (written < times.readable[name]).all()
        assert (times.readable[name] <= times.taken[name]).all()
    for stage in program.stages:
        if isinstance(stage.kind, Recv):
            (edge,) = program.edges_by_destination[stage.name]
            flight = times.written[stage.outs[0]] - times.taken[edge.buffer]
            assert (flight >= program.link_by_name[edge.route[0]].latency_cycles).all()
    assert times.stored[-1] == program.schedule.cycles


@pytest.mark.parametrize("pages", [1, 3, 40, 150])
@pytest.mark.parametrize("seed", range(20))
def test_any_depths_and_any_links_are_timed_as_the_tokens_run(seed, pages):
    """Also depths that cost cycles, and links of unequal pace and latency in one barrier."""
    program = with_links(random_program(seed), seed)
    work = replace(program.work, m_tiles=pages, n_tiles=1)
    for most in (1, 2, 5):
        program = replace(with_depths(program, seed, most), work=work)
        timings = schedule(program, program.target).schedule.timings
        run = TokenRun(program, pages).run()
        assert run.sent == {t.stage: (t.first_beat, t.last_beat) for t in timings}


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
