"""Every fault put into the emitted Verilog makes a bench fail."""

import pytest

from tests.cosim.mutants import MUTANTS, SYSTEM, mutated, run_mutant
from tests.cosim.packages import package, run_package
from tests.cosim.tools import needs
from tests.tiers import chosen

pytestmark = pytest.mark.cosim

IN_EVERY_RUN = (
    "a fold subtracts in one lane",
    "no credit comes back",
    "a product starts without room for it",
    "valid is raised with the last flit, not behind it",
)


@pytest.mark.parametrize("mutant", chosen(MUTANTS, [m for m in MUTANTS if str(m) in IN_EVERY_RUN]))
def test_is_noticed(mutant, tmp_path):
    needs("icarus")
    assert run_mutant(mutant, tmp_path), f"no bench notices that {mutant}"


def test_the_system_is_right_without_a_fault(tmp_path):
    needs("icarus")
    assert run_package(package(tmp_path, SYSTEM)) == 4


def test_faults_of_the_system_and_of_units_are_tried_in_every_run():
    benches = [mutant.bench for mutant in MUTANTS if str(mutant) in IN_EVERY_RUN]
    assert len(benches) == len(IN_EVERY_RUN)
    assert len({isinstance(bench, str) for bench in benches}) == 2


def test_a_fault_must_be_found_in_its_module():
    with pytest.raises(AssertionError, match="is not in"):
        mutated("module chip_0_fold (\n);\nendmodule\n", MUTANTS[0])
    assert mutated("module chip_0_matmul (\n);\nendmodule\n", MUTANTS[0]) is None
