"""Counting and no deadlock: what is pushed is popped, and depths are enough for full rate."""

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from compiler.check.run import run_of
from compiler.check.tokens import check_flow, counting, no_deadlock
from compiler.flow.errors import FlowError
from compiler.ir.buffer import Depth
from compiler.ir.edge import Barrier
from compiler.ir.graph import LoopOrder
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Load, MatmulTiles, Store
from compiler.ir.walk import Loop, Walk
from compiler.passes.lower import lower
from compiler.pipeline import compile, run_passes
from compiler.shard_plan import ShardPlan
from compiler.targets import get
from compiler.workload import MatmulSpec
from sim.interpreter import interpret
from tests.compiler.programs import SEMAPHORE, TOKEN, changed, compiled, sharded, spread
from tests.compiler.random_programs import shared_links
from tests.mutation.mutations import BY_NAME

ONE, FOUR = compiled(), sharded(4)
ALL = spread(mesh=Mesh(row=2, col=2), shard=(("k", "col"), ("m", "row")), result="all")
UNEVEN = spread(
    40, 24, 40, mesh=Mesh(row=3, col=2), shard=(("k", "col"), ("m", "row")), uneven=True
)
PROGRAMS = [
    ONE,
    compiled(5, 17, 9),
    FOUR,
    sharded(5, "star"),
    sharded(3, target=SEMAPHORE),
    ALL,
    UNEVEN,
]


def walked(stage: str, *loops: tuple[int, int], program: Program = ONE) -> Program:
    walk = Walk(tuple(Loop(count, stride) for count, stride in loops))
    kind = program.stage_by_name[stage].kind
    return changed(program, stage, kind=replace(kind, walk=walk))


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


def test_the_slices_of_a_long_contraction_balance():
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
            "buffer 'partial' receives 8 pages, but 'store_c' takes 4",
        ),
        (
            changed(ONE, "matmul", kind=MatmulTiles(5)),
            "buffer 'a_pages' receives 32 pages, but 'matmul' takes 30",
        ),
        (
            changed(FOUR, "c2.matmul", kind=MatmulTiles(1)),
            "buffer 'c2.landing_0' receives 4 pages, but 'c2.fold' takes 8",
        ),
        (
            changed(ONE, "load_a", kind=Load("a")),
            "it is not said how many pages buffer 'a_pages' is given",
        ),
        (
            changed(ONE, "store_c", kind=Store("c")),
            "it is not said which pages of c store_c stores",
        ),
        (
            BY_NAME["two stages feed each other"].apply(ONE),
            "stages 'matmul.map', 'matmul.map.map' feed each other in a circle",
        ),
        (walked("load_a", (0, 8)), "buffer 'b_pages' receives 32 pages, but 'matmul' takes 0"),
        (
            walked("store_c", (2, 1)),
            "buffer 'partial' receives 4 pages, but 'store_c' takes 2",
        ),
    ],
)
def test_whatever_is_counted_wrongly_is_said(program, text):
    assert any(text in violation for violation in counting(program).violations)


@pytest.mark.parametrize("order", ["mn", "nm"])
def test_either_order_of_the_loops_is_counted(order):
    program = lower(MatmulSpec(16, 24, 64), TOKEN)
    (product,) = program.graph.operations
    graph = replace(program.graph, operations=(replace(product, order=LoopOrder(order)),))
    assert counting(run_passes(replace(program, graph=graph), TOKEN)).holds


def stored(program: Program) -> int:
    """The most pages that one chip stores, from the shapes."""
    pages = Counter()
    for tensor in program.tensors:
        if tensor.value == program.claim.output:
            pages[tensor.chip] += tensor.row_tiles * tensor.col_tiles
    return max(pages.values())


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_the_chosen_depths_are_enough_and_the_cycles_are_said(program):
    obligation = no_deadlock(program)
    assert obligation.holds
    figures = dict(obligation.evidence)
    assert figures["pages run"] <= figures["result pages"]
    assert obligation.evidence == (
        ("result pages", stored(program)),
        ("pages run", figures["pages run"]),
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
    program = compile(MatmulSpec(15, 15, 4), target, ShardPlan(2))
    obligation = no_deadlock(changed(program, "c0.landing_0", depth=Depth(depth)))
    assert obligation.holds == holds
    if not holds:
        assert "room was waited for in c0.landing_0" in obligation.violations[0]


@pytest.mark.parametrize("seed", range(20))
def test_depths_hold_exactly_if_no_cycle_is_lost(seed):
    rng = random.Random(seed)
    program = rng.choice(PROGRAMS[2:])
    buffer = rng.choice(program.buffers)
    program = changed(program, buffer.name, depth=Depth(rng.randint(1, 3)))
    lost = run_of(program).end - run_of(program).unbounded_end
    assert no_deadlock(program).holds == (lost == 0)


def test_a_chip_that_ends_early_may_lose_cycles():
    """Of 3 rows over 2 chips, the second has one; only the end of the whole run counts."""
    program = spread(24, 8, 64, mesh=Mesh(tp=2), shard=(("m", "tp"),), uneven=True)
    slow, fast = (
        no_deadlock(changed(program, f"c{chip}.{side}_pages", depth=Depth(1)))
        for chip, side in ((0, "a"), (1, "a"))
    )
    assert slow.holds
    assert fast.holds


def handed(handoff: object, program: Program = FOUR) -> Program:
    return changed(program, "c1.matmul->c0.recv_0", handoff=handoff)


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (changed(FOUR, "c0.landing_0", depth=Depth(0)), "c0.landing_0 has no room for a page"),
        (changed(FOUR, "c0.landing_0", depth=Depth(-3)), "c0.landing_0 has no room for a page"),
        (changed(FOUR, "c0.a_pages", depth=None), "c0.a_pages has no room for a page"),
        (
            changed(FOUR, "c1.partial", depth=Depth(1)),
            "4 result pages take 138 cycles, but 104 with unbounded buffers; room was waited for "
            "in c1.partial",
        ),
        (
            handed(Barrier("ring")),
            "c1.matmul->c0.recv_0 waits at the barrier of 'ring', which nobody joins",
        ),
        (
            changed(FOUR, "c1.matmul->c0.recv_0", link=None),
            "c1.matmul->c0.recv_0 crosses chips, but no link carries it",
        ),
        (changed(ONE, "store_c", kind=Store("c")), "no result page is stored"),
        (walked("store_c", (0, 1)), "but 'store_c' takes 0"),
        (
            BY_NAME["a chip sends its operand in place of its sum"].apply(FOUR),
            "takes pages of an operand from c3.a_pages",
        ),
    ],
)
def test_whatever_cannot_move_or_moves_late_is_said(program, text):
    assert any(text in violation for violation in no_deadlock(program).violations)


def test_a_barrier_of_edges_that_have_unequal_pages_is_refused():
    """Those of the edge that carries twice as many have nobody to meet."""
    program = shared_links(0)
    program = replace(
        program,
        edges=tuple(
            replace(edge, handoff=Barrier("star_reduce")) if program.crosses(edge) else edge
            for edge in program.edges
        ),
    )
    (text,) = no_deadlock(program).violations
    assert text.startswith("edges of the barrier of 'star_reduce' have ")
    assert text.endswith(" pages, not as many each")


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
