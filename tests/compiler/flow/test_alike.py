"""Components that differ in names alone are found, and no others."""

from dataclasses import replace

import pytest

from compiler.flow.alike import alike
from compiler.flow.components import Component, components
from compiler.ir.body import Add, Operand
from compiler.ir.buffer import Depth
from compiler.ir.edge import Barrier, Semaphore, Token
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Fold, MatmulTiles
from tests.compiler.programs import changed, spread

GROUPS = spread(
    32, 32, 48, mesh=Mesh(row=3, col=3), shard=(("k", "col"), ("n", "row")), uneven=True
)
"""Three groups of chips; of 4 columns of tiles the first has 2."""


def sizes(program: Program) -> list[int]:
    return [len(group) for group in alike(program, components(program))]


def test_groups_of_chips_are_alike_if_they_have_as_much_to_do():
    assert sizes(GROUPS) == [1, 2]
    even = spread(32, 24, 48, mesh=Mesh(row=3, col=3), shard=(("k", "col"), ("n", "row")))
    assert sizes(even) == [3]


def test_stages_of_those_that_are_alike_correspond_by_their_places():
    _, (one, other) = alike(GROUPS, components(GROUPS))
    local = [[stage.name.split(".")[1] for stage in part.stages] for part in (one, other)]
    assert local[0] == local[1]
    assert {s.name for s in one.stages}.isdisjoint(s.name for s in other.stages)


def with_link(program: Program, **changes: int) -> Program:
    links = tuple(
        replace(link, **changes) if link.name == "c7->c6" else link for link in program.links
    )
    return replace(program, links=links)


ANOTHER = [
    changed(GROUPS, "c6.landing_0", depth=Depth(77)),
    changed(GROUPS, "c6.a_pages", depth=Depth(1)),
    changed(GROUPS, "c6.reduced", fall_through=True),
    changed(GROUPS, "c7.matmul", kind=MatmulTiles(1)),
    changed(GROUPS, "c6.fold", kind=Fold(Add(Operand(0), Add(Operand(1), Operand(2))))),
    changed(GROUPS, "c7.matmul->c6.recv_0", handoff=Semaphore("ready", "valid")),
    with_link(GROUPS, latency_cycles=3),
    with_link(GROUPS, width_bits=31),
    with_link(GROUPS, flit_cycles=2),
]


@pytest.mark.parametrize("program", ANOTHER, ids=range(len(ANOTHER)))
def test_whatever_costs_cycles_tells_them_apart(program):
    parts = components(GROUPS)
    groups = alike(program, _renewed(program, parts))
    assert [len(group) for group in groups] == [1, 1, 1]


def _renewed(program: Program, parts: list[Component]) -> list[Component]:
    """The components with the stages that the changed program has in their places."""
    return [
        replace(part, stages=tuple(program.stage_by_name[s.name] for s in part.stages))
        for part in parts
    ]


def test_what_costs_none_does_not():
    token = changed(GROUPS, "c7.matmul->c6.recv_0", handoff=Token())
    assert sizes(token) == sizes(GROUPS)


def test_chips_that_meet_at_a_barrier_are_in_one_component():
    program = spread(mesh=Mesh(row=2, col=2), shard=(("k", "col"), ("m", "row")))
    assert len(components(program)) == 2
    edges = tuple(
        replace(edge, handoff=Barrier("both")) if program.crosses(edge) else edge
        for edge in program.edges
    )
    (part,) = components(replace(program, edges=edges))
    assert {stage.name for stage in part.stages} == {stage.name for stage in program.stages}
