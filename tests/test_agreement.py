"""Numpy, the interpreter and the hardware agree on random programs.

The loaded hypothesis profile says how many programs are tried in the slow tier, and in every run a
fifth of them; ``tests/conftest.py`` has the profiles.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from compiler.passes.shard import ShardPlan, replicate
from hypothesis import event, given, settings
from hypothesis import strategies as st

from compiler.check import check
from compiler.errors import WorkloadError
from compiler.ir.body import Add, Body, Literal, Max, Operand
from compiler.ir.init import Values
from compiler.ir.program import Program, WorkPlan
from compiler.ir.stage import Engine, EngineKind, Fold, Recv, Site
from compiler.ir.target import Target
from compiler.ir.tensor import ValueRange
from compiler.passes.lower import lower
from compiler.pipeline import run_passes
from compiler.serialize import from_json, to_json
from compiler.targets import get
from compiler.workload import MatmulSpec
from sim.interpreter import interpret
from sim.simulate import simulate
from tests.compiler.programs import changed

MULTIPLIERS = 128
"""Multiply-accumulates of all chips up to which the hardware is simulated too."""
CYCLES = 400
"""Predicted cycles up to which the hardware is simulated too."""

TARGETS = {
    "token": ("token-mesh", ("ValidReady", "Token")),
    "token, FIFOs": ("token-mesh", ("Fifo", "Token")),
    "semaphore": ("semaphore-mesh", ("Fifo", "Semaphore")),
    "barrier": ("token-mesh", ("ValidReady", "Barrier")),
}

Function = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Case:
    """A finished program, its operands unless it states them, and what comes of them."""

    program: Program
    a: np.ndarray | None
    b: np.ndarray | None
    expected: np.ndarray


@st.composite
def targets(draw, tile: int) -> Target:
    name, handoffs = TARGETS[draw(st.sampled_from(sorted(TARGETS)))]
    return get(
        name,
        handoffs=handoffs,
        tile=tile,
        link_width_bits=draw(st.one_of(st.integers(1, 64), st.integers(64, 600))),
        link_latency_cycles=draw(st.integers(1, 20)),
        link_flit_cycles=draw(st.sampled_from([1, 1, 2, 3])),
        link_ports=16,
        compute_engines=4,
        movement_engines=5,
    )


@st.composite
def maps(draw) -> tuple[Body | None, Function]:
    constant = draw(st.integers(-500, 500))
    op, literal = Operand(0), Literal(constant)
    return draw(
        st.sampled_from(
            [
                (None, lambda x: x),
                (Max(op, Literal(0)), lambda x: np.maximum(x, 0)),
                (Add(op, literal), lambda x: x + constant),
                (Add(Max(Add(literal, op), literal), literal),
                 lambda x: np.maximum(x + constant, constant) + constant),
            ]
        )
    )  # fmt: skip


@st.composite
def ranges(draw) -> ValueRange:
    ends = st.one_of(st.sampled_from([-128, 127]), st.integers(-128, 127))
    return ValueRange(*sorted((draw(ends), draw(ends))))


@st.composite
def specs(draw, k: int, target: Target, body: Body | None) -> MatmulSpec:
    """A product whose sums are as narrow as they may be, or wider."""
    spec = MatmulSpec(
        draw(st.integers(1, 3 * target.tile)),
        draw(st.integers(1, 3 * target.tile)),
        k,
        a_range=draw(ranges()),
        b_range=draw(ranges()),
        map=body,
    )
    bits = draw(st.integers(2, 32))
    while not fits(replace(spec, sum_bits=bits), target):
        bits += 1
    return replace(spec, sum_bits=bits)


def fits(spec: MatmulSpec, target: Target) -> bool:
    try:
        lower(spec, target)
    except WorkloadError:
        return False
    return True


@st.composite
def operands(draw, shape: tuple[int, int], values: ValueRange) -> np.ndarray:
    """Values over the whole range, or from nothing but its ends."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    ends = (values.low, values.high)
    chosen = draw(st.sampled_from([None, ends, ends[:1], ends[1:]]))
    if chosen is None:
        return rng.integers(values.low, values.high, shape, endpoint=True)
    return rng.choice(chosen, shape)


