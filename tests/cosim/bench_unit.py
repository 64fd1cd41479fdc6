"""The cocotb side of the unit benches: runs a body of ``tests.cosim.bodies`` on the Verilog."""

import cocotb

from sim.cosim.cocotb_backend import CocotbBackend
from tests.cosim.bodies import DENSITIES, UNITS


@cocotb.test()
@cocotb.parametrize(write_density=DENSITIES, read_density=DENSITIES)
async def does_as_its_body_asks(dut, write_density, read_density):
    unit = UNITS[str(cocotb.plusargs["unit"])]
    backend = CocotbBackend(dut, unit.build())
    await backend.reset()
    await unit.exercise(backend, write_density, read_density)
