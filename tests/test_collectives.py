"""Collectives by themselves are certified, exact, and take the predicted cycles on every engine."""

from dataclasses import replace

import numpy as np
import pytest

from compiler import targets
from compiler.check import check
from compiler.collective_spec import CHANGES
from compiler.errors import SharedLinkBarrierError
from compiler.ir.buffer import Depth
from compiler.ir.dtype import INT16, INT32
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Load
from compiler.passes.memory import allocate
from compiler.passes.page_ways import HOPS
from compiler.passes.schedule import schedule
from compiler.pipeline import run_passes
from compiler.targets import LinkKind
from sim.cosim.cosimulate import cosimulate
from sim.interpreter import interpret
from sim.simulate import simulate
from tests.collective_programs import TARGET, TILE, collective, given, made
from tests.compiler.random_programs import with_depth
from tests.cosim.tools import needs
from tests.hw.simulation import idle
from tests.hw.simulation import simulate as simulate_hardware
from tests.hw.system_bench import SETTLING_CYCLES, SystemBench
from tests.tiers import chosen

KINDS, ALGORITHMS = tuple(CHANGES), tuple(HOPS)
COMBINING = [kind for kind, change in CHANGES.items() if change.combines]


@pytest.fixture(autouse=True)
def models(tmp_path_factory, monkeypatch):
    """Models of the compiled engine go where all workers of this run find them."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if base.name.startswith("popen-") else base
    monkeypatch.setattr("sim.compiled.cache.cache_folder", lambda: shared / "models")


def assert_certified(program: Program) -> None:
    """Certified, and right in the interpreter, with nothing left."""
    certificate = check(program)
    assert certificate.violated == ()
    assert program.certificate == certificate
    x = given(program, seed=3)
    result = interpret(program, x)
    assert np.array_equal(result.c, made(program, x))
    for queue in result.queues.values():
        assert queue.reserved == queue.pushed == queue.popped


def assert_runs(program: Program, engine: str = "amaranth") -> None:
    """Exact on every chip that is to have a part, in the predicted cycles."""
    x = given(program, seed=7)
    result = simulate(program, x, engine=engine)
    assert result.exact
    assert np.array_equal(result.c, made(program, x))
    assert result.cycles == program.schedule.cycles


def three_runs(program: Program) -> list[tuple[bool, int]]:
    """Whether each of three runs without a reset is right, and how many cycles it takes."""
    bench, runs = SystemBench(program), []

    async def testbench(ctx):
        for seed in range(3):
            await idle(ctx, SETTLING_CYCLES)
            runs.append(await bench.multiply(ctx, given(program, seed)))

    simulate_hardware(bench.dut, testbench)
    return runs


# --- Every kind by every algorithm --------------------------------------------------------------


@pytest.mark.covers("pairs")
@pytest.mark.parametrize("chips", range(2, 9))
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_by_every_algorithm_is_certified(kind, algorithm, chips):
    assert_certified(collective(kind, algorithm, chips, home=chips - 1))


@pytest.mark.covers("values")
@pytest.mark.parametrize("chips", [2, 3, 4, 5])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kind", KINDS)
def test_three_runs_without_a_reset_are_exact_and_on_time(kind, algorithm, chips):
    """With other elements in each."""
    program = collective(kind, algorithm, chips, home=chips // 2)
    assert three_runs(program) == [(True, program.schedule.cycles)] * 3


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kind", KINDS)
def test_seven_and_eight_chips_are_exact_and_on_time(kind, algorithm):
    for chips in (7, 8):
        assert_runs(collective(kind, algorithm, chips, home=1))


ON_COMPILED_MODELS = [(kind, algorithm) for kind in KINDS for algorithm in ALGORITHMS]


@pytest.mark.cosim
@pytest.mark.parametrize("point", chosen(ON_COMPILED_MODELS, [], ids=" ".join))
def test_compiled_models_take_as_many_cycles(point):
    needs("compiled")
    assert_runs(collective(*point, 3, home=2), engine="compiled")


ON_ICARUS = [
    ("all_reduce", "ring"),
    ("reduce_scatter", "tree"),
    ("reduce", "chain"),
    ("all_gather", "ring-both-ways"),
    ("broadcast", "star"),
    ("all_to_all", "ring"),
]


@pytest.mark.cosim
@pytest.mark.parametrize("point", chosen(ON_ICARUS, [("reduce_scatter", "tree")], ids=" ".join))
def test_the_emitted_verilog_is_exact_and_on_time_in_every_run(point):
    """Also without a reset, and with starts and resets in the middle of a run."""
    needs("icarus")
    program = collective(*point, 3)
    x = given(program, seed=7)
    result = cosimulate(program, x, simulator="icarus", every_test=True)
    assert result.exact
    assert np.array_equal(result.c, made(program, x))
    assert result.cycles == program.schedule.cycles


# --- Who ends up with what ----------------------------------------------------------------------

PARTS = {
    "reduce": {2: range(8)},
    "gather": {2: range(8)},
    "broadcast": dict.fromkeys(range(4), range(8)),
    "all_reduce": dict.fromkeys(range(4), range(8)),
    "all_gather": dict.fromkeys(range(4), range(8)),
    "scatter": {chip: range(2 * chip, 2 * chip + 2) for chip in range(4)},
    "reduce_scatter": {chip: range(2 * chip, 2 * chip + 2) for chip in range(4)},
    "all_to_all": {chip: range(2 * chip, 2 * chip + 2) for chip in range(4)},
}
"""By kind, the columns that the chips of a group of four end up with, where chip 2 is home."""


@pytest.mark.parametrize("algorithm", ["ring", "star"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_chips_that_are_to_have_something_have_it(kind, algorithm):
    program = collective(kind, algorithm, 4, cols=8, home=2)
    x = given(program, seed=1)
    stored = interpret(program, x).stored
    assert {int(name[1]): array.tolist() for name, array in stored.items()} == {
        chip: made(program, x)[:, cols].tolist() for chip, cols in PARTS[kind].items()
    }


@pytest.mark.parametrize("kind", ["broadcast", "scatter"])
def test_one_chip_alone_brings_in_what_goes_out_from_it(kind):
    program = collective(kind, "tree", 4, home=3)
    assert {s.chip for s in program.stages if isinstance(s.kind, Load)} == {3}


# --- Odd numbers of chips and of pages ----------------------------------------------------------


@pytest.mark.covers("values")
@pytest.mark.parametrize("algorithm", ["ring", "ring-both-ways"])
@pytest.mark.parametrize("chips", [3, 5, 7, 10])
@pytest.mark.parametrize("kind", ["all_reduce", "all_gather", "all_to_all"])
def test_rings_of_so_many_chips_are_certified(kind, algorithm, chips):
    assert_certified(collective(kind, algorithm, chips))


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["ring", "ring-both-ways", "tree"])
@pytest.mark.parametrize("chips", [7, 10])
def test_sums_of_so_many_chips_are_exact_and_on_time(chips, algorithm):
    assert_runs(collective("all_reduce", algorithm, chips))


ODD_SHAPES = {
    "the last tiles are cut off": (3, 13),
    "pages do not divide": (2, 10),
    "fewer pages than chips": (2, 4),
    "a single page": (2, 2),
    "a single element": (1, 1),
}
"""Rows and columns of what is made, for 4 chips and tiles of 2."""


def of_shape(kind: str, algorithm: str, name: str) -> Program:
    rows, cols = ODD_SHAPES[name]
    whole = -(-rows // TILE) * TILE  # slices that are combined meet between tiles
    return collective(
        kind, algorithm, 4, rows=whole if kind in COMBINING else rows, cols=cols, home=1
    )


@pytest.mark.covers("pairs")
@pytest.mark.parametrize("name", ODD_SHAPES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kind", ["all_reduce", "reduce", "broadcast"])
def test_any_number_of_pages_is_certified(kind, algorithm, name):
    assert_certified(of_shape(kind, algorithm, name))


@pytest.mark.covers("values")
@pytest.mark.parametrize("name", ODD_SHAPES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kind", ["all_reduce", "reduce", "broadcast"])
def test_any_number_of_pages_is_exact_and_on_time(kind, algorithm, name):
    assert_runs(of_shape(kind, algorithm, name))


@pytest.mark.covers("values")
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kind", ["reduce_scatter", "all_gather", "gather", "scatter"])
def test_slices_may_differ_by_a_tile(kind, algorithm):
    assert_certified(collective(kind, algorithm, 4, cols=13))


@pytest.mark.covers("values")
@pytest.mark.parametrize("rows", [9, 12])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_rows_that_are_dealt_out_may_be_many_and_differ_by_a_tile(algorithm, rows):
    """As many on each chip go round by round, a row of tiles of each; others all in one."""
    assert_certified(collective("all_to_all", algorithm, 3, rows=rows, cols=11))


# --- Several groups at once ---------------------------------------------------------------------

GRID = Mesh(row=2, col=3)


@pytest.mark.covers("values")
@pytest.mark.parametrize("axis", GRID.names)
@pytest.mark.parametrize("kind", KINDS)
def test_every_group_along_an_axis_does_the_same(kind, axis):
    program = collective(kind, "ring", GRID, axis=axis, home=1)
    assert_certified(program)
    assert [c.chips for c in program.collectives] == list(GRID.groups(axis))


SIDE_BY_SIDE = [(kind, axis) for kind in ("all_reduce", "all_to_all") for axis in GRID.names]


@pytest.mark.parametrize("point", chosen(SIDE_BY_SIDE, [("all_reduce", "col")], ids=" ".join))
def test_rings_side_by_side_are_exact_and_on_time(point):
    kind, axis = point
    assert_runs(collective(kind, "ring", GRID, axis=axis, cols=6))


def test_a_sum_along_one_axis_and_then_along_the_other_is_the_sum_of_all():
    """Each chip has slices of its own: what rows make is what columns are given."""
    first = collective("all_reduce", "ring", GRID, axis="col", rows=4, cols=6)
    second = collective("all_reduce", "ring", GRID, axis="row", rows=2, cols=6)
    x = np.random.default_rng(2).integers(-1000, 1000, (12, 6))
    result = interpret(second, interpret(first, x).c).c
    assert np.array_equal(result, x.reshape(6, 2, 6).sum(axis=0))


# --- Other links, other types, other ways to combine --------------------------------------------

LINKS = (LinkKind("cable", 8, 21, 3), LinkKind("bus", 128, 2), LinkKind("slow", 32, 40, 2))


def with_unequal_links(program: Program) -> Program:
    """Each link is of another kind than the one before, and all else is chosen anew."""
    target = replace(TARGET, link_kinds=LINKS)
    links = tuple(
        replace(
            link,
            width_bits=kind.width_bits,
            latency_cycles=kind.latency_cycles,
            flit_cycles=kind.flit_cycles,
        )
        for link, kind in zip(program.links, LINKS * len(program.links), strict=False)
    )
    return run_passes(replace(with_depth(program, None), links=links, memory=()), target)


@pytest.mark.covers("values")
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kind", ["all_reduce", "all_gather", "reduce"])
def test_unequal_links_are_certified(kind, algorithm):
    assert_certified(with_unequal_links(collective(kind, algorithm, 4)))


ON_UNEQUAL_LINKS = [
    (kind, algorithm)
    for kind in ("all_reduce", "all_gather", "reduce", "all_to_all")
    for algorithm in ALGORITHMS
]


@pytest.mark.parametrize(
    "point", chosen(ON_UNEQUAL_LINKS, [("all_reduce", "ring-both-ways")], ids=" ".join)
)
def test_unequal_links_are_exact_and_on_time(point):
    assert_runs(with_unequal_links(collective(*point, 3)))


def with_single_credits(program: Program) -> Program:
    """What lands on a chip has room for one page, so each page waits for the one before."""
    landing = {program.landing(e).name for e in program.edges if program.crosses(e)}
    buffers = tuple(
        replace(buffer, depth=Depth(1)) if buffer.name in landing else buffer
        for buffer in program.buffers
    )
    return schedule(allocate(replace(program, buffers=buffers, memory=())))


@pytest.mark.covers("values")
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kind", ["all_reduce", "all_gather", "reduce"])
def test_single_credits_slow_a_collective_down_but_do_not_stop_it(kind, algorithm):
    """So the program is refused, for that reason alone."""
    program = collective(kind, algorithm, 4, rows=8)
    slow = with_single_credits(program)
    (violated,) = check(slow).violated
    assert violated.name == "no deadlock"
    assert f"but {program.schedule.cycles} with unbounded buffers" in violated.violations[0]
    assert slow.schedule.cycles > program.schedule.cycles
    x = given(slow, seed=5)
    assert np.array_equal(interpret(slow, x).c, made(slow, x))


WITH_SINGLE_CREDITS = [(kind, name) for kind in ("all_reduce", "all_to_all") for name in ALGORITHMS]


@pytest.mark.parametrize(
    "point", chosen(WITH_SINGLE_CREDITS, [("all_reduce", "ring")], ids=" ".join)
)
def test_the_hardware_takes_as_long_as_is_predicted_with_single_credits(point):
    program = with_single_credits(collective(*point, 3))
    assert three_runs(program) == [(True, program.schedule.cycles)] * 3


@pytest.mark.parametrize("dtype", [INT16, INT32], ids=str)
@pytest.mark.parametrize("combine", ["sum", "max"])
@pytest.mark.parametrize("kind", COMBINING)
def test_sums_and_maxima_of_any_type_are_certified(kind, combine, dtype):
    assert_certified(collective(kind, "ring", 3, combine=combine, dtype=dtype))


@pytest.mark.parametrize(
    ("combine", "dtype"), [("max", INT32), ("sum", INT16), ("max", INT16)], ids=str
)
def test_sums_and_maxima_of_any_type_are_exact_and_on_time(combine, dtype):
    assert_runs(collective("reduce", "tree", 3, combine=combine, dtype=dtype))


def test_elements_of_half_the_width_take_half_the_time_on_a_narrow_link():
    narrow = targets.get("token-mesh", tile=2, link_width_bits=8, link_latency_cycles=1)
    wide, half = (
        collective("broadcast", "chain", 2, rows=64, dtype=dtype, target=narrow).schedule.cycles
        for dtype in (INT32, INT16)
    )
    assert 1.9 < wide / half < 2.1


def test_the_greatest_of_the_least_elements_is_found():
    """Nothing stands for an element that is less than all of them."""
    program = collective("all_reduce", "ring", 3, combine="max")
    x = np.full((6, 8), INT32.low)
    assert np.array_equal(interpret(program, x).c, x[:2])


@pytest.mark.parametrize("algorithm", ["ring", "star"])
def test_semaphores_carry_a_collective(algorithm):
    target = targets.get("semaphore-mesh", tile=2, link_ports=8, compute_engines=8)
    assert_certified(collective("all_reduce", algorithm, 3, target=target))


def test_barriers_carry_what_shares_no_link_and_refuse_the_rest():
    target = targets.get("barrier-mesh", tile=2, link_ports=8)
    assert_certified(collective("reduce", "star", 3, target=target))
    with pytest.raises(SharedLinkBarrierError, match="use a target with tokens or semaphores"):
        collective("all_reduce", "star", 3, target=target)


# --- What is predicted --------------------------------------------------------------------------

WIDE = replace(TARGET, tile=4)
CYCLES = {
    (4, 64): {"ring": 412, "ring-both-ways": 227, "star": 151},
    (32, 128): {"ring": 3852, "ring-both-ways": 1952},
    (512, 128): {"ring": 61452, "ring-both-ways": 30752},
}
"""By rows and columns of an all-reduce over 16 chips, the cycles that each algorithm takes."""
POINTS = [(rows, cols, name) for (rows, cols), by in CYCLES.items() for name in by]


@pytest.mark.parametrize("point", chosen(POINTS, [(4, 64, "ring"), (4, 64, "ring-both-ways")]))
def test_an_all_reduce_takes_so_many_cycles(point):
    rows, cols, algorithm = point
    program = collective("all_reduce", algorithm, 16, rows=rows, cols=cols, target=WIDE)
    assert program.certificate == check(program)
    assert program.certificate.holds
    assert program.schedule.cycles == CYCLES[rows, cols][algorithm]
