"""The closed form of a run without limits: what a run with a slot for every page takes."""

from dataclasses import replace

import pytest

from compiler.check.token_run import TokenRun
from compiler.check.unbounded_run import unbounded_end
from compiler.flow.components import components
from tests.compiler.programs import sharded
from tests.compiler.random_programs import (
    parts_of,
    random_falling_program,
    random_mesh_program,
    random_program,
    random_ring,
    shared_links,
    with_depth,
    with_links,
)


@pytest.mark.covers("values")
@pytest.mark.parametrize("rounds", [1, 2, 3, 5, 40, 250])
@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize(
    "draw",
    [random_program, random_mesh_program, random_ring, shared_links, random_falling_program],
)
def test_it_is_a_run_with_a_slot_for_every_page(draw, seed, rounds):
    """Of two pages at least, so that no buffer holds a single beat."""
    program = with_links(draw(seed), seed)
    for part in parts_of(program, rounds):
        roomy = with_depth(program, max(2, rounds * max(part.share.values())))
        assert unbounded_end(program, part) == TokenRun(roomy, part).run().end


def test_a_slower_link_overtakes_a_longer_one_after_any_number_of_pages():
    """Chip 1 sends over a long link; chip 2 over a short one that takes a cycle more per page."""
    tile, links = 8, {link.name: link for link in sharded(3, "star").links}
    near = replace(links["c2->c0"], latency_cycles=1, width_bits=256, flit_cycles=4)
    far = replace(links["c1->c0"], latency_cycles=80_001, width_bits=256, flit_cycles=3)
    program = replace(sharded(3, "star"), links=(near, far))
    (part,) = components(program)
    crossing = (80_001 - 1) // tile
    ends = {
        rounds: unbounded_end(program, replace(part, rounds=rounds))
        for rounds in range(crossing - 20, crossing + 20)
    }
    steps = [ends[rounds + 1] - ends[rounds] for rounds in list(ends)[:-1]]
    assert steps[0] == 3 * tile
    assert steps[-1] == 4 * tile
    assert steps == sorted(steps)
