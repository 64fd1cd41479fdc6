"""Every single edit of a certified program is refused by the check, or harmless."""

from contextlib import suppress

import numpy as np
import pytest

from compiler.check import check
from compiler.ir.body import Literal, Max, Operand
from compiler.ir.mesh import Mesh
from compiler.pipeline import compile
from compiler.shard_plan import ShardPlan
from compiler.targets import get
from compiler.workload import MatmulSpec
from sim.errors import OperandRangeError
from sim.interpreter import interpret
from tests.compiler.single_edits import edits

FIELDS = ("target", "tile", "mesh", "graph", "numerics", "memory", "schedule")
SMALL = get("token-mesh", tile=2, compute_engines=3)
PAGED = get("semaphore-mesh", tile=2, compute_engines=3)
RECTIFIER = Max(Operand(0), Literal(0))


@pytest.mark.parametrize(
    ("spec", "plan", "target"),
    [
        (MatmulSpec(4, 6, 8), ShardPlan(1), SMALL),
        (MatmulSpec(4, 6, 7, k_pad=1, map=RECTIFIER), ShardPlan(2), PAGED),
        pytest.param(
            MatmulSpec(4, 6, 6),
            ShardPlan(2, result="all", uneven=True),
            SMALL,
            marks=pytest.mark.slow,
        ),
        pytest.param(
            MatmulSpec(4, 6, 4),
            ShardPlan(Mesh(row=2, col=2), shard={"m": "row", "k": "col"}),
            SMALL,
            marks=pytest.mark.slow,
        ),
    ],
    ids=["one chip", "two chips, map, semaphores, padded", "both chips, uneven", "2 x 2"],
)
def test_every_single_edit_is_refused_or_computes_the_same(spec, plan, target):
    """No edit makes the check fail in any other way than by a verdict."""
    program = compile(spec, target, plan)
    rng = np.random.default_rng(1)
    a, b = rng.integers(-128, 128, (4, spec.k)), rng.integers(-128, 128, (spec.k, 6))
    right = interpret(program, a, b).c
    refused = accepted = 0
    for what, edited in edits(program, *FIELDS):
        if not check(edited).holds:
            refused += 1
            continue
        accepted += 1
        with suppress(OperandRangeError):
            assert np.array_equal(interpret(edited, a, b).c, right), what
    assert refused > 8 * accepted > 0
