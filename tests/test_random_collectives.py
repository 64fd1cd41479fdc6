"""Numpy, the interpreter and the hardware agree on random collectives.

The loaded hypothesis profile says how many are tried in the slow tier, and in every run a fifth of
them; ``tests/conftest.py`` has the profiles.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from compiler import targets
from compiler.check import check
from compiler.collective_spec import CHANGES, COMBINATIONS, CollectiveSpec
from compiler.ir.dtype import INT16, INT32
from compiler.ir.mesh import Mesh, mesh_of
from compiler.ir.program import Program
from compiler.passes.page_ways import HOPS
from compiler.pipeline import compile_collective, run_passes
from compiler.serialize import from_json, to_json
from compiler.targets import LinkKind, Target
from sim.interpreter import interpret
from sim.simulate import simulate
from tests.collective_programs import made
from tests.compiler.random_programs import with_depth
from tests.cosim.tools import needs

MOST_STAGES = 60
"""Stages of all chips up to which the hardware is simulated too."""
CYCLES = 400
"""Predicted cycles up to which it is."""


@dataclass(frozen=True)
class Case:
    """A finished program, what goes into it, and what must come out."""

    program: Program
    x: np.ndarray
    expected: np.ndarray


@st.composite
def machines(draw) -> Target:
    return targets.get(
        draw(st.sampled_from(["token-mesh", "semaphore-mesh"])),
        tile=draw(st.sampled_from([1, 2, 2, 3, 4])),
        link_width_bits=draw(st.one_of(st.integers(1, 64), st.integers(64, 300))),
        link_latency_cycles=draw(st.integers(1, 30)),
        link_flit_cycles=draw(st.sampled_from([1, 1, 2, 3])),
        link_ports=32,
        compute_engines=16,
    )


@st.composite
def specs(draw, tile: int) -> CollectiveSpec:
    """A collective of up to 6 chips along an axis, or of several groups of up to 3."""
    size = draw(st.integers(2, 6))
    mesh = mesh_of(size)
    if size <= 3 and draw(st.booleans()):
        axes = draw(st.permutations([("tp", size), ("dp", 2)]))
        mesh = Mesh(**dict(axes))
    kind = draw(st.sampled_from(sorted(CHANGES)))
    rows = draw(st.integers(1, 4 * tile))
    if CHANGES[kind].combines:
        rows = -(-rows // tile) * tile
    if kind == "all_to_all":
        rows += (size - 1) * tile
    dealt_out = kind not in ("reduce", "all_reduce", "broadcast")
    fewest = (size - 1) * tile + 1 if dealt_out else 1
    return CollectiveSpec(
        kind=kind,
        mesh=mesh,
        rows=rows,
        cols=draw(st.integers(fewest, (size + 2) * tile)),
        axis="tp",
        algorithm=draw(st.sampled_from(sorted(HOPS))),
        combine=draw(st.sampled_from(COMBINATIONS)),
        home=draw(st.integers(0, size - 1)),
        dtype=draw(st.sampled_from([INT16, INT32, INT32])),
    )


@st.composite
def on_other_links(draw, program: Program) -> Program:
    """The program with links of several kinds, and all that follows chosen anew."""
    kinds = tuple(
        LinkKind(f"kind_{index}", draw(st.integers(1, 99)), draw(st.integers(1, 40)), flit)
        for index, flit in enumerate((1, 2))
    )
    links = tuple(
        replace(
            link,
            width_bits=kind.width_bits,
            latency_cycles=kind.latency_cycles,
            flit_cycles=kind.flit_cycles,
        )
        for link in program.links
        for kind in [draw(st.sampled_from(kinds))]
    )
    program = replace(with_depth(program, None), links=links, memory=())
    return run_passes(program, replace(program.target, link_kinds=kinds))


@st.composite
def cases(draw) -> Case:
    target = draw(machines())
    spec = draw(specs(target.tile))
    program = compile_collective(spec, target)
    if draw(st.booleans()):
        program = draw(on_other_links(program))
    (value,) = (v for v in program.graph.values if v.name in program.graph.inputs)
    within = program.tensors_of[value.name][0].value_range
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    ends = (within.low, within.high)
    shape = (value.rows, value.cols)
    x = rng.choice(ends, shape)
    if draw(st.booleans()):
        x = rng.integers(within.low, within.high, shape, endpoint=True)
    return Case(program, x, made(program, x))


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
    result = interpret(program, case.x)
    assert_everywhere(case, result.stored)
    for queue in result.queues.values():
        assert queue.reserved == queue.pushed == queue.popped
    event(f"hardware: {small(program)}")
    if small(program):
        assert_runs(case, "amaranth")


def small(program: Program) -> bool:
    """Whether the hardware is simulated too."""
    return len(program.stages) <= MOST_STAGES and program.schedule.cycles <= CYCLES


def assert_runs(case: Case, engine: str) -> None:
    run = simulate(case.program, case.x, engine=engine)
    assert_everywhere(case, run.stored)
    assert run.exact
    assert run.cycles == case.program.schedule.cycles


def assert_everywhere(case: Case, stored: dict[str, np.ndarray]) -> None:
    """Every output tensor holds its part of the answer, and all parts are all of it."""
    covered = np.zeros(case.expected.shape, bool)
    outputs = case.program.tensors_of[case.program.graph.output]
    assert {tensor.name for tensor in outputs} == {*stored}
    for tensor in outputs:
        rows = slice(tensor.part.row, tensor.part.row + tensor.rows)
        cols = slice(tensor.part.col, tensor.part.col + tensor.cols)
        assert np.array_equal(stored[tensor.name], case.expected[rows, cols])
        covered[rows, cols] = True
    assert covered.all()


@pytest.mark.slow
@pytest.mark.cosim
@settings(max_examples=3)
@given(case=cases())
def test_the_compiled_engine_agrees(case):
    needs("compiled")
    assume(small(case.program))
    assert_runs(case, "compiled")
