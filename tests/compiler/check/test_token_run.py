"""The token run: cycle for cycle what the performance model says, from other code."""

from dataclasses import replace

import pytest

from compiler.check.run import ProgramRun, run_of
from compiler.check.token_run import TokenRun
from compiler.check.unbounded_run import unbounded_end
from compiler.ir.body import Add, Body, Operand, left_fold
from compiler.ir.buffer import Depth
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Copy, Fold, Merge, Split
from compiler.pipeline import compile, run_passes
from compiler.shard_plan import ShardPlan
from compiler.targets import get
from compiler.workload import MatmulSpec
from tests.compiler.programs import changed, compiled, partitioned, sharded, spread
from tests.compiler.random_programs import (
    parts_of,
    random_falling_program,
    random_mesh_program,
    random_program,
    random_ring,
    shared_links,
    with_depth,
    with_depths,
    with_links,
)

LOAD, FIFO, TILE_UNIT = 1, 1, 7
"""Cycles through a load, a FIFO and a tile unit, as the tests of the components hold them."""
ANY = [random_program, random_mesh_program, random_ring, shared_links, random_falling_program]


class EveryRound(TokenRun):
    """Runs every round, whether or not the run repeats itself."""

    def _times_since(self, cycle: int) -> list[int]:
        return [self.rounds_run]


def only_run(program: Program) -> TokenRun:
    """The run of a program of one component."""
    (run,) = run_of(program).runs
    return run


def timed(program: Program) -> dict[str, tuple[int, int]]:
    return {t.stage: (t.first_beat, t.last_beat) for t in program.schedule.timings}


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("draw", ANY)
def test_every_stage_is_timed_as_in_the_schedule(draw, seed):
    program = draw(seed)
    run = run_of(program)
    assert run.end == program.schedule.cycles
    assert run.sent == timed(program)


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("draw", ANY)
def test_no_depth_beats_unbounded_buffers_and_those_that_never_wait_reach_them(draw, seed):
    program = draw(seed)
    for part in parts_of(program):
        unbounded = unbounded_end(program, part)
        for most in (1, 2, 4, part.rounds):
            bounded = TokenRun(with_depths(program, seed, most), part).run()
            assert not bounded.stuck
            assert bounded.end >= unbounded
            assert bounded.waited or bounded.end == unbounded


@pytest.mark.covers("pairs")
@pytest.mark.parametrize("rounds", [1, 2, 5, 37, 300])
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("draw", ANY)
def test_what_is_taken_to_repeat_itself_is_what_every_round_does(draw, seed, rounds):
    """Also where depths cost cycles, and where links of unequal pace overtake each other."""
    program = with_links(draw(seed), seed)
    part = parts_of(program, rounds)[0]
    for most in (1, 3, 9):
        program = with_depths(program, seed, most)
        run, full = TokenRun(program, part).run(), EveryRound(program, part).run()
        assert full.rounds_run == rounds
        assert (run.end, run.sent) == (full.end, full.sent)
        assert run.waited.keys() == full.waited.keys()


def test_most_runs_repeat_themselves_soon():
    programs = [random_program(seed) for seed in range(20)]
    runs = [TokenRun(program, parts_of(program, 10**9)[0]).run() for program in programs]
    assert max(run.rounds_run for run in runs) < 100


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("draw", ANY)
def test_more_room_is_never_slower(draw, seed):
    program = with_depths(draw(seed), seed, 2)
    before = run_of(program).end
    for buffer in program.buffers:
        deeper = changed(program, buffer.name, depth=Depth(buffer.depth_pages + 1))
        assert run_of(deeper).end <= before


