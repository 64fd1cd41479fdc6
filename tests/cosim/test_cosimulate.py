"""A co-simulation reports what a simulation does, down to each counter."""

import numpy as np
import pytest

from compiler.ir.mesh import Mesh
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from report.run import record
from sim import reference
from sim.cosim import cosimulate as module
from sim.cosim.cosimulate import cosimulate
from sim.errors import BenchFailedError, OutputFileError
from sim.simulate import simulate
from tests.cosim.configurations import Configuration
from tests.cosim.packages import SMALL
from tests.cosim.tools import needs
from tests.programs import finished, random_operands
from tests.tiers import chosen

CONFIGURATIONS = [
    Configuration(4, 4, 24, 4, 2, "tree", "token", width=8, latency=9),
    Configuration(4, 4, 24, 4, 2, "star", "semaphore", width=8, latency=2),
    Configuration(3, 5, 7, 1, 4),
]


@pytest.fixture(autouse=True)
def icarus():
    """Skip where there is none."""
    needs("icarus")


@pytest.mark.cosim
@pytest.mark.parametrize("configuration", chosen(CONFIGURATIONS, CONFIGURATIONS[:1]))
def test_its_record_is_that_of_a_simulation(configuration):
    program = configuration.program()
    a, b = configuration.operands(program)
    result = cosimulate(program, a, b, simulator="icarus")
    assert record(result) == record(simulate(program, a, b))
    assert np.array_equal(result.c, a @ b)
    assert [chip.timeline for chip in result.chips] == [()] * configuration.chips


GRID = Mesh(row=2, col=2)


@pytest.mark.cosim
@pytest.mark.parametrize(
    ("plan", "target"),
    [
        pytest.param(
            ShardPlan(3, result="all"), "token-mesh", id="tree to all", marks=pytest.mark.slow
        ),
        pytest.param(
            ShardPlan(4, "star", result="all", uneven=True),
            "token-mesh",
            id="star to all, uneven",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ShardPlan(GRID, shard={"m": "row", "k": "col"}),
            "semaphore-mesh",
            id="rows and contraction",
        ),
        pytest.param(
            ShardPlan(GRID, shard={"m": "row", "n": "col"}), "token-mesh", id="rows and columns"
        ),
    ],
)
def test_parts_and_copies_on_several_chips_are_as_in_a_simulation(plan, target):
    """Every test of the bench: also three runs without a reset."""
    program = finished(MatmulSpec(4, 4, 12), plan=plan, target=target, tile=2)
    a, b = random_operands(program, 1)
    result = cosimulate(program, a, b, simulator="icarus", every_test=True)
    assert record(result) == record(simulate(program, a, b))
    assert result.exact


@pytest.mark.cosim
def test_a_copy_that_differs_on_one_chip_fails_the_bench_and_is_named(monkeypatch):
    """The bench is told of another element for chip 1 than for the others."""
    program = finished(MatmulSpec(2, 2, 4), plan=ShardPlan(2, result="all"), tile=2)
    a, b = random_operands(program, 1)
    write_package = module.write_package

    def expect_another(folder, *arguments, **options):
        design = write_package(folder, *arguments, **options)
        path = folder / "c1.c.hex"
        first, *rest = path.read_text().split()
        path.write_text("\n".join([f"{int(first, 16) ^ 1:0{len(first)}x}", *rest]) + "\n")
        return design

    monkeypatch.setattr(module, "write_package", expect_another)
    with pytest.raises(BenchFailedError, match="1 elements differ: chip 1 beat 0 lane 0 is"):
        cosimulate(program, a, b, simulator="icarus")


@pytest.mark.cosim
def test_a_product_that_differs_is_a_result_that_is_not_exact(monkeypatch):
    program = SMALL.program()
    a, b = SMALL.operands(program)
    claimed = reference.claimed
    monkeypatch.setattr(
        reference,
        "claimed",
        lambda *given: {name: c + np.int32(1) for name, c in claimed(*given).items()},
    )
    result = cosimulate(program, a, b, simulator="icarus")
    assert not result.exact
    assert np.array_equal(result.c, a @ b)


@pytest.mark.cosim
def test_an_exact_product_that_is_late_is_a_bench_that_fails(monkeypatch):
    program = SMALL.program()
    a, b = SMALL.operands(program)
    write_package = module.write_package

    def expect_too_little(folder, *arguments, **options):
        design = write_package(folder, *arguments, **options)
        path = folder / "manifest.json"
        cycles = program.schedule.cycles
        path.write_text(
            path.read_text().replace(
                f'"expected_cycles": {cycles}', f'"expected_cycles": {cycles - 1}'
            )
        )
        return design

    monkeypatch.setattr(module, "write_package", expect_too_little)
    cycles = program.schedule.cycles
    late = rf"the run took {cycles} cycles, not {cycles - 1}$"
    with pytest.raises(BenchFailedError, match=late):
        cosimulate(program, a, b, simulator="icarus")


@pytest.mark.cosim
def test_keeps_its_files_where_it_is_told_to_and_runs_every_test(tmp_path):
    program = SMALL.program()
    a, b = SMALL.operands(program)
    folder = tmp_path / "kept"
    assert cosimulate(program, a, b, simulator="icarus", folder=folder, every_test=True).exact
    assert {"manifest.json", "report.json", "run.log", "run.py"} <= {
        path.name for path in folder.iterdir()
    }
    assert "PASS=4 FAIL=0" in (folder / "run.log").read_text()
    with pytest.raises(OutputFileError, match="the folder is not empty"):
        cosimulate(program, a, b, simulator="icarus", folder=folder)


def test_a_report_that_is_cut_off_is_an_error_of_one_line(monkeypatch):
    def ends_too_soon(*_, folder, **__):
        (folder / "report.json").write_text('{"outputs": {"c": ["00')

    monkeypatch.setattr(module, "run_bench", ends_too_soon)
    with pytest.raises(BenchFailedError, match="the bench left a report that cannot be read: "):
        cosimulate(SMALL.program(), *SMALL.operands(SMALL.program()), simulator="icarus")
