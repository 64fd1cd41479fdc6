from dataclasses import replace

import numpy as np
import pytest

from sim.result import ChipActivity, RunResult
from sim.simulate import simulate
from tests.programs import program_for, random_operands


def result_of(c, reference, **changes) -> RunResult:
    return RunResult(
        program=program_for(8, 8, 16, chips=2),
        c=np.asarray(c),
        reference=np.asarray(reference),
        **{"cycles": 100, "links": (), "chips": (), **changes},
    )


def test_equal_products_are_exact():
    result = result_of(np.arange(6, dtype=np.int32), np.arange(6, dtype=np.int32))
    assert result.exact
    assert result.differences(5) == []


def test_one_wrong_bit_or_another_type_is_not_exact():
    product = np.arange(6, dtype=np.int32).reshape(2, 3)
    wrong = product ^ np.array([[0, 0, 0], [0, 1, 0]], np.int32)
    assert not result_of(wrong, product).exact
    assert not result_of(product.astype(np.int64), product).exact
    assert not result_of(product[:1], product).exact


def test_differences_are_the_first_elements_in_row_major_order():
    product = np.zeros((3, 3), np.int32)
    wrong = product.copy()
    wrong[2, 0], wrong[0, 2], wrong[1, 1] = 7, 8, -9
    result = result_of(wrong, product)
    assert result.differences(9) == [(0, 2, 8, 0), (1, 1, -9, 0), (2, 0, 7, 0)]
    assert result.differences(2) == [(0, 2, 8, 0), (1, 1, -9, 0)]


@pytest.mark.parametrize("cycles", [32, 64, 100])
def test_utilization_is_ideal_cycles_over_cycles(cycles):
    result = result_of([[0]], [[0]], cycles=cycles)
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