@pytest.mark.parametrize("shape", [(8, 8, 8), (16, 24, 32), (5, 17, 9), (64, 8, 16)])
def test_one_chip_keeps_its_array_busy_from_the_first_beat_to_the_last(shape):
    run = only_run(compiled(*shape))
    m, n, k = (-(-extent // 8) for extent in shape)
    last_pair = LOAD + FIFO + m * n * k * 8 - 1
    assert run.end == last_pair + TILE_UNIT + 7 + FIFO
    assert run.sent["load_a"] == run.sent["load_b"] == (LOAD, last_pair - FIFO)


@pytest.mark.parametrize(("tile", "depth", "pace"), [(1, 1, 2), (1, 2, 1), (2, 1, 1)])
@pytest.mark.parametrize("operand", ["a_pages", "b_pages"])
def test_an_operand_buffer_of_a_single_beat_halves_the_rate(operand, tile, depth, pace):
    program = compiled(2 * tile, 3 * tile, 40 * tile, target=get("token-mesh", tile=tile))
    run = only_run(changed(program, operand, depth=Depth(depth)))
    pairs = 6 * 40 * tile
    assert run.end == LOAD + FIFO + (pairs - 1) * pace + TILE_UNIT + tile - 1 + FIFO
    assert run.sent["load_a"] == (LOAD, LOAD + (pairs - 1) * pace)
    assert run.waited == ({operand: run.rounds_run * 40 * tile - 1} if pace > 1 else {})


@pytest.mark.parametrize("handoff", ["Token", "Semaphore", "Barrier"])
def test_a_page_is_passed_on_at_once_or_when_all_of_it_is_there(handoff):
    """One page of 8 beats from chip to chip, 8 cycles away; then a fold and a store."""
    local = "Fifo" if handoff == "Semaphore" else "ValidReady"
    target = get("token-mesh", handoffs=(local, handoff))
    run = only_run(compile(MatmulSpec(8, 8, 16), target, ShardPlan(2)))
    first_row = LOAD + FIFO + 8 - 1 + TILE_UNIT
    arrives = first_row + FIFO + 1 + 8
    readable = arrives + FIFO if handoff == "Token" else arrives + 7 + 1 + FIFO
    assert run.sent["c1.matmul"] == (first_row, first_row + 7)
    assert run.sent["c0.recv_0"] == (arrives, arrives + 7)
    assert run.sent["c0.fold"] == (readable + 1, readable + 1 + 7)
    assert run.end == readable + 1 + 7 + FIFO


def test_a_copy_takes_no_cycle_of_its_own():
    """It passes a beat on in the cycle in which it can read it, to all of its outputs."""
    run = only_run(spread(8, 8, 16, mesh=Mesh(tp=2), result="all"))
    first, last = run.sent["c0.fold"]
    assert run.sent["c0.copy"] == (first + FIFO, last + FIFO)
    assert run.sent["c0.store_c"] == (first + 2 * FIFO, last + 2 * FIFO)
    assert run.sent["c1.recv_whole"] == (first + 2 * FIFO + 1 + 8, last + 2 * FIFO + 1 + 8)


def test_chips_that_never_talk_run_by_themselves_and_once_if_they_are_alike():
    """Of 5 rows of tiles over 3 chips, two have 2 and one has 1."""
    program = spread(40, 8, 8, mesh=Mesh(tp=3), shard=(("m", "tp"),), uneven=True)
    run = run_of(program)
    assert [len(group) for group in run.groups] == [2, 1]
    assert [only.end for only in run.runs] == [
        LOAD + FIFO + rows * 8 - 1 + TILE_UNIT + 7 + FIFO for rows in (2, 1)
    ]
    assert run.sent["c0.store_c"] == run.sent["c1.store_c"] != run.sent["c2.store_c"]


def test_a_full_buffer_is_named_with_the_cycles_for_which_it_was_waited_for():
    program = changed(sharded(4), "c1.partial", depth=Depth(1))
    run = only_run(program)
    assert set(run.waited) == {"c1.partial"}
    assert run.waited["c1.partial"] > 0
    assert run.end > run_of(program).unbounded_end


def test_a_run_is_made_once_for_a_program():
    program = sharded(4)
    assert run_of(program) is run_of(program)
    assert run_of(replace(program)) is not run_of(program)
    assert isinstance(run_of(program), ProgramRun)


def kinds(program: Program) -> set[type]:
    return {type(stage.kind) for stage in program.stages}


def test_the_random_programs_have_stages_of_every_kind():
    drawn = [random_mesh_program(seed) for seed in range(15)]
    assert any(Copy in kinds(program) for program in drawn)
    shared = [shared_links(seed) for seed in range(15)]
    assert sum({Merge, Split} <= kinds(program) for program in shared) > 5


def in_turns(turns: tuple[int, ...], depth: int) -> Program:
    """Chip 2 reaches the home chip by way of chip 1, whose own sums go over the same link."""
    program = partitioned(3, "star")
    edges = tuple(
        replace(edge, via=(1,)) if edge.source == "c2.matmul" else edge for edge in program.edges
    )
    program = run_passes(replace(program, edges=edges), program.target)
    for kind in (Merge, Split):
        (stage,) = (stage for stage in program.stages if isinstance(stage.kind, kind))
        program = changed(program, stage.name, kind=kind(turns))
    return with_depth(program, depth)


def test_turns_that_leave_no_room_for_what_is_waited_for_get_stuck_and_it_is_said_who_waits():
    """A fold takes a page of each; two of one in a row need a slot for the second."""
    assert not run_of(in_turns((0, 1), 1)).stuck
    assert not run_of(in_turns((0, 0, 1, 1), 2)).stuck
    (stuck,) = run_of(in_turns((0, 0, 1, 1), 1)).stuck
    assert stuck == (
        "no stage can go on: c0.fold waits for a page in c0.landing_1, "
        "c0.split_c1 waits for room in c0.landing_0"
    )


def star_of(body: Body, chips: int) -> Program:
    program = sharded(chips, "star", k=8 * chips, target=get("token-mesh", link_ports=chips))
    return changed(program, "c0.fold", kind=Fold(body))


def test_a_fold_takes_as_many_cycles_as_its_longest_way_has_operations():
    operands = [Operand(index) for index in range(8)]
    pairs = [Add(*operands[index : index + 2]) for index in range(0, 8, 2)]
    balanced = Add(Add(pairs[0], pairs[1]), Add(pairs[2], pairs[3]))
    ends = [run_of(star_of(body, 8)).unbounded_end for body in (balanced, left_fold(8))]
    assert ends[1] - ends[0] == 7 - 3
