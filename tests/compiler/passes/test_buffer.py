"""Depths are enough for the full rate, no deeper, and kept where they are set."""

from dataclasses import replace

import pytest
from compiler.passes.shard import ShardPlan, replicate

from compiler.ir.buffer import Depth
from compiler.passes.buffer import choose_depths
from compiler.passes.handshake import handshake
from compiler.passes.partition import partition
from compiler.passes.place import place
from compiler.passes.route import route
from compiler.passes.schedule import schedule
from compiler.passes.tile import tile
from compiler.shard_plan import ShardPlan
from compiler.targets import get
from tests.compiler.programs import MANY_PORTS, TOKEN, changed, compiled, lowered, partitioned


def placed(program, target=TOKEN):
    """All that comes before the depths."""
    return handshake(place(route(tile(program), target), target), target)


def unbuffered(chips: int, reduce: str = "tree", *, target=TOKEN):
    if chips == 1:
        return placed(lowered(target=target), target)
    return placed(partitioned(chips, reduce, target=target), target)


def depths(program) -> dict[str, int]:
    return {buffer.name: buffer.depth_pages for buffer in program.buffers}


@pytest.mark.parametrize("chips", [1, 2, 5, 8])
@pytest.mark.parametrize("reduce", ["star", "tree"])
@pytest.mark.parametrize("latency", [1, 8, 100])
def test_chosen_depths_cost_no_cycles(chips, reduce, latency):
    target = get("token-mesh", link_latency_cycles=latency, link_ports=16)
    program = unbuffered(chips, reduce, target=target)
    unbounded = schedule(program).schedule.cycles
    assert schedule(choose_depths(program)).schedule.cycles == unbounded


def test_operands_wait_in_two_pages():
    chosen = depths(choose_depths(unbuffered(4)))
    assert {chosen[f"c{chip}.{side}_pages"] for chip in range(4) for side in "ab"} == {2}


@pytest.mark.parametrize("latency", [20, 100, 300])
def test_a_landing_buffer_covers_both_ways_of_a_link(latency):
    target = get("token-mesh", link_latency_cycles=latency)
    program = placed(partition(lowered(64, 64, 32, target=target), ShardPlan(2), target), target)
    landing = choose_depths(program).buffer_by_name["c0.landing_0"].depth_pages
    interval = (32 // 2 // 8) * 8
    assert landing * interval >= 2 * latency
    assert (landing - 4) * interval < 2 * latency


@pytest.mark.parametrize("chips", [1, 4])
def test_no_buffer_is_deeper_than_there_are_pages(chips):
    target = get("token-mesh", link_latency_cycles=1000)
    chosen = depths(choose_depths(unbuffered(chips, target=target)))
    results = 2 * 2
    assert all(1 <= depth <= results for depth in chosen.values())


@pytest.mark.parametrize("name", ["c0.partial", "c0.landing_1", "c0.a_pages", "c2.subtotal"])
@pytest.mark.parametrize("depth", [1, 7])
def test_a_depth_that_is_set_is_kept_and_changes_no_other(name, depth):
    program = unbuffered(4)
    chosen = depths(choose_depths(program))
    kept = depths(choose_depths(changed(program, name, depth=Depth(depth))))
    assert kept == chosen | {name: depth}


def test_choosing_again_changes_nothing():
    once = choose_depths(unbuffered(8, target=MANY_PORTS))
    assert choose_depths(once) == once


def test_shallower_operand_buffers_are_never_faster():
    program = compiled()
    before = program.schedule.cycles
    shallow = tuple(replace(buffer, depth=Depth(1)) for buffer in program.buffers)
    assert schedule(replace(program, buffers=shallow)).schedule.cycles >= before
