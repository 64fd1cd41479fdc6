"""Numpy, the interpreter and the hardware agree on random programs.

The loaded hypothesis profile says how many programs are tried in the slow tier, and in every run a
fifth of them; ``tests/conftest.py`` has the profiles.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import prod

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from compiler.check import check
from compiler.errors import SharedLinkBarrierError, SharedLinkCircleError, WorkloadError
from compiler.ir.body import Add, Body, Literal, Max, Operand
from compiler.ir.buffer import Depth
from compiler.ir.graph import LoopOrder
from compiler.ir.init import Values
from compiler.ir.mesh import Mesh, MeshAxis
from compiler.ir.program import Program
from compiler.ir.stage import Copy, Engine, EngineKind, Fold, Merge, Recv, Site
from compiler.ir.target import Target
from compiler.ir.tensor import ValueRange
from compiler.passes.lower import lower
from compiler.passes.partition import partition
from compiler.pipeline import run_passes
from compiler.serialize import from_json, to_json
from compiler.shard_plan import DIMS, ShardPlan
from compiler.targets import get
from compiler.workload import MatmulSpec
from sim.cosim.cosimulate import cosimulate
from sim.interpreter import interpret
from sim.result import RunResult
from sim.simulate import simulate
from tests.compiler.programs import changed
from tests.cosim.tools import needs

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
        link_ports=32,
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
def plans(draw, chips: int) -> ShardPlan:
    """So many chips or fewer, along one axis or several, and what is cut along which."""
    grids = [(x, y) for x in range(1, 5) for y in range(2, 5) if x * y <= chips]
    cubes = [sizes for sizes in ((1, 2, 2), (2, 2, 2), (2, 3, 2)) if prod(sizes) <= chips]
    lines = st.tuples(st.integers(1, chips))
    sizes = draw(st.one_of(lines, st.sampled_from(grids), st.sampled_from(cubes)))
    mesh = Mesh(tuple(MeshAxis(f"x{index}", size) for index, size in enumerate(sizes)))
    axes = draw(st.permutations([*mesh.names, None]))
    dims = draw(st.sampled_from(["kmn", "kmn", "kmn", "mnk"]))
    shard = {dim: axis for dim, axis in zip(dims, axes, strict=False) if axis is not None}
    reduce = draw(st.sampled_from(["star", "tree", "ring"]))
    scatters = reduce == "ring" and not shard.keys() >= {"m", "n"}
    return ShardPlan(
        mesh,
        reduce,
        shard=shard,
        result=draw(st.sampled_from(["all", "home", *(["scattered"] * scatters)])),
        uneven=draw(st.booleans()),
    )


@st.composite
def extents(draw, dim: str, plan: ShardPlan, tile: int) -> int:
    """Elements along a dimension, as many as the plan can cut, or scatter."""
    axis = plan.axis_of("k" if dim == plan.scattered else dim)
    count = 1 if axis is None else plan.mesh.size(axis)
    if axis is not None and not plan.uneven:
        return count * tile * draw(st.integers(1, 2))
    return draw(st.integers((count - 1) * tile + 1, max(3, count + 2) * tile))


@st.composite
def specs(draw, plan: ShardPlan, target: Target, body: Body | None) -> MatmulSpec:
    """A product whose sums are as narrow as they may be, or wider."""
    m, n, k = (draw(extents(dim, plan, target.tile)) for dim in DIMS)
    axis = plan.axis_of("k")
    if axis is not None and not plan.uneven:
        k -= draw(st.integers(0, target.tile - 1))
    spec = MatmulSpec(m, n, k, a_range=draw(ranges()), b_range=draw(ranges()), map=body)
    if axis is not None and not plan.uneven:
        spec = spec.padded_k(target.tile * plan.mesh.size(axis))
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
        (product,) = program.graph.operations
        order = LoopOrder(draw(st.sampled_from(["mn", "nm"])))
        graph = replace(program.graph, operations=(replace(product, order=order),))
        program = replace(program, graph=graph)
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
            program = changed(program, stage.name, engine=Engine(EngineKind.LINK, 31 - index))
    program = draw(told_ways(program, target))
    if draw(st.booleans()):
        finished = run_passes(program, target).buffers
        chosen = [buffer for buffer in finished if buffer.name in program.buffer_by_name]
        deeper = draw(st.lists(st.sampled_from(chosen), max_size=3, unique_by=lambda b: b.name))
        for buffer in deeper:
            depth = buffer.depth_pages + draw(st.integers(1, 3))
            program = changed(program, buffer.name, depth=Depth(depth))
    return program


@st.composite
def told_ways(draw, program: Program, target: Target) -> Program:
    """The program with edges that pass other chips, where that makes no circle.

    Edges that share a link and wait for one another make one. A barrier counts rounds of one page,
    so edges that share a link cannot wait at one.
    """
    crossing = [edge for edge in program.edges if program.crosses(edge)]
    if not crossing or program.chip_count < 3 or draw(st.booleans()):
        return program
    told = program
    for edge in draw(st.lists(st.sampled_from(crossing), max_size=3, unique=True)):
        ends = {program.stage_by_name[name].chip for name in (edge.source, edge.destination)}
        others = [chip for chip in range(program.chip_count) if chip not in ends]
        via = draw(st.lists(st.sampled_from(others), min_size=1, max_size=2, unique=True))
        told = changed(told, edge.name, via=tuple(via))
    try:
        run_passes(told, target)
    except SharedLinkCircleError:
        return program
    except SharedLinkBarrierError:
        assert target.crossing_handoff == "Barrier"
        return program
    return told


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
            st.tuples(st.sampled_from([1, 2, 3, 4]), st.just(8)),
            st.tuples(st.sampled_from([1, 2]), st.just(16)),
            st.tuples(st.sampled_from([1, 2, 4, 5, 8]), st.just(16)),
        )
    )
    target = draw(targets(tile))
    body, function = draw(maps())
    plan = draw(plans(chips))
    if plan.reduce == "ring" and target.crossing_handoff == "Barrier":
        # At barriers no link is shared, and in a ring sums and wholes share each.
        plan = ShardPlan(plan.mesh, "ring", shard=plan.shard, uneven=plan.uneven)
    spec = draw(specs(plan, target, body))
    a = draw(operands((spec.m, spec.k), spec.a_range))
    b = draw(operands((spec.k, spec.n), spec.b_range))
    expected = function(a @ b)
    if draw(st.integers(0, 3)) == 0:
        spec, a = replace(spec, a=Values(tuple(a.ravel()))), None
    if draw(st.integers(0, 3)) == 0:
        spec, b = replace(spec, b=Values(tuple(b.ravel()))), None
    whole = draw(hand_set(lower(spec, target)))
    if draw(st.booleans()):
        whole = run_passes(whole, target)
    program = draw(hand_set_reduction(partition(whole, plan, target), target))
    return Case(run_passes(program, target), a, b, expected)


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
    assert_everywhere(case, result.stored)
    for queue in result.queues.values():
        assert queue.reserved == queue.pushed == queue.popped
    for kind in (Fold, Copy, Merge):
        event(f"{kind.__name__}: {any(isinstance(s.kind, kind) for s in program.stages)}")
    event(f"axes: {len(program.mesh.axes)}")
    for collective in program.collectives:
        event(f"{collective.algorithm} {collective.kind}")

    event(f"hardware: {small(program)}")
    if small(program):
        assert_runs(case, simulate(program, case.a, case.b))


def assert_runs(case: Case, run: RunResult) -> None:
    """A run gave the product, on every chip that is to have it, in the predicted cycles."""
    assert_everywhere(case, run.stored)
    assert run.exact
    assert case.program.schedule is not None
    assert run.cycles == case.program.schedule.cycles


def assert_everywhere(case: Case, stored: Mapping[str, np.ndarray]) -> None:
    """Every output tensor holds its part of the product, and all parts are all of it."""
    covered = np.zeros(case.expected.shape, bool)
    outputs = case.program.tensors_of[case.program.claim.output]
    assert {tensor.name for tensor in outputs} == {*stored}
    for tensor in outputs:
        rows = slice(tensor.part.row, tensor.part.row + tensor.rows)
        cols = slice(tensor.part.col, tensor.part.col + tensor.cols)
        assert np.array_equal(stored[tensor.name], case.expected[rows, cols])
        covered[rows, cols] = True
    assert covered.all()


SMALL = settings(max_examples=3)
"""What has to be built first."""


@pytest.mark.slow
@pytest.mark.cosim
@SMALL
@given(case=cases())
def test_the_compiled_engine_agrees(case):
    needs("compiled")
    assume(small(case.program))
    assert_runs(case, simulate(case.program, case.a, case.b, engine="compiled"))


@pytest.mark.slow
@pytest.mark.cosim
@SMALL
@given(case=cases())
def test_the_emitted_verilog_agrees(case):
    needs("icarus")
    assume(small(case.program) and case.program.chip_count > 1)
    assert_runs(case, cosimulate(case.program, case.a, case.b, simulator="icarus"))


def small(program: Program) -> bool:
    """Whether the hardware is simulated too."""
    multipliers = program.chip_count * program.tile**2
    return multipliers <= MULTIPLIERS and program.schedule.cycles <= CYCLES
