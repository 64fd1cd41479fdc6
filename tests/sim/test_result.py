from dataclasses import replace

import numpy as np
import pytest

from compiler.ir.mesh import Mesh
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from sim.result import ChipActivity, Difference, RunResult
from sim.simulate import simulate
from tests.programs import finished, program_for, random_operands


def result_of(c, reference, **changes) -> RunResult:
    """The run of a product of this shape on two chips, which said ``c``."""
    rows, cols = np.shape(reference)
    return RunResult(
        program=program_for(rows, cols, 16, chips=2),
        stored={"c": np.asarray(c)},
        references={"c": np.asarray(reference)},
        **{"cycles": 100, "links": (), "chips": (), **changes},
    )


def copies(plan: ShardPlan, **stored) -> RunResult:
    """A run of a product of 3 x 3 whose chips are said to have stored this; it should be zeros."""
    program = finished(MatmulSpec(3, 3, 16), plan=plan, tile=2)
    held = {t.name: np.zeros((t.rows, t.cols), np.int32) for t in program.tensors_of["c"]}
    held |= {f"{chip}.c": array for chip, array in stored.items()}
    return RunResult(
        program=program,
        stored=held,
        references={"c": np.zeros((3, 3), np.int32)},
        cycles=100,
        links=(),
        chips=(),
    )


def test_equal_products_are_exact():
    product = np.arange(6, dtype=np.int32).reshape(2, 3)
    result = result_of(product.copy(), product)
    assert result.exact
    assert result.c.tolist() == product.tolist()
    assert result.differences(5) == []


def test_one_wrong_bit_or_another_type_is_not_exact():
    product = np.arange(6, dtype=np.int32).reshape(2, 3)
    wrong = product ^ np.array([[0, 0, 0], [0, 1, 0]], np.int32)
    assert not result_of(wrong, product).exact
    assert not result_of(product.astype(np.int64), product).exact
    assert result_of(product, product).exact


def test_differences_are_the_first_elements_in_row_major_order():
    product = np.zeros((3, 3), np.int32)
    wrong = product.copy()
    wrong[2, 0], wrong[0, 2], wrong[1, 1] = 7, 8, -9
    result = result_of(wrong, product)
    expected = [
        Difference("c", 0, 0, 2, 8, 0),
        Difference("c", 0, 1, 1, -9, 0),
        Difference("c", 0, 2, 0, 7, 0),
    ]
    assert result.differences(9) == expected
    assert result.differences(2) == expected[:2]


@pytest.mark.parametrize("chip", range(4))
def test_a_copy_that_differs_names_its_chip_whichever_it_is(chip):
    plan = ShardPlan(4, result="all")
    wrong = np.zeros((3, 3), np.int32)
    wrong[2, 1] = 5
    assert copies(plan).exact
    result = copies(plan, **{f"c{chip}": wrong})
    assert not result.exact
    assert result.differences(9) == [Difference("c", chip, 2, 1, 5, 0)]
    assert result.c.any() == (chip == 0)


def test_a_part_that_differs_is_placed_in_the_whole():
    """Rows and columns of the product are over two chips each; the last tile of each is short."""
    plan = ShardPlan(Mesh(row=2, col=2), shard={"m": "row", "n": "col"}, uneven=True)
    result = copies(plan, c1=np.array([[0], [4]], np.int32), c2=np.array([[0, 6]], np.int32))
    assert result.c.tolist() == [[0, 0, 0], [0, 0, 4], [0, 6, 0]]
    assert result.differences(9) == [
        Difference("c", 1, 1, 2, 4, 0),
        Difference("c", 2, 2, 1, 6, 0),
    ]


def test_multiplications_that_count_are_those_of_the_product_over_what_all_chips_could_make():
    for plan, k, share in (
        (ShardPlan(4, uneven=True), 12, 6 / 8),  # 2, 2, 1 and 1 blocks of 2, which is at most 2
        (ShardPlan(Mesh(row=2, col=2), shard={"k": "col"}), 8, 1 / 2),  # each product twice
        (ShardPlan(4), 16, 1),
    ):
        program = finished(MatmulSpec(4, 4, k), plan=plan, tile=2)
        result = RunResult(program, {}, {}, 100, (), ())
        assert result.useful_multiplications == pytest.approx(share)


@pytest.mark.parametrize("cycles", [32, 64, 100])
def test_utilization_is_ideal_cycles_over_cycles(cycles):
    zeros = np.zeros((8, 8), np.int32)
    result = result_of(zeros, zeros, cycles=cycles)
    assert result.ideal_cycles == 8 * 8 * 16 // (2 * 4 * 4)
    assert result.utilization == result.ideal_cycles / cycles


@pytest.mark.parametrize("tile", [1, 4, 8])
def test_one_chip_exposes_no_reduction(tile):
    program = program_for(8, 8, 16, tile=tile)
    assert simulate(program, *random_operands(program, 0)).exposed_reduction_cycles == 0


def test_reduction_is_exposed_from_the_last_product_of_any_chip():
    # The last row of a 4 x 4 tile is in memory 7 + 3 + 1 cycles behind its last pair of beats.
    chips = (ChipActivity(0, 32, 40), ChipActivity(1, 32, 60), ChipActivity(2, 32, 50))
    assert result_of([[0]], [[0]], cycles=100, chips=chips).exposed_reduction_cycles == 29


def test_a_result_cannot_be_changed():
    result = result_of([[0]], [[0]])
    assert replace(result, cycles=50).cycles == 50
    with pytest.raises(AttributeError):
        result.cycles = 50
