"""Products on simulated chips: equal to numpy's, in exactly the cycles that were predicted."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.ir.body import Add, Literal, Max, Operand
from compiler.ir.init import Pattern
from compiler.ir.mesh import Mesh
from compiler.ir.tensor import ValueRange
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from hw import system
from sim import simulate as module
from sim.amaranth_engine import AmaranthEngine
from sim.errors import CyclesDifferError, OperandRangeError, SimulationHangError
from sim.simulate import simulate
from tests.programs import finished, program_for, random_operands
from tests.sim.broken import CutChannel
from tests.tiers import chosen

TARGETS = ("token-mesh", "semaphore-mesh")

# m, n, k; tile, link width, link latency; chips, reduction.
CONFIGURATIONS = [
    # One chip: whole tiles, edge tiles, vectors, one element, one block of the contraction.
    ((16, 16, 64), (8, 256, 8), (1, "tree")),
    ((13, 11, 29), (8, 256, 8), (1, "tree")),
    ((1, 1, 1), (1, 8, 1), (1, "tree")),
    ((1, 20, 7), (4, 64, 4), (1, "star")),
    ((17, 1, 16), (16, 256, 8), (1, "tree")),
    ((9, 9, 2), (2, 64, 8), (1, "tree")),
    # Trees, whose chip counts need not be powers of two.
    ((8, 8, 32), (4, 128, 8), (2, "tree")),
    ((5, 6, 24), (4, 128, 3), (3, "tree")),
    ((12, 3, 20), (2, 64, 8), (5, "tree")),
    ((6, 7, 21), (3, 96, 11), (7, "tree")),
    ((4, 9, 26), (2, 64, 1), (13, "tree")),
    ((8, 8, 64), (4, 128, 8), (16, "tree")),
    ((3, 5, 16), (1, 32, 20), (16, "tree")),
    # Stars, up to the ports that a chip has.
    ((8, 8, 32), (4, 128, 8), (4, "star")),
    ((7, 10, 36), (4, 128, 1), (9, "star")),
    ((5, 4, 12), (2, 64, 20), (6, "star")),
    # Links that are the bottleneck: narrow, or of a width that divides no beat.
    ((16, 8, 16), (4, 4, 8), (2, "tree")),
    ((8, 8, 16), (4, 24, 5), (4, "tree")),
    ((6, 6, 16), (2, 7, 13), (8, "tree")),
    ((4, 12, 15), (5, 33, 2), (3, "star")),
    # A link wider than a beat; a single block for each chip, so that results come in a row.
    ((16, 12, 16), (4, 1000, 20), (4, "tree")),
    ((20, 20, 3), (1, 16, 6), (3, "star")),
    # Many more result pages than any buffer holds.
    ((32, 36, 8), (4, 40, 17), (2, "tree")),
]


def named(configuration) -> str:
    (m, n, k), (tile, width, latency), (chips, reduce) = configuration
    return f"{m}x{n}x{k}-tile{tile}-{width}bit-{latency}cycles-{reduce}{chips}"


IN_EVERY_RUN = [CONFIGURATIONS[i] for i in (1, 2, 3, 5, 7, 8, 12, 15, 16, 19)]
"""Those of each kind that take least."""


@pytest.mark.covers("values")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("configuration", chosen(CONFIGURATIONS, IN_EVERY_RUN, ids=named))
def test_product_is_exact_and_takes_the_predicted_cycles(configuration, target):
    shape, (tile, width, latency), (chips, reduce) = configuration
    program = program_for(
        *shape,
        tile=tile,
        chips=chips,
        reduce=reduce,
        target=target,
        link_width_bits=width,
        link_latency_cycles=latency,
    )
    a, b = random_operands(program, 1)
    result = simulate(program, a, b)
    assert result.c.dtype == np.int32
    assert np.array_equal(result.c, a @ b)
    assert result.exact
    assert result.cycles == program.schedule.cycles


GRID = Mesh(row=2, col=2)
PLANS = {
    "all of two": ShardPlan(2, result="all"),
    "all of three by a star": ShardPlan(3, "star", result="all", uneven=True),
    "all of four by a tree": ShardPlan(4, result="all", uneven=True),
    "all of seven by a tree": ShardPlan(7, result="all"),
    "rows": ShardPlan(3, shard={"m": "tp"}, uneven=True),
    "columns": ShardPlan(3, shard={"n": "tp"}, uneven=True),
    "uneven contraction": ShardPlan(4, uneven=True),
    "uneven contraction on all": ShardPlan(4, "star", uneven=True, result="all"),
    "rows and columns": ShardPlan(GRID, shard={"m": "row", "n": "col"}, uneven=True),
    "rows and contraction": ShardPlan(GRID, shard={"m": "row", "k": "col"}, uneven=True),
    "contraction and columns, on all": ShardPlan(
        GRID, shard={"k": "row", "n": "col"}, result="all", uneven=True
    ),
    "an axis for nothing": ShardPlan(GRID, shard={"k": "col"}, result="all"),
}
PLANS_IN_EVERY_RUN = (
    "all of two",
    "all of three by a star",
    "all of four by a tree",
    "uneven contraction on all",
    "rows and columns",
    "rows and contraction",
    "contraction and columns, on all",
)


@pytest.mark.covers("values")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", chosen(PLANS, PLANS_IN_EVERY_RUN))
def test_every_copy_is_exact_in_the_predicted_cycles(name, target):
    program = finished(MatmulSpec(10, 9, 28), plan=PLANS[name], target=target, tile=2)
    a, b = random_operands(program, 1)
    result = simulate(program, a, b)
    assert result.exact
    assert np.array_equal(result.c, a @ b)
    assert {*result.stored} == {tensor.name for tensor in program.tensors_of["c"]}
    for tensor, held in result.stored.items():
        (rows, cols), part = held.shape, program.tensor_by_name[tensor].part
        copy = (a @ b)[part.row : part.row + rows, part.col : part.col + cols]
        assert np.array_equal(held, copy)
    assert result.cycles == program.schedule.cycles


@pytest.mark.parametrize("chip", range(4))
def test_a_copy_that_is_wrong_on_one_chip_is_not_exact(chip, monkeypatch):
    """One word of the memory of one chip is not what the others have."""
    program = finished(MatmulSpec(4, 4, 16), plan=ShardPlan(4, result="all"))
    run = AmaranthEngine.run

    def spoilt(self, *args, **options):
        outcome = run(self, *args, **options)
        outcome.memories[f"c{chip}.c"][2] ^= 1
        return outcome

    monkeypatch.setattr(AmaranthEngine, "run", spoilt)
    result = simulate(program, *random_operands(program, 0))
    assert not result.exact
    (difference,) = result.differences(9)
    assert (difference.chip, difference.row, difference.col) == (chip, 2, 0)
    assert abs(difference.got - difference.want) == 1


@st.composite
def products(draw):
    """A small product on a machine that need not suit it, and operands with extreme values."""
    tile = draw(st.sampled_from([1, 2, 3, 4, 8]))
    chips = draw(st.integers(1, 6))
    blocks = draw(st.integers(1, 3))
    spare = draw(st.integers(0, tile - 1)) if chips == 1 else 0
    program = program_for(
        draw(st.integers(1, 3 * tile)),
        draw(st.integers(1, 3 * tile)),
        chips * blocks * tile - spare,
        chips=chips,
        reduce=draw(st.sampled_from(["star", "tree"])),
        target=draw(st.sampled_from(TARGETS)),
        tile=tile,
        link_width_bits=draw(st.integers(8, 300)),
        link_latency_cycles=draw(st.integers(1, 12)),
        link_flit_cycles=draw(st.integers(1, 3)),
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    def operand(rows: int, cols: int) -> np.ndarray:
        values = draw(st.sampled_from([(-128,), (127,), (-128, 127), range(-128, 128)]))
        return rng.choice(list(values), (rows, cols))

    claim = program.claim
    return program, operand(claim.m, claim.k), operand(claim.k, claim.n)


@pytest.mark.slow  # ``tests/test_agreement.py`` has a few such in every run
@settings(max_examples=20)
@given(product=products())
def test_any_small_product_is_exact_and_takes_the_predicted_cycles(product):
    program, a, b = product
    result = simulate(program, a, b)
    assert np.array_equal(result.c, a @ b)
    assert result.cycles == program.schedule.cycles


@pytest.mark.parametrize("chips", [1, 4])
@pytest.mark.parametrize(("x", "y"), [(-128, -128), (-128, 127), (127, 127)])
def test_extreme_operands_do_not_wrap(x, y, chips):
    program = program_for(4, 4, 64, chips=chips)
    result = simulate(program, np.full((4, 64), x), np.full((64, 4), y))
    assert result.c.tolist() == [[64 * x * y] * 4] * 4


@pytest.mark.parametrize("k", [1, 17, 23])
def test_padded_contraction_gives_the_same_product(k):
    program = program_for(5, 6, k, k_pad=24 - k, chips=3)
    a, b = random_operands(program, k)
    result = simulate(program, a, b)
    assert np.array_equal(result.c, a @ b)
    assert result.ideal_cycles == 2 * 2 * 24 // 3 * 4 // 4


@pytest.mark.parametrize(
    "form",
    [
        np.asfortranarray,
        lambda array: array.astype(">i2"),
        lambda array: array.astype(np.int64),
        lambda array: np.repeat(array, 2, axis=1)[:, ::2],
        lambda array: array[::-1][::-1],
        np.ndarray.tolist,
    ],
    ids=["Fortran", "big-endian", "int64", "strided", "reversed", "lists"],
)
def test_operands_of_any_form_give_the_same_product(form):
    program = program_for(5, 6, 16, chips=2)
    a, b = random_operands(program, 0)
    assert np.array_equal(simulate(program, form(a), form(b)).c, a @ b)


def test_values_that_the_program_states_are_multiplied():
    program = finished(MatmulSpec(3, 4, 8, a=Pattern(modulus=11, shift=5)), chips=2)
    b = np.arange(-16, 16).reshape(8, 4)
    a = (np.arange(24) % 11 - 5).reshape(3, 8)
    assert np.array_equal(simulate(program, None, b).c, a @ b)
    assert np.array_equal(simulate(program, inputs={"b": b}).c, a @ b)


@pytest.mark.parametrize("bits", [18, 32])
@pytest.mark.parametrize("chips", [1, 3])
def test_a_map_is_applied_to_the_whole_sum(chips, bits):
    """The sum of the parts' maxima would be another one, and be larger."""
    body = Add(Max(Operand(0), Literal(-9)), Literal(4))
    span = ValueRange(-100, 100)
    spec = MatmulSpec(5, 6, 12, a_range=span, b_range=span, sum_bits=bits, map=body)
    program = finished(spec, chips=chips, compute_engines=3)
    a, b = (np.clip(operand, -100, 100) for operand in random_operands(program, 2))
    result = simulate(program, a, b)
    assert np.array_equal(result.c, np.maximum(a @ b, -9) + 4)
    assert result.exact
    assert result.cycles == program.schedule.cycles


