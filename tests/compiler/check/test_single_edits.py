"""Every single edit of a certified program is refused by the check, or harmless."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from compiler.check import check
from compiler.ir.body import Literal, Max, Operand
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.passes.lower import lower
from compiler.passes.partition import partition
from compiler.pipeline import compile, run_passes
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


def passing() -> Program:
    """A star of 3 chips: what chip 2 sends passes chip 1, and takes turns with what that sends."""
    spec, plan = MatmulSpec(4, 4, 6), ShardPlan(3, "star")
    program = partition(lower(spec, SMALL), plan, SMALL)
    edges = (
        replace(edge, via=(1,)) if edge.name.startswith("c2.matmul->") else edge
        for edge in program.edges
    )
    return run_passes(replace(program, edges=tuple(edges)), SMALL)


def meshed() -> Program:
    plan = ShardPlan(Mesh(row=2, col=2), shard={"m": "row", "k": "col"})
    return compile(MatmulSpec(4, 6, 4), SMALL, plan)


PROGRAMS = {
    "one chip": compile(MatmulSpec(4, 6, 8), SMALL),
    "two chips, map, semaphores, padded": compile(
        MatmulSpec(4, 6, 7, k_pad=1, map=RECTIFIER), PAGED, ShardPlan(2)
    ),
    "both chips, uneven": compile(
        MatmulSpec(4, 6, 6), SMALL, ShardPlan(2, result="all", uneven=True)
    ),
    "2 x 2": meshed(),
    "star of 3 over one another": passing(),
}
SLOW = ("both chips, uneven", "2 x 2", "star of 3 over one another")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] if n in SLOW else []) for n in PROGRAMS]
)
def test_every_single_edit_is_refused_or_computes_the_same(name):
    """No edit makes the check fail in any other way than by a verdict."""
    program = PROGRAMS[name]
    claim, rng = program.claim, np.random.default_rng(1)
    a = rng.integers(-128, 128, (claim.m, claim.k))
    b = rng.integers(-128, 128, (claim.k, claim.n))
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
