"""From inputs by position and by name to what each tensor of a program holds."""

from dataclasses import replace

import numpy as np
import pytest

from compiler.ir.init import Const, ConstFloat, Pattern, Values, Zero
from compiler.ir.mesh import Mesh
from compiler.ir.tensor import ValueRange
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from sim.binding import bind
from sim.errors import (
    InexactValueError,
    InputCountError,
    InputTwiceError,
    OperandDtypeError,
    OperandRangeError,
    OperandShapeError,
    OperandSourceError,
    UnknownInputError,
)
from sim.parts import assembled
from tests.programs import finished, program_for

RNG = np.random.default_rng(7)


def test_inputs_are_the_same_by_position_and_by_name():
    program = program_for(3, 5, 8, chips=2)
    a, b = RNG.integers(-128, 128, (3, 8)), RNG.integers(-128, 128, (8, 5))
    expected = bind(program, a, b)
    for given in (
        bind(program, inputs={"b": b, "a": a}),
        bind(program, a, inputs={"b": b}),
        bind(program, None, b, inputs={"a": a}),
    ):
        assert given.keys() == expected.keys()
        assert all(np.array_equal(given[name], expected[name]) for name in expected)


def test_an_input_that_is_unknown_or_given_twice_or_one_too_many_is_named():
    program = program_for(2, 2, 8)
    a = np.ones((2, 8), int)
    with pytest.raises(UnknownInputError) as unknown:
        bind(program, a, inputs={"x": a.T})
    assert str(unknown.value) == "the program has no input 'x'; its inputs are a, b"
    with pytest.raises(InputTwiceError) as twice:
        bind(program, a, a.T, inputs={"b": a.T})
    assert str(twice.value) == "operand b is given by position and by name; give it once"
    with pytest.raises(InputCountError) as many:
        bind(program, a, a.T, a)
    assert str(many.value) == (
        "3 arrays are given, but the program has 2 inputs; give one for each of a, b, in this "
        "order, or by name (inputs)"
    )


ROWS, GRID = Mesh(tp=4), Mesh(row=2, col=2)


@pytest.mark.parametrize(
    ("plan", "rows", "cols", "ks"),
    [
        # m = 10, n = 6 and k = 14 in tiles of 2; per chip the slices of A's rows, B's cols, of k.
        (ShardPlan(ROWS, shard={"m": "tp"}, uneven=True), [4, 2, 2, 2], [6] * 4, [14] * 4),
        (ShardPlan(ROWS, uneven=True), [10] * 4, [6] * 4, [4, 4, 4, 2]),
        (
            ShardPlan(GRID, shard={"m": "row", "n": "col"}, uneven=True),
            [6, 6, 4, 4],
            [4, 2, 4, 2],
            [14] * 4,
        ),
        (
            ShardPlan(GRID, shard={"k": "row", "n": "col"}, uneven=True),
            [10] * 4,
            [4, 2, 4, 2],
            [8, 8, 6, 6],
        ),
        (ShardPlan(GRID, shard={"k": "col"}, uneven=True), [10] * 4, [6] * 4, [8, 6, 8, 6]),
    ],
    ids=["m", "k", "m and n", "k and n", "one axis idle"],
)
def test_each_chip_gets_its_part_along_every_axis(plan, rows, cols, ks):
    program = finished(MatmulSpec(10, 6, 14), plan=plan, tile=2)
    a, b = RNG.integers(-128, 128, (10, 14)), RNG.integers(-128, 128, (14, 6))
    contents = bind(program, a, b)

    def span(sizes: list[int], dim: str, chip: int) -> slice:
        axis = dict(plan.shard).get(dim)
        if axis is None:
            return slice(None)
        coordinates = list(program.mesh.coordinates(chip))
        along = program.mesh.index(axis)
        before = range(coordinates[along])
        chips = [
            program.mesh.chip((*coordinates[:along], i, *coordinates[along + 1 :])) for i in before
        ]
        first = sum(sizes[each] for each in chips)
        return slice(first, first + sizes[chip])

    for chip in range(4):
        of_k = span(ks, "k", chip)
        assert np.array_equal(contents[f"c{chip}.a"], a[span(rows, "m", chip), of_k])
        assert np.array_equal(contents[f"c{chip}.b"], b[of_k, span(cols, "n", chip)])
    for name, array in (("a", a), ("b", b)):
        assert np.array_equal(assembled(program, contents, name), array)


