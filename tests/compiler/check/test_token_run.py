"""The token run: cycle for cycle what the performance model says, from other code."""

import random
from dataclasses import replace

import pytest
from compiler.check.page_flow import FlowError
from compiler.passes.shard import ShardPlan

from compiler.check.token_run import TokenRun, check_flow
from compiler.check.unbounded_run import unbounded_end
from compiler.ir.body import Literal, Max, Operand
from compiler.ir.program import Program
from compiler.ir.stage import MatmulTiles
from compiler.pipeline import compile, shard
from compiler.targets import get
from compiler.workload import MatmulSpec
from tests.compiler.programs import changed, compiled, sharded
from tests.mutation.mutations import BY_NAME

LOAD, FIFO, TILE_UNIT = 1, 1, 7
"""Cycles through a load, a FIFO and a tile unit, as the tests of the components hold them."""


def random_program(seed: int) -> Program:
    rng = random.Random(seed)
    tile, chips = rng.choice([1, 2, 4]), rng.choice([1, 2, 3, 4, 6, 9])
    target = get(
        rng.choice(["token-mesh", "semaphore-mesh"]),
        tile=tile,
        link_width_bits=rng.choice([1, 8, 24, 256]),
        link_latency_cycles=rng.randint(1, 30),
        link_ports=16,
        compute_engines=3,
    )
    if rng.random() < 0.25:
        target = replace(target, handoffs=(*target.handoffs[:1], "Barrier"))
    extents = (rng.randint(1, 5 * tile) for _ in "mnk")
    spec = MatmulSpec(*extents, map=rng.choice([None, Max(Operand(0), Literal(0))]))
    plan = ShardPlan(chips, rng.choice(["star", "tree"]))
    return shard(compile(spec.padded_k(tile * chips), target), plan, target)


def with_depths(program: Program, seed: int, most: int) -> Program:
    rng = random.Random(seed)
    buffers = (replace(b, depth_pages=rng.randint(1, most)) for b in program.buffers)
    return replace(program, buffers=tuple(buffers))


def with_links(program: Program, seed: int) -> Program:
    """The program on links that differ in width, pace and latency."""
    rng = random.Random(f"links {seed}")
    links = tuple(
        replace(
            link,
            width_bits=rng.choice([1, 8, 24, 256]),
            flit_cycles=rng.choice([1, 1, 2, 3]),
            latency_cycles=rng.randint(1, 60),
        )
        for link in program.links or ()
    )
    return replace(program, links=links)


class EveryPage(TokenRun):
    """Runs every page, whether or not the run repeats itself."""

    def _times_since(self, cycle: int) -> list[int]:
        return [self.pages_run]


def pages_of(program: Program) -> int:
    return program.work.result_pages


@pytest.mark.parametrize("seed", range(40))
def test_every_stage_is_timed_as_in_the_schedule(seed):
    program = random_program(seed)
    run = TokenRun(program, pages_of(program)).run()
    assert run.end == program.schedule.cycles
    assert run.sent == {t.stage: (t.first_beat, t.last_beat) for t in program.schedule.timings}


@pytest.mark.parametrize("seed", range(15))
def test_no_depth_beats_unbounded_buffers_and_those_that_never_wait_reach_them(seed):
    program = random_program(seed)
    pages = pages_of(program)
    unbounded = unbounded_end(program, pages)
    for most in (1, 2, 4, pages):
        bounded = TokenRun(with_depths(program, seed, most), pages).run()
        assert bounded.end >= unbounded
        assert bounded.waited or bounded.end == unbounded


@pytest.mark.parametrize("pages", [1, 2, 5, 37, 300])
@pytest.mark.parametrize("seed", range(20))
def test_what_is_taken_to_repeat_itself_is_what_every_page_does(seed, pages):
    """Also where depths cost cycles, and where links of unequal pace overtake each other."""
    program = with_links(random_program(seed), seed)
    for most in (1, 3, 9):
        program = with_depths(program, seed, most)
        run, full = TokenRun(program, pages).run(), EveryPage(program, pages).run()
        assert full.pages_run == pages
        assert (run.end, run.sent) == (full.end, full.sent)
        assert run.waited.keys() == full.waited.keys()


