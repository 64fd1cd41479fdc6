"""Depths are enough for the full rate, no deeper, and kept where they are set."""

from dataclasses import replace

import pytest

from compiler.flow.components import components
from compiler.ir.buffer import Depth
from compiler.ir.choice import Chooser
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.passes.buffer import choose_depths
from compiler.passes.schedule import schedule
from compiler.targets import get
from compiler.timing.steady_state import unbounded_end
from tests.compiler.programs import MANY_PORTS, TOKEN, changed, compiled, sharded, spread
from tests.compiler.random_programs import (
    random_mesh_program,
    random_program,
    random_ring,
    shared_links,
    with_depth,
    with_links,
)


def unbuffered(chips: int, reduce: str = "tree", *, target=TOKEN) -> Program:
    program = compiled(target=target) if chips == 1 else sharded(chips, reduce, target=target)
    return with_depth(program, None)


def depths(program: Program) -> dict[str, int]:
    return {buffer.name: buffer.depth_pages for buffer in program.buffers}


@pytest.mark.parametrize("chips", [1, 2, 5, 8])
@pytest.mark.parametrize("reduce", ["star", "tree"])
@pytest.mark.parametrize("latency", [1, 8, 100])
def test_chosen_depths_cost_no_cycles(chips, reduce, latency):
    target = get("token-mesh", link_latency_cycles=latency, link_ports=16)
    program = unbuffered(chips, reduce, target=target)
    unbounded = schedule(program).schedule.cycles
    assert schedule(choose_depths(program)).schedule.cycles == unbounded


@pytest.mark.parametrize("draw", [random_program, random_mesh_program, random_ring, shared_links])
@pytest.mark.parametrize("seed", range(20))
def test_they_cost_none_on_any_links_either(draw, seed):
    """Also where a chip has to run ahead, since the others are slower and nearer."""
    program = with_depth(with_links(draw(seed), seed), None)
    chosen = choose_depths(program)
    unbounded = max(unbounded_end(program, part) for part in components(program))
    assert schedule(chosen).schedule.cycles == unbounded
    assert {buffer.depth.by for buffer in chosen.buffers} == {Chooser.COMPILER}


def test_a_fast_chip_far_away_gets_room_to_run_ahead():
    """Chip 1 has 2 blocks for each of the 3 of the home chip, and is 500 cycles away.

    Both begin at once, so its sums are there some 500 cycles late, and after (500 + 8) / 8 pages
    in time, if it can run ahead so far.
    """
    mesh = Mesh(tp=2)
    program = spread(128, 128, 40, mesh=mesh, uneven=True)
    links = tuple(replace(link, latency_cycles=500) for link in program.links)
    program = replace(with_depth(program, None), links=links)
    near = schedule(choose_depths(spread(128, 128, 40, mesh=mesh, uneven=True))).schedule
    far = schedule(choose_depths(program)).schedule
    (part,) = components(program)
    assert far.cycles == unbounded_end(program, part)
    assert far.cycles - near.cycles < 50
    pages = part.rounds
    assert pages == 16 * 16
    assert all(depth <= pages for depth in depths(choose_depths(program)).values())


def test_operands_wait_in_two_pages():
    chosen = depths(choose_depths(unbuffered(4)))
    assert {chosen[f"c{chip}.{side}_pages"] for chip in range(4) for side in "ab"} == {2}


@pytest.mark.parametrize("latency", [20, 100, 300])
def test_a_landing_buffer_covers_both_ways_of_a_link(latency):
    target = get("token-mesh", link_latency_cycles=latency)
    program = spread(64, 64, 32, mesh=Mesh(tp=2), target=target)
    landing = program.buffer_by_name["c0.landing_0"].depth_pages
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
    kept = choose_depths(changed(program, name, depth=Depth(depth)))
    assert depths(kept) == chosen | {name: depth}
    by = {buffer.name: buffer.depth.by for buffer in kept.buffers}
    assert by.pop(name) is Chooser.HAND
    assert set(by.values()) == {Chooser.COMPILER}


def test_choosing_again_changes_nothing():
    once = choose_depths(unbuffered(8, target=MANY_PORTS))
    assert choose_depths(once) == once


def test_chips_that_are_alike_get_the_same_depths():
    program = spread(64, 64, 64, mesh=Mesh(row=4, col=2), shard=(("k", "col"), ("m", "row")))
    chosen = depths(choose_depths(with_depth(program, None)))
    homes = [chip for chip in range(8) if f"c{chip}.landing_0" in chosen]
    assert len(homes) == 4
    assert len({chosen[f"c{home}.landing_0"] for home in homes}) == 1
    assert len({chosen[f"c{home}.partial"] for home in homes}) == 1


def test_shallower_operand_buffers_are_never_faster():
    program = compiled()
    before = program.schedule.cycles
    assert schedule(with_depth(program, 1)).schedule.cycles >= before
