"""What is told by loops, what is listed, and what is found page by page are the same."""

from dataclasses import dataclass, replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler import targets
from compiler.flow.errors import FlowError
from compiler.flow.follower import PageFollower
from compiler.flow.listing import Listing
from compiler.flow.pages import PageFlow
from compiler.ir.body import Literal, Max, Operand
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Load, MatmulTiles, Store
from compiler.ir.walk import Loop, Walk
from compiler.pipeline import compile
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from tests.compiler.flow.plain import PlainError, listed, plain_flow
from tests.compiler.flow.taking_turns import merged
from tests.compiler.programs import changed

TARGET = targets.get("token-mesh", tile=2, link_ports=16, compute_engines=4)
RECTIFIER = Max(Operand(0), Literal(0))
MESH = Mesh(row=2, col=2, deep=2)
ALL = {"m": "row", "n": "col", "k": "deep"}
ALL_CUT = {"m": "row", "k": "col"}
PLANS = {
    "one chip": None,
    "a row of three": ShardPlan(3),
    "a star of four": ShardPlan(4, "star"),
    "to all": ShardPlan(4, result="all"),
    "uneven": ShardPlan(3, uneven=True),
    "a mesh": ShardPlan(MESH, shard=ALL),
    "a mesh, to all": ShardPlan(MESH, shard=ALL, result="all", uneven=True),
    "a ring": ShardPlan(2, "ring"),
    "a ring, to all": ShardPlan(4, "ring", result="all"),
    "a ring, scattered": ShardPlan(MESH, "ring", shard=ALL_CUT, result="scattered", uneven=True),
    "copies": ShardPlan(MESH, shard={"n": "row"}),
}


@cache
def program_of(plan: str, m: int, n: int, k: int, mapped: bool) -> Program:
    spec = MatmulSpec(2 * m, 2 * n, 2 * k, map=RECTIFIER if mapped else None)
    return compile(spec, TARGET, PLANS[plan])


def followed(program: Program, loops: bool) -> PageFlow | tuple[str, str, str]:
    try:
        return PageFollower(program, loops=loops).follow()
    except FlowError as error:
        return error.rule, error.subject, str(error)


def plainly(program: Program) -> tuple[dict[str, list], dict[str, list]] | PlainError:
    try:
        return plain_flow(program)
    except PlainError as error:
        return error


def assert_agree(program: Program) -> bool:
    """All three ways say the same, or refuse the same. Returns whether they follow all pages."""
    told, enumerated = (followed(program, loops) for loops in (True, False))
    plain = plainly(program)
    if isinstance(plain, PlainError):
        assert not isinstance(told, PageFlow)
        assert told == enumerated
        # Pages that do not pass in whole rounds are told of before what is wrong with them.
        assert told[0] == "CountingImbalance" or told[:2] == plain.args
        return False
    assert isinstance(told, PageFlow), told
    assert isinstance(enumerated, PageFlow), enumerated
    assert listed(told) == listed(enumerated) == plain
    for name, stored in told.stored.items():
        assert stored.misplaced == enumerated.stored[name].misplaced
    return True


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("plan", PLANS)
def test_of_what_the_compiler_makes_every_page_is_told_by_loops(plan, mapped):
    program = program_of(plan, 4, 6, 12, mapped)
    assert assert_agree(program)
    flow = followed(program, loops=True)
    assert isinstance(flow, PageFlow)
    for pages in (*flow.operands.values(), *(at for places in flow.sums.values() for at in places)):
        assert not isinstance(pages.tiles, Listing)


@pytest.mark.parametrize("turns", [(0, 1), (0, 0, 1, 1), (1, 0, 0, 1), (0, 1, 1, 0, 1, 0, 0, 1)])
@pytest.mark.parametrize("swapped", [False, True])
def test_pages_that_take_turns_come_apart_as_they_do_one_by_one(turns, swapped):
    """The stores of two chips get their own pages, or if turns are swapped, each other's."""
    program = merged(turns, tuple(1 - turn for turn in turns) if swapped else turns)
    assert assert_agree(program)
    flow = followed(program, loops=True)
    assert isinstance(flow, PageFlow)
    assert {stored.misplaced for stored in flow.stored.values()} == {0 if swapped else None}


@st.composite
def rewritten(draw: st.DrawFn, walk: Walk) -> Walk:
    """A walk like another: loops split or swapped, or a count or a stride changed."""
    loops = list(walk.loops)
    place = draw(st.integers(0, len(loops) - 1))
    loop = loops[place]
    match draw(st.sampled_from(["split", "swap", "stride", "count", "again"])):
        case "split":
            inner = draw(st.sampled_from([n for n in range(1, 7) if loop.count % n == 0]))
            parts = [Loop(loop.count // inner, loop.stride * inner), Loop(inner, loop.stride)]
            loops[place : place + 1] = draw(st.permutations(parts))
        case "swap":
            loops = draw(st.permutations(loops))
        case "stride":
            loops[place] = Loop(loop.count, draw(st.integers(0, 7)))
        case "count":
            loops[place] = Loop(draw(st.integers(1, 4)), loop.stride)
        case _:
            loops.insert(place, Loop(2, 0))
    return Walk(tuple(loops))


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Programs of the compiler of which walks and block counts have been changed, often alike."""
    plan = draw(st.sampled_from(list(PLANS)))
    m, n = draw(st.sampled_from([(2, 2), (4, 2), (2, 4), (4, 6)]))
    k = draw(st.sampled_from([3, 6] if plan == "a row of three" else [4, 8]))
    program = program_of(plan, m, n, k, draw(st.booleans()))
    for _ in range(draw(st.integers(0, 3))):
        stages = [s for s in program.stages if isinstance(s.kind, Load | Store | MatmulTiles)]
        stage = draw(st.sampled_from(stages))
        if isinstance(stage.kind, MatmulTiles):
            count = draw(st.sampled_from([1, 2, 3, 4, 6]))
            program = changed(program, stage.name, kind=MatmulTiles(count))
            continue
        walk = draw(rewritten(stage.kind.walk))
        tensor = program.tensor_by_name[stage.kind.tensor]
        alike = [
            other
            for other in stages
            if not isinstance(other.kind, MatmulTiles)
            and program.tensor_by_name[other.kind.tensor].value == tensor.value
            and other.kind.walk == stage.kind.walk
            and walk.span[1] < program.tensor_by_name[other.kind.tensor].page_count
        ]
        for other in alike if draw(st.booleans()) else alike[:1]:
            program = changed(program, other.name, kind=replace(other.kind, walk=walk))
    return program


@dataclass(frozen=True)
class Brief:
    """A program that is shown by what was changed in it, and not by all that it is."""

    program: Program

    def __repr__(self) -> str:
        return "; ".join(f"{stage.name}: {stage.kind}" for stage in self.program.stages)


@given(program=programs().map(Brief))
def test_of_changed_programs_all_say_the_same(program):
    assert_agree(program.program)
