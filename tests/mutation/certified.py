"""Certified programs of every kind, for the mutations to break."""

from dataclasses import replace
from functools import cache

import numpy as np
from compiler.passes.shard import ShardPlan

from compiler import targets
from compiler.ir.body import Literal, Max, Operand
from compiler.ir.edge import Semaphore
from compiler.ir.init import Pattern
from compiler.ir.program import Program
from compiler.passes.memory import allocate
from compiler.passes.schedule import schedule
from compiler.pipeline import compile, shard
from compiler.targets import Target
from compiler.workload import MatmulSpec

TILE = 4
RECTIFIER = Max(Operand(0), Literal(0))
TOKEN = targets.get("token-mesh", tile=TILE, compute_engines=4)
SEMAPHORE = targets.get("semaphore-mesh", tile=TILE, compute_engines=4)
BARRIER = replace(TOKEN, handoffs=("ValidReady", "Barrier"))
NARROW = replace(TOKEN, link_width_bits=8, link_latency_cycles=3)

PLANS: dict[str, tuple[MatmulSpec, ShardPlan, Target]] = {
    "1 chip": (MatmulSpec(8, 12, 16), ShardPlan(1), TOKEN),
    "1 chip, map": (MatmulSpec(8, 8, 12, map=RECTIFIER), ShardPlan(1), SEMAPHORE),
    "2 chips, tree, 21-bit sums": (MatmulSpec(8, 8, 32, sum_bits=21), ShardPlan(2), TOKEN),
    "4 chips, star": (MatmulSpec(8, 12, 16), ShardPlan(4, "star"), TOKEN),
    "4 chips, tree, semaphores, padded": (
        MatmulSpec(8, 8, 30, k_pad=2),
        ShardPlan(4),
        SEMAPHORE,
    ),
    "8 chips, tree, narrow links": (MatmulSpec(8, 8, 64), ShardPlan(8), NARROW),
    "3 chips, tree, odd shape, values": (
        MatmulSpec(7, 10, 19, k_pad=5, a=Pattern(7, 3), b=Pattern(11, 5)),
        ShardPlan(3),
        TOKEN,
    ),
    "3 chips, star, map, semaphores": (
        MatmulSpec(8, 8, 12, map=RECTIFIER),
        ShardPlan(3, "star"),
        SEMAPHORE,
    ),
    "4 chips, tree, barrier": (MatmulSpec(8, 8, 16), ShardPlan(4), BARRIER),
}


@cache
def certified_program(name: str) -> Program:
    """The program of this name as the compiler returns it."""
    spec, plan, target = PLANS[name]
    return shard(compile(spec, target), plan, target)


def completed(program: Program) -> Program:
    """``program`` with all that follows from its stages, so that nothing else speaks against it."""
    used = {
        name
        for edge in program.edges
        if isinstance(edge.handoff, Semaphore)
        for name in (edge.handoff.ready, edge.handoff.valid)
    }
    program = replace(
        program,
        memory=(),
        semaphores=tuple(name for name in program.semaphores if name in used),
        trips=tuple(trip for trip in program.trips if trip.tensor in program.tensor_by_name),
    )
    return schedule(allocate(program), program.target)


def operands(name: str, *, extreme: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Operands of a program: those that it states, or random ones, or the greatest products."""
    spec, _, _ = PLANS[name]
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
    spec, _, _ = PLANS[name]
    total = a @ b
    return total if spec.map is None else np.maximum(total, 0)