@pytest.mark.parametrize(
    "init", [Const(2**70), Values((2**70,) * 4), Pattern(3, -(2**70))], ids=lambda i: type(i)
)
def test_values_of_a_program_that_64_bits_do_not_hold_are_named(init):
    program = finished(MatmulSpec(2, 2, 2), tile=2)
    tensors = (replace(program.tensors[0], init=init), *program.tensors[1:])
    with pytest.raises(InexactValueError, match=f"tensor 'a' holds {2**70} at"):
        bind(replace(program, tensors=tensors), None, np.ones((2, 2), int))


@pytest.mark.parametrize(("k", "k_pad"), [(24, 0), (17, 7), (1, 23)])
def test_each_chip_gets_its_slice_and_zeros_behind_the_last_element(k, k_pad):
    program = program_for(3, 5, k, k_pad=k_pad, chips=3)
    a, b = RNG.integers(-128, 128, (3, k)), RNG.integers(-128, 128, (k, 5))
    contents = bind(program, a, b)
    padded_a, padded_b = np.pad(a, [(0, 0), (0, k_pad)]), np.pad(b, [(0, k_pad), (0, 0)])
    assert set(contents) == {f"c{chip}.{name}" for chip in range(3) for name in "ab"}
    for chip in range(3):
        piece = slice(8 * chip, 8 * chip + 8)
        assert np.array_equal(contents[f"c{chip}.a"], padded_a[:, piece])
        assert np.array_equal(contents[f"c{chip}.b"], padded_b[piece])
    assert np.array_equal(assembled(program, contents, "a"), a)
    assert np.array_equal(assembled(program, contents, "b"), b)


@pytest.mark.parametrize("chips", [1, 2])
@pytest.mark.parametrize(
    ("init", "values"),
    [
        (Zero(), np.zeros((3, 8))),
        (Const(-5), np.full((3, 8), -5)),
        (Pattern(modulus=7, shift=3), (np.arange(24) % 7 - 3).reshape(3, 8)),
        (Values(tuple(range(-12, 12))), np.arange(-12, 12).reshape(3, 8)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_that_the_program_states_need_no_operand(init, values, chips):
    spec = MatmulSpec(3, 2, 8, a=init)
    program = finished(spec, chips=chips, tile=2)
    contents = bind(program, None, np.ones((8, 2), int))
    assert np.array_equal(assembled(program, contents, "a"), values)


def test_refuses_an_operand_that_is_missing_or_that_the_program_has():
    program = program_for(2, 2, 8)
    ones = np.ones((2, 8), int)
    with pytest.raises(OperandSourceError) as error:
        bind(program, ones, None)
    assert str(error.value) == (
        "operand b is missing, and the program does not hold its values; give it"
    )
    spec = MatmulSpec(2, 2, 8, a=Zero())
    program = finished(spec)
    with pytest.raises(OperandSourceError) as error:
        bind(program, ones, ones.T)
    assert str(error.value) == "operand a is given, but the program holds its values; leave it out"


def test_refuses_an_operand_of_another_shape_than_was_compiled():
    program = program_for(2, 3, 8, chips=2)
    with pytest.raises(OperandShapeError) as error:
        bind(program, np.ones((2, 8), int), np.ones((3, 8), int))
    assert str(error.value) == (
        "operand b must be 8 x 3, as the program was compiled, not of shape (3, 8); "
        "compile the program for this shape"
    )


def test_refuses_a_value_outside_of_the_declared_range():
    program = finished(MatmulSpec(2, 2, 8, b_range=ValueRange(0, 9)), chips=2)
    with pytest.raises(OperandRangeError, match=r"operand b holds 10 at row 0, .* \[0, 9\]"):
        bind(program, np.ones((2, 8), int), np.full((8, 2), 10))


def test_refuses_to_run_float_fills_as_integers():
    program = finished(MatmulSpec(2, 2, 8))
    tensors = (replace(program.tensors[0], init=ConstFloat(0.5)), *program.tensors[1:])
    program = replace(program, tensors=tensors)
    with pytest.raises(OperandDtypeError, match="operand a must hold integers, not ConstFloat"):
        bind(program, None, np.ones((8, 2), int))
