# amaranth: UnusedElaboratable=no
import pytest

from compiler.ir.stage import MatmulTiles
from hw.chip import Chip
from hw.chip_registers import chip_events, chip_register_map
from hw.names import local_name
from tests.programs import program_for

PROGRAMS = {
    "one chip": program_for(8, 8, 8, chips=1),
    "tree": program_for(8, 12, 64, chips=8),
    "star": program_for(8, 8, 32, chips=4, reduce="star"),
    "semaphores": program_for(8, 8, 32, chips=4, target="semaphore-mesh"),
}
pytestmark = pytest.mark.usefixtures("never_built")
each_program = pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)


@each_program
@pytest.mark.parametrize("host", [False, True])
def test_a_chip_counts_its_products_its_waits_if_it_has_a_host_and_its_links(program, host):
    for chip in range(program.chip_count):
        mine = [s for s in program.stages if s.site.chip == chip]
        leaving = {
            local_name(edge.buffer)
            for edge in program.edges
            if edge.source in {s.name for s in mine}
            and program.stage_by_name[edge.destination] not in mine
        }
        expected = {f"{local_name(s.name)}_active" for s in mine if isinstance(s.kind, MatmulTiles)}
        expected |= {f"{local_name(s.name)}_stalled" for s in mine if host}
        expected |= {
            f"{buffer}_link_{event}" for buffer in leaving for event in ("beats", "busy", "stalled")
        }
        events = chip_events(program, chip, host=host)
        assert sorted(events) == sorted(expected)


@each_program
def test_every_counter_of_a_chip_has_a_register(program):
    for index in range(program.chip_count):
        chip = Chip(program, index, host=True)
        registers = chip_register_map(program, index)
        assert registers == chip.register_map
        sources = {register.source for register in registers.registers}
        assert {f"{event}_count" for event in chip.activity.events} <= sources
        assert {"matmul_active_last", "cycles", "status", "coordinate"} <= sources
