"""Schedule: stated cycles are possible, keep every dependence, and are those of the tokens."""

from dataclasses import replace

import pytest

from compiler.check.schedule import schedule
from compiler.ir.buffer import Depth
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program, StageTiming
from compiler.ir.stage import MatmulTiles, Store
from compiler.pipeline import compile
from compiler.targets import get
from compiler.workload import MatmulSpec
from tests.compiler.programs import SEMAPHORE, TOKEN, changed, compiled, sharded, spread
from tests.compiler.random_programs import random_mesh_program, random_ring, shared_links

ONE, FOUR = compiled(), sharded(4)
NARROW = sharded(4, target=get("token-mesh", link_width_bits=8))
LAST = FOUR.schedule.cycles


def stated(program: Program = FOUR, **changes: object) -> Program:
    return replace(program, schedule=replace(program.schedule, **changes))


def timed(stage: str, program: Program = FOUR, **changes: int) -> Program:
    timings = tuple(
        replace(timing, **changes) if timing.stage == stage else timing
        for timing in program.schedule.timings
    )
    return stated(program, timings=timings)


@pytest.mark.parametrize(
    "program",
    [ONE, FOUR, NARROW, sharded(3, target=SEMAPHORE), compile(MatmulSpec(80, 80, 16), TOKEN)],
    ids=lambda p: f"{p.name} on {p.target.link_width_bits} bits",
)
def test_what_the_compiler_states_is_possible(program):
    claim, tile = program.claim, program.tile
    pages = -(-claim.m // tile) * -(-claim.n // tile)
    array = pages * -(-claim.k // (tile * program.chip_count)) * tile
    link = (pages - 1) * tile * -(-32 * tile // program.target.link_width_bits)
    obligation = schedule(program)
    assert obligation.holds
    assert obligation.evidence == (
        ("stated cycles", program.schedule.cycles),
        ("least cycles", max(array, link if program.links else 0)),
    )


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (replace(FOUR, schedule=None), "the program has no schedule"),
        (stated(cycles=63), "63 cycles are stated, but 64 are needed at least"),
        (
            stated(NARROW, cycles=700),
            "700 cycles are stated, but 768 are needed at least",
        ),
        (stated(ideal_cycles=63), "63 ideal cycles are stated, but the arrays need 64"),
        (stated(bound="link c1->c0"), "'link c1->c0' is stated to bound the run, not 'compute'"),
        (
            stated(NARROW, bound="compute"),
            "'compute' is stated to bound the run, not 'link c1->c0'",
        ),
        (stated(cycles=LAST - 1), f"the last store ends at {LAST}, not at the stated {LAST - 1}"),
        (
            stated(timed("c0.store_c", last_beat=LAST + 9), cycles=LAST + 9),
            f"{LAST + 9} cycles are stated, but the tokens take {LAST}",
        ),
        (
            timed("c0.recv_0", first_beat=23),
            "c0.recv_0 begins at cycle 23, but c1.matmul sends its first beat at 24",
        ),
        (
            timed("c0.fold", first_beat=34),
            "c0.fold begins at cycle 34, but c0.recv_0 sends its first beat at 34",
        ),
        (
            timed("c0.recv_0", last_beat=87),
            "c0.recv_0 ends at cycle 87, but c1.matmul sends its last beat at 79",
        ),
        (
            timed("c0.matmul", first_beat=23),
            "c0.matmul is said to send from 23 to 79, but the tokens pass from 24 to 79",
        ),
        (
            timed("c1.load_b", last_beat=63),
            "c1.load_b is said to send from 1 to 63, but the tokens pass from 1 to 64",
        ),
        (stated(timings=FOUR.schedule.timings[1:]), "c0.load_a has no time"),
        (
            stated(timings=(*FOUR.schedule.timings, FOUR.schedule.timings[3])),
            "c0.recv_0 has 2 times",
        ),
        (
            stated(timings=(*FOUR.schedule.timings, StageTiming("nobody", 1, 2))),
            "nobody has a time, but is no stage",
        ),
    ],
)
def test_whatever_is_impossible_is_said(program, text):
    assert text in schedule(program).violations


@pytest.mark.parametrize(
    "program",
    [
        changed(FOUR, "c0.landing_0", depth=None),
        changed(FOUR, "c0.landing_0", depth=Depth(-1)),
        changed(FOUR, "c1.matmul->c0.recv_0", link=None),
        changed(FOUR, "c0.store_c", kind=Store("c")),
        changed(FOUR, "c2.fold", kind=MatmulTiles(2)),
    ],
    ids=["no depth", "negative depth", "no link", "no walk", "product of sums"],
)
def test_what_cannot_be_run_is_left_to_the_other_obligations(program):
    """They say why; this one says what it can without a run, and does not fail."""
    assert not any("tokens" in violation for violation in schedule(program).violations)


def test_either_bound_may_be_stated_where_array_and_link_take_the_same():
    """A page of 8 x 8 sums of 32 bits over 128 wires takes 16 cycles, and so do two blocks."""
    program = sharded(4, target=get("token-mesh", link_width_bits=128))
    bounds = ("compute", *(f"link {link.name}" for link in program.links))
    assert all(schedule(stated(program, bound=bound)).holds for bound in bounds)
    assert not schedule(stated(program, bound="link c9->c0")).holds


@pytest.mark.parametrize("draw", [random_mesh_program, random_ring, shared_links])
@pytest.mark.parametrize("seed", range(15))
def test_meshes_and_shared_links_are_timed_as_the_tokens_run(draw, seed):
    program = draw(seed)
    assert schedule(program).violations == ()


def test_what_most_is_needed_of_is_what_needs_most_over_the_whole_run():
    """Of 5 rows of tiles over 2 chips, the first has 3: its arrays need the most."""
    program = spread(40, 16, 64, mesh=Mesh(tp=2), shard=(("m", "tp"),), uneven=True)
    ideal = 3 * 2 * 64
    assert program.schedule.ideal_cycles == ideal
    assert schedule(program).evidence == (
        ("stated cycles", program.schedule.cycles),
        ("least cycles", ideal),
    )
    short = f"{2 * 2 * 64} ideal cycles are stated, but the arrays need {ideal}"
    assert short in schedule(stated(program, ideal_cycles=2 * 2 * 64)).violations
