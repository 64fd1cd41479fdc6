# amaranth: UnusedElaboratable=no
"""Every stream component does the same in Amaranth's simulator and, as Verilog, under cocotb."""

import pytest

from hw.verilog.convert import to_verilog
from sim.cosim.backend import run_on_amaranth
from sim.cosim.runner import run_bench
from tests.cosim.bodies import DENSITIES, UNITS
from tests.cosim.tools import needs
from tests.tiers import chosen

ON_ICARUS_IN_EVERY_RUN = ("tile_unit", "semaphore_link")
"""A bench takes a second to start, and Verilator half a minute to build each."""


@pytest.mark.covers("values")
@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize("write_density", DENSITIES)
@pytest.mark.parametrize("read_density", DENSITIES)
def test_on_amaranths_simulator(name, write_density, read_density):
    unit = UNITS[name]

    async def body(backend):
        await backend.reset()
        await unit.exercise(backend, write_density, read_density)

    run_on_amaranth(unit.build(), body)


@pytest.mark.cosim
@pytest.mark.parametrize("name", chosen(UNITS, ON_ICARUS_IN_EVERY_RUN))
def test_on_icarus(name, tmp_path):
    run_under_cocotb("icarus", name, tmp_path)


@pytest.mark.cosim
@pytest.mark.slow
@pytest.mark.parametrize("name", UNITS)
def test_on_verilator(name, tmp_path):
    run_under_cocotb("verilator", name, tmp_path)


def run_under_cocotb(simulator, name, folder):
    needs(simulator)
    source = folder / "dut.v"
    source.write_text(to_verilog(UNITS[name].build(), "dut"))
    passed = run_bench(
        simulator,
        sources=[source],
        top="dut",
        module="tests.cosim.bench_unit",
        folder=folder,
        plusargs={"unit": name},
        timeout_seconds=300,
    )
    assert passed == len(DENSITIES) ** 2