def test_most_runs_repeat_themselves_soon():
    runs = [TokenRun(random_program(seed), 10**9).run() for seed in range(20)]
    assert max(run.pages_run for run in runs) < 100


@pytest.mark.parametrize("seed", range(8))
def test_more_room_is_never_slower(seed):
    program = with_depths(random_program(seed), seed, 2)
    before = TokenRun(program, pages_of(program)).run().end
    for buffer in program.buffers:
        deeper = changed(program, buffer.name, depth_pages=buffer.depth_pages + 1)
        assert TokenRun(deeper, pages_of(program)).run().end <= before


@pytest.mark.parametrize("shape", [(8, 8, 8), (16, 24, 32), (5, 17, 9), (64, 8, 16)])
def test_one_chip_keeps_its_array_busy_from_the_first_beat_to_the_last(shape):
    program = compiled(*shape)
    m, n, k = (-(-extent // 8) for extent in shape)
    run = TokenRun(program, m * n).run()
    last_pair = LOAD + FIFO + m * n * k * 8 - 1
    assert run.end == last_pair + TILE_UNIT + 7 + FIFO
    assert run.sent["load_a"] == run.sent["load_b"] == (LOAD, last_pair - FIFO)


@pytest.mark.parametrize(("tile", "depth", "pace"), [(1, 1, 2), (1, 2, 1), (2, 1, 1)])
@pytest.mark.parametrize("operand", ["a_pages", "b_pages"])
def test_an_operand_buffer_of_a_single_beat_halves_the_rate(operand, tile, depth, pace):
    program = compiled(2 * tile, 3 * tile, 40 * tile, target=get("token-mesh", tile=tile))
    program = changed(program, operand, depth_pages=depth)
    run = TokenRun(program, 6).run()
    pairs = 6 * 40 * tile
    assert run.end == LOAD + FIFO + (pairs - 1) * pace + TILE_UNIT + tile - 1 + FIFO
    assert run.sent["load_a"] == (LOAD, LOAD + (pairs - 1) * pace)
    assert run.waited == ({operand: run.pages_run * 40 * tile - 1} if pace > 1 else {})


@pytest.mark.parametrize("handoff", ["Token", "Semaphore", "Barrier"])
def test_a_page_is_passed_on_at_once_or_when_all_of_it_is_there(handoff):
    """One page of 8 beats from chip to chip, 8 cycles away; then a fold and a store."""
    local = "Fifo" if handoff == "Semaphore" else "ValidReady"
    target = get("token-mesh", handoffs=(local, handoff))
    program = shard(compile(MatmulSpec(8, 8, 16), target), ShardPlan(2), target)
    run = TokenRun(program, 1).run()
    first_row = LOAD + FIFO + 8 - 1 + TILE_UNIT
    arrives = first_row + FIFO + 1 + 8
    readable = arrives + FIFO if handoff == "Token" else arrives + 7 + 1 + FIFO
    assert run.sent["c1.matmul"] == (first_row, first_row + 7)
    assert run.sent["c0.recv_0"] == (arrives, arrives + 7)
    assert run.sent["c0.fold"] == (readable + 1, readable + 1 + 7)
    assert run.end == readable + 1 + 7 + FIFO


def test_a_full_buffer_is_named_with_the_cycles_for_which_it_was_waited_for():
    program = changed(sharded(4), "c1.partial", depth_pages=1)
    run = TokenRun(program, 4).run()
    assert set(run.waited) == {"c1.partial"}
    assert run.waited["c1.partial"] > 0
    assert run.end > unbounded_end(program, 4)


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (
            BY_NAME["a chip sends its operand in place of its sum"].apply(sharded(2)),
            "c0.recv_0 takes pages of an operand from c1.a_pages",
        ),
        (
            BY_NAME["two stages feed each other"].apply(compiled()),
            "stages 'matmul.map', 'matmul.map.map' feed each other in a circle",
        ),
        (
            changed(sharded(4), "c2.fold", kind=MatmulTiles(2)),
            "c2.fold takes sums from c2.partial",
        ),
    ],
)
def test_what_cannot_be_run_is_refused(program, text):
    with pytest.raises(FlowError) as refusal:
        check_flow(program)
    assert text in str(refusal.value)
