"""The start pin of an emitted system, asserted in every cycle of a run."""

import pytest

from tests.cosim.configurations import Configuration
from tests.cosim.packages import package, run_package
from tests.cosim.tools import needs


@pytest.mark.cosim
@pytest.mark.parametrize("handoff", ["token", "semaphore", "barrier"])
def test_three_runs_whose_start_is_held_are_exact_and_on_time(handoff, tmp_path):
    needs("icarus")
    star = Configuration(4, 6, 18, 3, 2, "star", handoff, width=64, latency=4)
    folder = package(tmp_path, star)
    assert run_package(folder, tests=("starts_in_the_middle_are_ignored",)) == 1
