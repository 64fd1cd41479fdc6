"""What a chip counts, and its register map, as they follow from the program."""

from compiler.ir.program import Program
from compiler.ir.stage import MatmulTiles, Stage
from hw.link_ports import sender_port
from hw.names import local_name
from hw.register_map import RegisterMap, register_map


def chip_events(program: Program, chip: int, *, host: bool) -> list[str]:
    """What a chip counts: work of its products, waits of its stages, traffic of its links.

    A chip without a host port does not count the waits.
    """
    program = program.canonical
    stages = _stages(program, chip)
    here = {stage.name for stage in stages}
    return [
        *(f"{product}_active" for product in _products(stages)),
        *(f"{local_name(stage.name)}_stalled" for stage in stages if host),
        *(
            f"{sender_port(edge)}_{event}"
            for edge in program.edges
            if program.crosses(edge) and edge.source in here
            for event in ("beats", "busy", "stalled")
        ),
    ]


def chip_register_map(program: Program, chip: int, *, host: bool = True) -> RegisterMap:
    """The register map of a chip, counters included."""
    counters = [f"{event}_count" for event in chip_events(program, chip, host=host)]
    counters += [f"{product}_active_last" for product in _products(_stages(program, chip))]
    return register_map(program, chip, tuple(counters))


def _stages(program: Program, chip: int) -> list[Stage]:
    return [s for s in program.canonical.stages if s.site is not None and s.site.chip == chip]


def _products(stages: list[Stage]) -> list[str]:
    return [local_name(stage.name) for stage in stages if isinstance(stage.kind, MatmulTiles)]
