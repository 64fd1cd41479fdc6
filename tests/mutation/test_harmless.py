"""What says the same otherwise is certified, and computes the same: mutations are not refused at
sight."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from compiler.check import check
from compiler.ir.init import External
from compiler.ir.layout import Replicate
from compiler.ir.mesh import Mesh, MeshAxis
from compiler.ir.program import Program
from sim.interpreter import interpret
from tests.mutation.agreements import recut
from tests.mutation.certified import PLANS, answer, certified_program, completed, operands
from tests.mutation.consequences import wrong_element
from tests.mutation.meshes import everywhere
from tests.mutation.parts import axis_of, switches
from tests.mutation.ways import around, held_around, joint_buffers, turned

Saying = Callable[[Program], Program | None]


def the_axes_have_other_names(program: Program) -> Program | None:
    names = {axis.name: f"other{index}" for index, axis in enumerate(program.mesh.axes)}
    axes = tuple(replace(axis, name=names[axis.name]) for axis in program.mesh.axes)
    collectives = tuple(replace(c, axis=names[c.axis]) for c in program.collectives)
    return replace(program, mesh=Mesh(axes), collectives=collectives)


def there_is_an_axis_of_one_chip(program: Program) -> Program | None:
    mesh = Mesh((*program.mesh.axes, MeshAxis("spare", 1)))
    return everywhere(replace(program, mesh=mesh), lambda layout: (*layout, Replicate()))


def what_shares_a_link_takes_other_turns(program: Program) -> Program | None:
    """At both of its ends, and the buffers between them say so."""
    pair = switches(program)
    if pair is None:
        return None
    for name in joint_buffers(program, pair[0]):
        program = held_around(program, name)
    for stage in pair:
        program = turned(program, stage, around(stage.kind.turns))
    return completed(program)


def turns_are_said_twice(program: Program) -> Program | None:
    pair = switches(program)
    if pair is None:
        return None
    return turned(program, pair[0], pair[0].kind.turns * 2)


def a_boundary_of_slices_is_moved(program: Program) -> Program | None:
    """The first slice gives its last tile to the second, in all that follows from it."""
    size, axis = program.tile, axis_of(program, "k")
    left = next(t for t in program.tensors if t.value == program.claim.left)
    if axis is None or left.col_tiles < 2:
        return None

    def moved(index: int, bounds: tuple[int, int]) -> tuple[int, int]:
        begin, extent = bounds
        if index > 1:
            return bounds
        return (begin, extent - size) if index == 0 else (begin - size, extent + size)

    return recut(program, "k", moved)


SAYINGS = (
    the_axes_have_other_names,
    there_is_an_axis_of_one_chip,
    what_shares_a_link_takes_other_turns,
    turns_are_said_twice,
    a_boundary_of_slices_is_moved,
)


@pytest.mark.parametrize("saying", SAYINGS, ids=lambda saying: saying.__name__.replace("_", " "))
def test_what_says_the_same_holds_and_computes_the_same(saying):
    said = {name: saying(certified_program(name)) for name in PLANS}
    applied = {name: program for name, program in said.items() if program is not None}
    assert len(applied) >= 2
    for name, program in applied.items():
        assert program != certified_program(name)
        assert check(program).violated == (), name
        a, b = operands(name)
        is_given = isinstance(PLANS[name].spec.a, External)
        result = interpret(program, *((a, b) if is_given else (None, None)))
        assert wrong_element(result, answer(name, a, b)) is None, name


@pytest.mark.parametrize("extent", [3, 11])
@pytest.mark.parametrize("name", ["4 chips, star", "2 x 2 chips, rows and contraction"])
def test_whole_slices_may_be_padding(name, extent):
    """A product of fewer elements, on the chips of a larger one, all the rest being zeros."""
    program = certified_program(name)
    fewer = program.claim.k - extent
    values = tuple(
        replace(
            value,
            rows=value.rows - fewer * (value.dims[0] == "k"),
            cols=value.cols - fewer * (value.dims[1] == "k"),
            pad=(fewer * (value.dims[0] == "k"), fewer * (value.dims[1] == "k")),
        )
        for value in program.graph.values
    )
    program = replace(program, graph=replace(program.graph, values=values))
    assert check(program).violated == ()
    a, b = operands(name)
    result = interpret(program, a[:, :extent], b[:extent])
    assert np.array_equal(result.c, a[:, :extent] @ b[:extent])
