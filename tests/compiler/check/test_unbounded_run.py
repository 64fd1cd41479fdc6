"""The closed form of a run without limits: what a run with a slot for every page takes."""

import random
from dataclasses import replace

import pytest

from compiler.check.token_run import TokenRun
from compiler.check.unbounded_run import BeatLines, unbounded_end
from compiler.ir.program import Program
from tests.compiler.check.test_token_run import random_program, with_links
from tests.compiler.programs import sharded


def with_a_slot_for_each(program: Program, pages: int) -> Program:
    """Of two pages at least, so that no buffer holds a single beat."""
    buffers = tuple(replace(buffer, depth_pages=max(2, pages)) for buffer in program.buffers)
    return replace(program, buffers=buffers)


@pytest.mark.parametrize("pages", [1, 2, 3, 5, 40, 250])
@pytest.mark.parametrize("seed", range(25))
def test_it_is_a_run_with_a_slot_for_every_page(seed, pages):
    program = with_links(random_program(seed), seed)
    run = TokenRun(with_a_slot_for_each(program, pages), pages).run()
    assert unbounded_end(program, pages) == run.end


def test_a_slower_link_overtakes_a_longer_one_after_any_number_of_pages():
    """Chip 1 sends over a long link; chip 2 over a short one that takes a cycle more per page."""
    tile, links = 8, {link.name: link for link in sharded(3, "star").links}
    near = replace(links["c2->c0"], latency_cycles=1, width_bits=256, flit_cycles=4)
    far = replace(links["c1->c0"], latency_cycles=80_001, width_bits=256, flit_cycles=3)
    program = replace(sharded(3, "star"), links=(near, far))
    crossing = (80_001 - 1) // tile
    ends = {pages: unbounded_end(program, pages) for pages in range(crossing - 20, crossing + 20)}
    steps = [ends[pages + 1] - ends[pages] for pages in list(ends)[:-1]]
    assert steps[0] == 3 * tile
    assert steps[-1] == 4 * tile
    assert steps == sorted(steps)


@pytest.mark.parametrize("seed", range(30))
def test_spacing_and_joining_are_what_they_are_for_each_page(seed):
    """Random streams, page by page, beat by beat."""
    rng = random.Random(seed)
    tile = rng.choice([1, 2, 4])
    streams = [
        BeatLines((), {rng.randint(1, 20): tuple(sorted(rng.sample(range(60), tile)))})
        for _ in range(3)
    ]
    expected = [[cycle for page in range(60) for cycle in stream.page(page)] for stream in streams]
    gaps = [rng.randint(1, 6) for _ in range(3)]

    def spaced(cycles: list[int], gap: int) -> list[int]:
        passed: list[int] = []
        for ready in cycles:
            passed.append(max(ready, passed[-1] + gap) if passed else ready)
        return passed

    one, two, three = (
        stream.spaced(gap).later(gap) for stream, gap in zip(streams, gaps, strict=True)
    )
    joined = one.joined(two).spaced(2).joined(three).spaced(gaps[0])
    by_beat = [
        [cycle + gap for cycle in spaced(cycles, gap)]
        for cycles, gap in zip(expected, gaps, strict=True)
    ]
    both = spaced(list(map(max, by_beat[0], by_beat[1])), 2)
    last = spaced(list(map(max, both, by_beat[2])), gaps[0])
    assert [cycle for page in range(60) for cycle in joined.page(page)] == last
    assert joined.whole().page(7) == (last[8 * tile - 1],) * tile