def test_operands_are_checked_before_anything_runs(tmp_path):
    program = program_for(2, 2, 4)
    with pytest.raises(OperandRangeError, match="operand b holds 200 at row 0, column 0"):
        simulate(program, np.ones((2, 4), int), np.full((4, 2), 200), waves=tmp_path / "run.vcd")
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_product_is_not_exact(monkeypatch):
    program = program_for(2, 2, 4)
    a, b = random_operands(program, 0)
    monkeypatch.setattr(module.reference, "product", lambda a, b: (a @ b).astype(np.int32))
    assert not simulate(program, np.full((2, 4), 100), np.full((4, 2), 100)).exact
    monkeypatch.undo()
    assert simulate(program, a, b).exact


@pytest.mark.parametrize("engine", module.ENGINES)
def test_a_run_of_other_cycles_than_stated_is_an_error_whatever_its_product(engine, monkeypatch):
    """As no program that is certified can be made to do, the check of it is left out."""
    program = program_for(2, 2, 4)
    operands, cycles = random_operands(program, 0), program.schedule.cycles
    monkeypatch.setattr(module, "require", lambda program: None)
    for stated in (cycles - 1, cycles + 1):
        other = replace(program, schedule=replace(program.schedule, cycles=stated))
        with pytest.raises(CyclesDifferError) as error:
            simulate(other, *operands, engine=engine)
        assert (error.value.cycles, error.value.stated) == (cycles, stated)
    assert simulate(program, *operands, engine=engine).cycles == cycles


def test_a_run_that_does_not_end_is_given_up_after_the_cycles_that_were_asked_for(monkeypatch):
    monkeypatch.setattr(system, "LinkChannel", CutChannel)
    program = program_for(4, 4, 8, chips=2)
    operands = random_operands(program, 0)
    for limit, expected in ((None, 2 * program.schedule.cycles + 1000), (77, 77)):
        with pytest.raises(SimulationHangError) as error:
            simulate(program, *operands, max_cycles=limit)
        assert error.value.cycles == expected


def test_progress_and_waves_are_passed_on(tmp_path):
    calls = []
    program = program_for(4, 4, 8)
    simulate(
        program, *random_operands(program, 0), waves=tmp_path / "run.vcd", progress=calls.append
    )
    assert calls[0] == 0
    assert (tmp_path / "run.vcd").read_text().startswith("$comment")
