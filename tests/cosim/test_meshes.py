"""Every way to cut a product over meshes, and sums on every chip, on every engine."""

from functools import cache
from itertools import permutations

import numpy as np
import pytest

from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.shard_plan import DIMS, ShardPlan
from compiler.workload import MatmulSpec
from sim.cosim.cosimulate import cosimulate
from tests.cosim.configurations import ENGINES
from tests.cosim.tools import needs
from tests.hw.simulation import idle, simulate
from tests.hw.system_bench import SETTLING_CYCLES, SystemBench
from tests.programs import finished, random_operands
from tests.tiers import chosen

LARGE = MatmulSpec(64, 64, 1024)
"""On tiles of 8. The compiled engine takes every way to cut it; others need minutes for some."""
SMALL = MatmulSpec(8, 8, 16)
"""On tiles of 2, which is cut as the large one is."""
MESHES = (Mesh(row=2, col=2), Mesh(row=4, col=4), Mesh(tp=4))


def shardings(mesh: Mesh) -> list[dict[str, str]]:
    """Every way to cut m, n and k, each along an axis of its own or not at all."""
    ways = sorted(set(permutations((*mesh.names, *[None] * 3), 3)), key=str)
    return [{d: axis for d, axis in zip(DIMS, way, strict=True) if axis} for way in ways]


PLANS = [ShardPlan(mesh, shard=shard) for mesh in MESHES for shard in shardings(mesh)]


def of(mesh: Mesh, **shard: str) -> ShardPlan:
    return ShardPlan(mesh, shard=shard)


def named(plan: ShardPlan) -> str:
    cuts = " ".join(f"{dim}={axis}" for dim, axis in plan.shard)
    return f"{plan.mesh} {cuts or 'nothing cut'}"


@pytest.fixture(autouse=True)
def models(tmp_path_factory, monkeypatch):
    """Models of the compiled engine go where all workers of this run find them."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if base.name.startswith("popen-") else base
    monkeypatch.setattr("sim.compiled.cache.cache_folder", lambda: shared / "models")


def assert_runs(engine: str, program: Program) -> None:
    """Exact on every chip that has a part, in the predicted cycles."""
    needs(engine)
    a, b = random_operands(program, seed=7)
    result = ENGINES[engine](program, a, b)
    assert result.exact
    assert np.array_equal(result.c, a @ b)
    assert result.cycles == program.schedule.cycles


def test_every_way_to_cut_is_here():
    """Two axes: 1 way to cut nothing, 3 * 2 to cut along one and 3 * 2 along both."""
    assert [len(shardings(mesh)) for mesh in MESHES] == [13, 13, 4]


@pytest.mark.slow
@pytest.mark.cosim
@pytest.mark.parametrize("plan", PLANS, ids=named)
def test_a_large_product_is_exact_and_on_time_however_it_is_cut(plan):
    assert_runs("compiled", finished(LARGE, plan=plan, tile=8))


TWO, FOUR, LINE = MESHES
IN_EVERY_RUN = {
    "amaranth": [of(TWO, m="row", k="col"), of(TWO, n="col"), of(LINE, k="tp")],
    "icarus": [of(TWO, n="row", k="col")],
    "compiled": [],
}
LARGE_ON_ALL_ENGINES = [of(LINE, k="tp"), of(TWO, m="row", k="col"), of(FOUR, k="row", n="col")]
SLOW_ON_ICARUS = [
    of(TWO, m="row", k="col"),
    of(TWO, n="col", k="row"),
    of(TWO, m="col", n="row"),
    of(TWO, k="row"),
    of(LINE, m="tp"),
    of(FOUR, m="row", k="col"),
]


@pytest.mark.slow
@pytest.mark.cosim
@pytest.mark.parametrize("engine", ["amaranth", "icarus"])
@pytest.mark.parametrize("plan", LARGE_ON_ALL_ENGINES, ids=named)
def test_a_large_product_is_exact_and_on_time_on_every_engine(plan, engine):
    assert_runs(engine, finished(LARGE, plan=plan, tile=8))


@pytest.mark.parametrize("plan", chosen(PLANS, IN_EVERY_RUN["amaranth"], ids=named))
def test_a_small_product_is_exact_and_on_time_on_amaranth_however_it_is_cut(plan):
    assert_runs("amaranth", finished(SMALL, plan=plan, tile=2))


@pytest.mark.cosim
@pytest.mark.parametrize(
    "plan",
    chosen([*IN_EVERY_RUN["icarus"], *SLOW_ON_ICARUS], IN_EVERY_RUN["icarus"], ids=named),
)
def test_a_small_product_is_exact_and_on_time_on_icarus(plan):
    assert_runs("icarus", finished(SMALL, plan=plan, tile=2))


# --- The sum on every chip ------------------------------------------------------------------------

GROUPS = [(chips, reduce) for chips in (2, 3, 4, 7, 8, 16) for reduce in ("star", "tree")]


@cache
def to_all(chips: int, reduce: str) -> Program:
    """Sums of so many chips, on each of them."""
    plan = ShardPlan(chips, reduce, result="all")
    return finished(MatmulSpec(4, 6, 4 * chips), plan=plan, tile=2, link_ports=30)


@pytest.mark.parametrize(
    ("chips", "reduce"),
    [
        pytest.param(*group, marks=() if group in ((2, "tree"), (3, "star"), (7, "tree"))
                     else pytest.mark.slow)
        for group in GROUPS
    ],
)  # fmt: skip
def test_three_runs_without_a_reset_leave_the_sum_on_every_chip(chips, reduce):
    """With other operands in each."""
    bench = SystemBench(to_all(chips, reduce))
    runs = []

    async def testbench(ctx):
        for seed in range(3):
            await idle(ctx, SETTLING_CYCLES)
            runs.append(await bench.multiply(ctx, *random_operands(bench.program, seed)))

    simulate(bench.dut, testbench)
    assert runs == [(True, bench.program.schedule.cycles)] * 3


@pytest.mark.slow
@pytest.mark.cosim
@pytest.mark.parametrize(("chips", "reduce"), GROUPS)
def test_the_compiled_engine_leaves_the_sum_on_every_chip(chips, reduce):
    assert_runs("compiled", to_all(chips, reduce))


@pytest.mark.slow
@pytest.mark.cosim
@pytest.mark.parametrize(("chips", "reduce"), [(2, "star"), (3, "tree"), (4, "tree"), (7, "star")])
def test_the_emitted_verilog_leaves_the_sum_on_every_chip_in_three_runs(chips, reduce):
    needs("icarus")
    program = to_all(chips, reduce)
    a, b = random_operands(program, seed=7)
    assert cosimulate(program, a, b, simulator="icarus", every_test=True).exact
