"""Certified programs of every kind, for the mutations to break."""

from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from compiler import targets
from compiler.ir.body import Literal, Max, Operand
from compiler.ir.init import Pattern
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.passes.lower import lower
from compiler.passes.memory import allocate
from compiler.passes.partition import partition
from compiler.passes.schedule import schedule
from compiler.pipeline import run_passes
from compiler.shard_plan import ShardPlan
from compiler.targets import Target
from compiler.workload import MatmulSpec

TILE = 4
RECTIFIER = Max(Operand(0), Literal(0))
TOKEN = targets.get("token-mesh", tile=TILE, compute_engines=4)
SEMAPHORE = targets.get("semaphore-mesh", tile=TILE, compute_engines=4)
BARRIER = replace(TOKEN, handoffs=("ValidReady", "Barrier"))
NARROW = replace(TOKEN, link_width_bits=8, link_latency_cycles=3)


@dataclass(frozen=True)
class Plan:
    """What is compiled, for how many chips, and for which machine.

    ``via`` names chips that sums pass on their way from one chip to another.
    """

    spec: MatmulSpec
    shard: ShardPlan
    target: Target
    via: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)


PLANS: dict[str, Plan] = {
    "1 chip": Plan(MatmulSpec(8, 12, 16), ShardPlan(1), TOKEN),
    "1 chip, map": Plan(MatmulSpec(8, 8, 12, map=RECTIFIER), ShardPlan(1), SEMAPHORE),
    "2 chips, tree, 21-bit sums": Plan(MatmulSpec(8, 8, 32, sum_bits=21), ShardPlan(2), TOKEN),
    "4 chips, star": Plan(MatmulSpec(8, 12, 16), ShardPlan(4, "star"), TOKEN),
    "4 chips, tree, semaphores, padded": Plan(
        MatmulSpec(8, 8, 30, k_pad=2),
        ShardPlan(4),
        SEMAPHORE,
    ),
    "8 chips, tree, narrow links": Plan(MatmulSpec(8, 8, 64), ShardPlan(8), NARROW),
    "3 chips, tree, odd shape, values": Plan(
        MatmulSpec(7, 10, 19, k_pad=5, a=Pattern(7, 3), b=Pattern(11, 5)),
        ShardPlan(3),
        TOKEN,
    ),
    "3 chips, star, map, semaphores": Plan(
        MatmulSpec(8, 8, 12, map=RECTIFIER),
        ShardPlan(3, "star"),
        SEMAPHORE,
    ),
    "4 chips, tree, barrier": Plan(MatmulSpec(8, 8, 16), ShardPlan(4), BARRIER),
    "2 x 2 chips, rows and contraction": Plan(
        MatmulSpec(16, 8, 16),
        ShardPlan(Mesh(row=2, col=2), shard={"m": "row", "k": "col"}),
        TOKEN,
    ),
    "3 x 2 chips, contraction and columns, uneven, map": Plan(
        MatmulSpec(8, 10, 26, map=RECTIFIER),
        ShardPlan(Mesh(row=3, col=2), "star", shard={"k": "row", "n": "col"}, uneven=True),
        SEMAPHORE,
    ),
    "2 x 2 chips, rows and columns": Plan(
        MatmulSpec(16, 16, 12),
        ShardPlan(Mesh(row=2, col=2), shard={"m": "row", "n": "col"}),
        TOKEN,
    ),
    "2 x 2 chips, contraction, the other axis unused, values": Plan(
        MatmulSpec(8, 8, 16, a=Pattern(7, 3), b=Pattern(11, 5)),
        ShardPlan(Mesh(row=2, col=2), shard={"k": "col"}),
        TOKEN,
    ),
    "2 x 2 chips, rows and columns, uneven": Plan(
        MatmulSpec(12, 18, 8),
        ShardPlan(Mesh(row=2, col=2), shard={"n": "row", "m": "col"}, uneven=True),
        SEMAPHORE,
    ),
    "2 chips, nothing cut, values": Plan(
        MatmulSpec(8, 8, 12, a=Pattern(9, 4), b=Pattern(13, 6)), ShardPlan(2, shard={}), TOKEN
    ),
    "4 chips, tree, to all": Plan(MatmulSpec(8, 12, 16), ShardPlan(4, result="all"), TOKEN),
    "3 chips, star, map, to all, semaphores, uneven": Plan(
        MatmulSpec(8, 8, 20, map=RECTIFIER),
        ShardPlan(3, "star", result="all", uneven=True),
        SEMAPHORE,
    ),
    "2 x 3 chips, uneven rows, to all": Plan(
        MatmulSpec(12, 8, 24),
        ShardPlan(Mesh(row=2, col=3), shard={"m": "row", "k": "col"}, result="all", uneven=True),
        TOKEN,
    ),
    "2 x 2 chips, columns and contraction, to all, barrier": Plan(
        MatmulSpec(8, 16, 8),
        ShardPlan(Mesh(row=2, col=2), shard={"n": "row", "k": "col"}, result="all"),
        BARRIER,
    ),
    "3 chips, star, a shared link": Plan(
        MatmulSpec(8, 12, 12), ShardPlan(3, "star"), TOKEN, via={(2, 0): (1,)}
    ),
    "4 chips, tree, a forward": Plan(MatmulSpec(8, 8, 16), ShardPlan(4), TOKEN, via={(3, 2): (1,)}),
    "4 chips, tree, map, to all, semaphores, forwards": Plan(
        MatmulSpec(8, 8, 16, map=RECTIFIER),
        ShardPlan(4, result="all"),
        SEMAPHORE,
        via={(3, 2): (1,), (2, 3): (1,)},
    ),
    "4 chips, star, values, two shared links": Plan(
        MatmulSpec(8, 8, 16, a=Pattern(7, 3), b=Pattern(11, 5)),
        ShardPlan(4, "star"),
        TOKEN,
        via={(2, 0): (1,), (3, 0): (2, 1)},
    ),
    "3 chips, ring, to all": Plan(MatmulSpec(8, 12, 12), ShardPlan(3, "ring", result="all"), TOKEN),
    "3 chips, ring, scattered, semaphores, uneven": Plan(
        MatmulSpec(8, 16, 16), ShardPlan(3, "ring", result="scattered", uneven=True), SEMAPHORE
    ),
    "3 chips, ring, map": Plan(MatmulSpec(8, 8, 12, map=RECTIFIER), ShardPlan(3, "ring"), TOKEN),
    "2 x 3 chips, rows scattered by rings, columns": Plan(
        MatmulSpec(24, 16, 12),
        ShardPlan(Mesh(row=2, col=3), "ring", shard={"n": "row", "k": "col"}, result="scattered"),
        TOKEN,
    ),
    "4 chips, ring, map, to all, semaphores": Plan(
        MatmulSpec(8, 8, 16, map=RECTIFIER), ShardPlan(4, "ring", result="all"), SEMAPHORE
    ),
}


