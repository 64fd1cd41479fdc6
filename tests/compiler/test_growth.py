"""Programs of any extent cost the same; programs of many chips end."""

import numpy as np
import pytest

from compiler import targets
from compiler.check import check
from compiler.flow.listing import Listing
from compiler.ir.mesh import Mesh
from compiler.pipeline import compile
from compiler.serialize import from_json, to_json
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from sim.interpreter import interpret

ROOMY = targets.get("token-mesh", memory_bytes=2**40, link_ports=512)
PLANS = {
    "tree of 16": ShardPlan(16),
    "4 x 4, rows and contraction, to all": ShardPlan(
        Mesh(row=4, col=4), shard={"m": "row", "k": "col"}, result="all"
    ),
    "4 x 4, rows and columns": ShardPlan(Mesh(row=4, col=4), shard={"m": "row", "n": "col"}),
    "3, uneven": ShardPlan(3, uneven=True),
}


@pytest.fixture
def no_lists(monkeypatch):
    """Pages that are listed one by one end the test."""

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("pages are listed")

    monkeypatch.setattr(Listing, "__init__", refused)


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
@pytest.mark.parametrize("extent", [4096, 65536])
@pytest.mark.usefixtures("no_lists")
def test_no_page_of_a_large_product_is_looked_at(plan, extent):
    program = compile(MatmulSpec(extent, extent, extent), ROOMY, plan)
    assert check(program) == program.certificate
    assert program.schedule is not None
    tiles = dict.fromkeys("mnk", extent // ROOMY.tile)
    for dim, axis in plan.shard:
        tiles[dim] = -(-tiles[dim] // plan.mesh.size(axis))
    ideal = tiles["m"] * tiles["n"] * tiles["k"] * ROOMY.tile
    assert program.schedule.ideal_cycles == ideal
    # What is left at the end is that of the last page, however many came before it.
    small = compile(MatmulSpec(1024, 1024, extent), ROOMY, plan)
    assert small.schedule is not None
    assert program.schedule.cycles - ideal == small.schedule.cycles - small.schedule.ideal_cycles


def test_a_star_of_400_chips_computes_and_is_saved():
    """Its fold has as many operations one within the other as it has operands."""
    target = targets.get("token-mesh", tile=1, link_ports=512)
    program = compile(MatmulSpec(1, 1, 400), target, ShardPlan(400, "star"))
    assert check(program).holds
    assert from_json(to_json(program)) == program
    rng = np.random.default_rng(0)
    a, b = rng.integers(-128, 128, (1, 400)), rng.integers(-128, 128, (400, 1))
    assert np.array_equal(interpret(program, a, b).c, a @ b)


@pytest.mark.slow
@pytest.mark.parametrize(
    "plan",
    [ShardPlan(1024), ShardPlan(Mesh(row=32, col=32), shard={"m": "row", "k": "col"})],
    ids=["tree", "mesh"],
)
def test_a_thousand_chips_are_certified(plan):
    program = compile(MatmulSpec(256, 16, 8192), targets.get("token-mesh", link_ports=16), plan)
    assert program.chip_count == 1024
    assert check(program) == program.certificate