@st.composite
def hand_set(draw, program: Program) -> Program:
    """The one-chip program with engines, a site and a loop order that somebody chose."""
    if draw(st.booleans()):
        (left, right, _) = program.tensors
        plan = WorkPlan(left.row_tiles, right.col_tiles, left.col_tiles, "nm")
        program = replace(program, work=plan)
    if draw(st.booleans()):
        site = Site(0, draw(st.integers(0, 3)), draw(st.integers(0, 3)))
        program = replace(program, stages=tuple(replace(s, site=site) for s in program.stages))
    if draw(st.booleans()):
        loads = draw(st.permutations(range(5)))
        engines = {
            "matmul": Engine(EngineKind.COMPUTE, draw(st.integers(0, 3))),
            "load_a": Engine(EngineKind.MOVEMENT, loads[0]),
            "load_b": Engine(EngineKind.MOVEMENT, loads[1]),
        }
        for name, engine in engines.items():
            program = changed(program, name, engine=engine)
    return program


@st.composite
def hand_set_reduction(draw, program: Program, target: Target) -> Program:
    """The sharded program with folds of another order, link engines and deeper buffers."""
    folds = [stage for stage in program.stages if isinstance(stage.kind, Fold)]
    for stage in folds:
        if draw(st.booleans()):
            order = draw(st.permutations(range(len(stage.ins))))
            program = changed(program, stage.name, kind=Fold(folded(draw, list(order))))
    for index, stage in enumerate(s for s in program.stages if isinstance(s.kind, Recv)):
        if index < 4 and draw(st.booleans()):
            program = changed(program, stage.name, engine=Engine(EngineKind.LINK, 15 - index))
    if draw(st.booleans()):
        chosen = run_passes(program, target).buffers
        deeper = draw(st.lists(st.sampled_from(chosen), max_size=3, unique_by=lambda b: b.name))
        for buffer in deeper:
            depth = buffer.depth_pages + draw(st.integers(1, 3))
            program = changed(program, buffer.name, depth_pages=depth)
    return program


def folded(draw, order: list[int]) -> Body:
    """A sum over operands in some order, bracketed somehow."""
    if len(order) == 1:
        return Operand(order[0])
    cut = draw(st.integers(1, len(order) - 1))
    return Add(folded(draw, order[:cut]), folded(draw, order[cut:]))


@st.composite
def cases(draw) -> Case:
    tile, chips = draw(
        st.one_of(
            st.tuples(st.sampled_from([1, 2, 3, 4]), st.integers(1, 8)),
            st.tuples(st.sampled_from([1, 2]), st.integers(1, 16)),
            st.tuples(st.sampled_from([1, 2, 4, 5, 8]), st.integers(1, 16)),
        )
    )
    target = draw(targets(tile))
    body, function = draw(maps())
    k = chips * tile * draw(st.integers(1, 3)) - draw(st.integers(0, tile - 1))
    spec = draw(specs(k, target, body)).padded_k(chips * tile)
    a = draw(operands((spec.m, spec.k), spec.a_range))
    b = draw(operands((spec.k, spec.n), spec.b_range))
    expected = function(a @ b)
    if draw(st.integers(0, 3)) == 0:
        spec, a = replace(spec, a=Values(tuple(a.ravel()))), None
    if draw(st.integers(0, 3)) == 0:
        spec, b = replace(spec, b=Values(tuple(b.ravel()))), None
    whole = run_passes(draw(hand_set(lower(spec, target))), target)
    program = whole
    if chips > 1:
        plan = ShardPlan(chips, draw(st.sampled_from(["star", "tree"])))
        program = draw(hand_set_reduction(replicate(whole, plan, target), target))
        program = run_passes(program, target)
    return Case(program, a, b, expected)


@settings(max_examples=settings().max_examples // 5)
@given(case=cases())
def test_numpy_the_interpreter_and_the_hardware_agree(case):
    agree(case)


@pytest.mark.slow
@given(case=cases())
def test_they_agree_on_many_more(case):
    agree(case)


def agree(case: Case) -> None:
    """Hold all three to one case."""
    program = case.program
    certificate = check(program)
    assert certificate.violated == ()
    assert program.certificate == certificate
    assert from_json(to_json(program)) == program

    result = interpret(program, case.a, case.b)
    assert np.array_equal(result.c, case.expected)
    for queue in result.queues.values():
        assert queue.reserved == queue.pushed == queue.popped

    multipliers = program.chip_count * program.tile**2
    small = multipliers <= MULTIPLIERS and program.schedule.cycles <= CYCLES
    event(f"hardware: {small}")
    if small:
        run = simulate(program, case.a, case.b)
        assert np.array_equal(run.c, case.expected)
        assert run.exact
        assert run.cycles == program.schedule.cycles