@cache
def certified_program(name: str) -> Program:
    """The program of this name as the compiler returns it."""
    plan = PLANS[name]
    program = partition(lower(plan.spec, plan.target), plan.shard, plan.target)
    chip = {stage.name: stage.chip for stage in program.stages}
    edges = (
        replace(edge, via=plan.via.get((chip[edge.source] or 0, chip[edge.destination] or 0), ()))
        for edge in program.edges
    )
    return run_passes(replace(program, edges=tuple(edges)), plan.target)


def completed(program: Program) -> Program:
    """``program`` with all that follows from its stages, so that nothing else speaks against it."""
    return schedule(allocate(replace(program, memory=())))


def operands(name: str, *, extreme: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Operands of a program: those that it states, or random ones, or the greatest products."""
    spec = PLANS[name].spec
    rng = np.random.default_rng(1)
    pair: list[np.ndarray] = []
    for init, shape in ((spec.a, (spec.m, spec.k)), (spec.b, (spec.k, spec.n))):
        values = np.full(shape, -128) if extreme else rng.integers(-128, 128, shape)
        if isinstance(init, Pattern):
            values = (np.arange(values.size) % init.modulus - init.shift).reshape(shape)
        pair.append(values)
    return pair[0], pair[1]


def answer(name: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """What the program of this name must compute."""
    total = a @ b
    return total if PLANS[name].spec.map is None else np.maximum(total, 0)
