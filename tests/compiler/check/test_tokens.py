"""Counting and no deadlock: what is pushed is popped, and depths are enough for full rate."""

import random
from dataclasses import replace

import numpy as np
import pytest
from compiler.passes.shard import ShardPlan

from compiler.check.token_run import TokenRun
from compiler.check.tokens import counting, no_deadlock
from compiler.check.unbounded_run import unbounded_end
from compiler.ir.edge import Barrier, Semaphore
from compiler.ir.program import Program, Trip
from compiler.ir.stage import Load, MatmulTiles, Store
from compiler.ir.walk import Loop, Walk
from compiler.pipeline import compile, run_passes, shard
from compiler.targets import get
from compiler.workload import MatmulSpec
from sim.interpreter import interpret
from tests.compiler.programs import SEMAPHORE, TOKEN, changed, compiled, lowered, sharded
from tests.mutation.mutations import BY_NAME

ONE, FOUR = compiled(), sharded(4)
PROGRAMS = [ONE, compiled(5, 17, 9), FOUR, sharded(5, "star"), sharded(3, target=SEMAPHORE)]


def walked(stage: str, *loops: tuple[int, int], program: Program = ONE) -> Program:
    walk = Walk(tuple(Loop(count, stride) for count, stride in loops))
    kind = program.stage_by_name[stage].kind
    return changed(program, stage, kind=replace(kind, walk=walk))


def tripped(*trips: Trip, program: Program = ONE) -> Program:
    return replace(program, trips=trips)


def planned(**changes: object) -> Program:
    return replace(ONE, work=replace(ONE.work, **changes))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_the_pages_that_are_counted_are_those_of_a_run(program):
    queues = interpret(program, *zeros(program)).queues.values()
    assert counting(program).holds
    assert counting(program).evidence == (
        ("buffers", len(queues)),
        ("pages", sum(queue.pushed for queue in queues)),
    )
    assert all(queue.reserved == queue.pushed == queue.popped for queue in queues)


def zeros(program: Program) -> tuple[np.ndarray, np.ndarray]:
    claim = program.claim
    return np.zeros((claim.m, claim.k), dtype=int), np.zeros((claim.k, claim.n), dtype=int)


def test_the_re_lowered_slices_of_a_long_contraction_balance():
    """512 over two chips: each product sums the 32 blocks of its own slice, not the 64."""
    program = sharded(2, k=512)
    assert counting(program).holds
    assert {s.kind.block_count for s in program.stages if isinstance(s.kind, MatmulTiles)} == {32}
    for chip in (0, 1):
        stale = changed(program, f"c{chip}.matmul", kind=MatmulTiles(64))
        assert counting(stale).violations != ()


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (
            changed(ONE, "matmul", kind=MatmulTiles(4)),
            "partial: reserved 8, pushed 8, popped 4 pages",
        ),
        (
            changed(ONE, "matmul", kind=MatmulTiles(5)),
            "a_pages: reserved 32, pushed 32, popped 30 pages",
        ),
        (
            changed(FOUR, "c2.matmul", kind=MatmulTiles(1)),
            "c2.partial: reserved 8, pushed 8, popped 4 pages",
        ),
        (
            changed(ONE, "load_a", kind=Load("a")),
            "b_pages: reserved 32, pushed 32, popped 0 pages",
        ),
        (
            changed(ONE, "store_c", kind=Store("c")),
            "partial: reserved 4, pushed 4, popped 0 pages",
        ),
        (
            BY_NAME["two stages feed each other"].apply(ONE),
            "stages 'matmul.map', 'matmul.map.map' feed each other in a circle",
        ),
        (
            tripped(replace(ONE.trips[0], times=3), *ONE.trips[1:]),
            "a: 16 pages move 2 times, stated [(16, 3)]",
        ),
        (tripped(*ONE.trips[:-1]), "c: 4 pages move 1 times, stated []"),
        (
            tripped(*ONE.trips, ONE.trips[1]),
            "b: 16 pages move 2 times, stated [(16, 2), (16, 2)]",
        ),
        (tripped(*ONE.trips, Trip("d", 1, 1)), "d: no page moves, stated [(1, 1)]"),
        (walked("load_a", (0, 8)), "a: 0 pages move 0 times, stated [(16, 2)]"),
        (replace(ONE, work=None), "the program has no work plan"),
        (
            planned(order="nm"),
            "store_c walks 2x+2 2x+1, which is not the order nm of 2 x 2 tiles that is planned",
        ),
        (planned(m_tiles=1), "which is not the order mn of 1 x 2 tiles that is planned"),
    ],
)
def test_whatever_is_counted_wrongly_is_said(program, text):
    assert any(text in violation for violation in counting(program).violations)


