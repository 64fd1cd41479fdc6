"""Rings of chips on every engine: exact, on time, and again without a reset."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from sim.cosim.cosimulate import cosimulate
from tests.cosim.configurations import ENGINES
from tests.cosim.tools import needs
from tests.hw.simulation import idle, simulate
from tests.hw.system_bench import SETTLING_CYCLES, SystemBench
from tests.programs import finished, random_operands
from tests.tiers import chosen

RESULTS = ("home", "all", "scattered")
MESH = Mesh(row=2, col=3)


@dataclass(frozen=True)
class Ring:
    """A ring of chips, and the machine that it is on."""

    chips: int
    result: str
    tile: int = 2
    handoff: str = "token"
    width: int = 64
    latency: int = 4

    def __str__(self) -> str:
        links = f"{self.handoff}, {self.width} bits, {self.latency} cycles"
        return f"{self.chips} of {self.tile}, {self.result}, {links}"

    def program(self) -> Program:
        """Two rows of tiles, and a column more than there are chips."""
        size = self.tile
        return finished(
            MatmulSpec(2 * size, size * (self.chips + 1), 2 * size * self.chips),
            plan=ShardPlan(self.chips, "ring", result=self.result, uneven=True),
            target=f"{self.handoff}-mesh",
            tile=size,
            link_width_bits=self.width,
            link_latency_cycles=self.latency,
        )


LINKS = {
    2: {"tile": 3, "handoff": "semaphore", "width": 8, "latency": 12},
    3: {"width": 256, "latency": 1},
    4: {"tile": 4, "width": 24, "latency": 7},
    5: {"handoff": "semaphore", "width": 100, "latency": 2},
    7: {"width": 16, "latency": 5},
}
RINGS = [Ring(chips, result, **links) for chips, links in LINKS.items() for result in RESULTS]
IN_EVERY_RUN = [Ring(2, "all", **LINKS[2]), Ring(3, "scattered", **LINKS[3])]
each_ring = pytest.mark.parametrize("ring", RINGS, ids=str)


@cache
def program_of(ring: Ring) -> Program:
    return ring.program()


@pytest.fixture(autouse=True)
def models(tmp_path_factory, monkeypatch):
    """Models of the compiled engine go where all workers of this run find them."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if base.name.startswith("popen-") else base
    monkeypatch.setattr("sim.compiled.cache.cache_folder", lambda: shared / "models")


@pytest.mark.parametrize("ring", chosen(RINGS, IN_EVERY_RUN))
def test_three_runs_without_a_reset_are_exact_on_every_chip_and_on_time(ring):
    """With other operands in each."""
    assert_three_runs(program_of(ring))


def assert_three_runs(program: Program) -> None:
    bench = SystemBench(program)
    runs = []

    async def testbench(ctx):
        for seed in range(3):
            await idle(ctx, SETTLING_CYCLES)
            runs.append(await bench.multiply(ctx, *random_operands(program, seed)))

    simulate(bench.dut, testbench)
    assert runs == [(True, program.schedule.cycles)] * 3


def on_mesh(axis: str, result: str) -> Program:
    """Rings along one axis of a mesh whose other one cuts rows, unevenly."""
    (other,) = {*MESH.names} - {axis}
    plan = ShardPlan(MESH, "ring", shard={"k": axis, "m": other}, result=result, uneven=True)
    return finished(MatmulSpec(8, 8, 14), plan=plan, tile=2, link_width_bits=64)


ON_MESHES = [(axis, result) for axis in MESH.names for result in RESULTS]


@pytest.mark.parametrize("axis_and_result", chosen(ON_MESHES, [("row", "all")], ids=" ".join))
def test_rings_along_an_axis_of_a_mesh_are_exact_and_on_time_in_three_runs(axis_and_result):
    assert_three_runs(on_mesh(*axis_and_result))


@pytest.mark.slow
@pytest.mark.cosim
@each_ring
def test_the_compiled_engine_says_the_same(ring):
    needs("compiled")
    program = program_of(ring)
    a, b = random_operands(program, seed=7)
    result = ENGINES["compiled"](program, a, b)
    assert result.exact
    assert np.array_equal(result.c, a @ b)
    assert result.cycles == program.schedule.cycles


@pytest.mark.slow
@pytest.mark.cosim
@each_ring
def test_the_emitted_verilog_says_the_same_in_three_runs(ring):
    needs("icarus")
    program = program_of(ring)
    a, b = random_operands(program, seed=7)
    result = cosimulate(program, a, b, simulator="icarus", every_test=True)
    assert result.exact
    assert result.cycles == program.schedule.cycles
