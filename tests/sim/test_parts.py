"""Parts of values, cut out and put together again."""

from dataclasses import replace

import numpy as np
import pytest

from compiler.ir.tensor import Part
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from sim.errors import ValueGapError
from sim.parts import assembled, part_of, place_of
from tests.programs import finished, program_for


def test_a_part_ends_in_zeros_behind_the_end_of_its_value():
    tensor = replace(program_for(4, 4, 8).tensor_by_name["a"], rows=3, cols=4, part=Part("a", 2, 5))
    array = np.arange(1, 29).reshape(4, 7)
    expected = [[array[2, 5], array[2, 6], 0, 0], [array[3, 5], array[3, 6], 0, 0], [0] * 4]
    assert part_of(array, tensor).tolist() == expected


def test_a_part_behind_the_end_of_its_value_is_zeros():
    tensor = replace(program_for(4, 4, 8).tensor_by_name["a"], rows=2, cols=2, part=Part("a", 0, 8))
    assert part_of(np.ones((4, 7), int), tensor).tolist() == [[0, 0], [0, 0]]


def test_parts_cut_out_of_a_value_make_it_up_again():
    program = finished(
        MatmulSpec(7, 3, 8), plan=ShardPlan(3, shard={"m": "tp"}, uneven=True), tile=2
    )
    array = np.arange(21).reshape(7, 3)
    held = {t.name: part_of(array, t) for t in program.tensors_of["c"]}
    assert len(held) == 3
    assert np.array_equal(assembled(program, held, "c"), array)
    places = [place_of(program, tensor) for tensor in program.canonical.tensors_of["c"]]
    assert places == [(slice(a, b), slice(0, 3)) for a, b in ((0, 4), (4, 6), (6, 7))]


def test_the_first_copy_of_an_element_counts():
    program = finished(MatmulSpec(2, 2, 8), plan=ShardPlan(2, result="all"), tile=2)
    held = {"c0.c": np.full((2, 2), 5), "c1.c": np.full((2, 2), 6)}
    assert assembled(program, held, "c").tolist() == [[5, 5], [5, 5]]


def test_an_element_that_no_chip_has_is_named():
    program = finished(MatmulSpec(4, 2, 8), plan=ShardPlan(2, shard={"m": "tp"}), tile=2)
    moved = tuple(
        replace(tensor, part=Part("c", 0, 0)) if tensor.name == "c1.c" else tensor
        for tensor in program.tensors
    )
    program = replace(program, tensors=moved)
    held = {name: np.zeros((2, 2), np.int32) for name in ("c0.c", "c1.c")}
    with pytest.raises(ValueGapError) as error:
        assembled(program, held, "c")
    assert str(error.value) == (
        "no tensor of the program holds element [2, 0] of 'c', so the value cannot be put "
        "together; give it a tensor whose part has it"
    )