@pytest.mark.parametrize("order", ["mn", "nm"])
def test_either_order_of_the_plan_is_counted(order):
    program = lowered(16, 24, 64)
    program = replace(program, work=replace(compiled(16, 24, 64).work, order=order))
    assert counting(run_passes(program, TOKEN)).holds


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_the_chosen_depths_are_enough_and_the_cycles_are_said(program):
    pages = program.work.result_pages
    obligation = no_deadlock(program)
    assert obligation.holds
    assert obligation.evidence == (
        ("result pages", pages),
        ("pages run", pages),
        ("cycles", program.schedule.cycles),
        ("cycles with unbounded buffers", program.schedule.cycles),
    )


def test_a_long_run_is_followed_until_every_slot_has_been_used_again():
    program = compile(MatmulSpec(80, 80, 16), TOKEN)
    deepest = max(b.depth_pages for b in program.buffers)
    assert deepest < dict(no_deadlock(program).evidence)["pages run"] < 20


@pytest.mark.parametrize(("depth", "holds"), [(76, False), (77, True)])
def test_a_slot_that_comes_back_too_late_is_noticed_however_many_there_are(depth, holds):
    """Pages of one beat, one every other cycle, over a link of 75 cycles each way.

    Sent in cycle 0, a beat is on the link in 1, there in 76, taken in 77; its slot is known to be
    free in 153.
    """
    target = get("token-mesh", tile=1, link_latency_cycles=75, link_ports=1)
    program = shard(compile(MatmulSpec(15, 15, 4), target), ShardPlan(2), target)
    obligation = no_deadlock(changed(program, "c0.landing_0", depth_pages=depth))
    assert obligation.holds == holds
    if not holds:
        assert "room was waited for in c0.landing_0" in obligation.violations[0]


@pytest.mark.parametrize("seed", range(12))
def test_depths_hold_exactly_if_no_cycle_is_lost(seed):
    rng = random.Random(seed)
    program = rng.choice(PROGRAMS[2:])
    buffer = rng.choice(program.buffers)
    program = changed(program, buffer.name, depth_pages=rng.randint(1, 3))
    pages = program.work.result_pages
    lost = TokenRun(program, pages).run().end - unbounded_end(program, pages)
    assert no_deadlock(program).holds == (lost == 0)


def handed(handoff: object, program: Program = FOUR) -> Program:
    return changed(program, "c1.matmul->c0.recv_0", handoff=handoff)


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (changed(FOUR, "c0.landing_0", depth_pages=0), "c0.landing_0 has no room for a page"),
        (changed(FOUR, "c0.landing_0", depth_pages=-3), "c0.landing_0 has no room for a page"),
        (changed(FOUR, "c0.a_pages", depth_pages=None), "c0.a_pages has no room for a page"),
        (
            changed(FOUR, "c1.partial", depth_pages=1),
            "4 result pages take 138 cycles, but 104 with unbounded buffers; room was waited for "
            "in c1.partial",
        ),
        (
            handed(Semaphore("go", "done", ready_count=3)),
            "c1.matmul->c0.recv_0 waits for 3 receivers, but only one raises go",
        ),
        (
            handed(Barrier("ring")),
            "c1.matmul->c0.recv_0 waits at the barrier of 'ring', which nobody joins",
        ),
        (
            changed(FOUR, "c1.matmul->c0.recv_0", route=None),
            "c1.matmul->c0.recv_0 crosses chips, but no link carries it",
        ),
        (changed(ONE, "store_c", kind=Store("c")), "no result page is stored"),
        (walked("store_c", (0, 1)), "no result page is stored"),
        (
            BY_NAME["a chip sends its operand in place of its sum"].apply(FOUR),
            "takes pages of an operand from c3.a_pages",
        ),
    ],
)
def test_whatever_cannot_move_or_moves_late_is_said(program, text):
    assert any(text in violation for violation in no_deadlock(program).violations)
