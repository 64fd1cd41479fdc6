"""Finished programs for the tests of what runs them, and operands that fit them."""

from functools import cache

import numpy as np

from compiler import targets
from compiler.ir.program import Program
from compiler.pipeline import compile
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec


def finished(
    spec: MatmulSpec,
    *,
    chips: int = 1,
    reduce: str = "tree",
    target: str = "token-mesh",
    tile: int = 4,
    plan: ShardPlan | None = None,
    **changes: int,
) -> Program:
    """The program of a product on a changed target, over ``chips`` chips or as ``plan`` says."""
    machine = targets.get(target, tile=tile, **changes)
    return compile(spec, machine, plan or ShardPlan(chips, reduce))


@cache
def program_for(m: int, n: int, k: int, *, k_pad: int = 0, **options) -> Program:
    """The program of a product whose operands come from outside."""
    return finished(MatmulSpec(m, n, k, k_pad=k_pad), **options)


def random_operands(program: Program, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Operands over all of int8, as wide integers."""
    rng, claim = np.random.default_rng(seed), program.claim
    return (
        rng.integers(-128, 128, (claim.m, claim.k)),
        rng.integers(-128, 128, (claim.k, claim.n)),
    )
