"""What a chip counts, and its register map, as they follow from the program."""

from compiler.ir.program import Program
from hw.link_ports import sender_port
from hw.names import local_name
from hw.register_map import RegisterMap, register_map


def chip_events(program: Program, chip: int, *, host: bool) -> list[str]:
    """What a chip counts: work of its products, waits of its stages, traffic of its links.

    A chip without a host port does not count the waits.
    """
    view = program.canonical.chips[chip]
    return [
        *(f"{local_name(stage.name)}_active" for stage in view.products),
        *(f"{local_name(stage.name)}_stalled" for stage in view.stages if host),
        *(
            f"{sender_port(edge)}_{event}"
            for edge in view.outgoing
            for event in ("beats", "busy", "stalled")
        ),
    ]


def chip_register_map(program: Program, chip: int, *, host: bool = True) -> RegisterMap:
    """The register map of a chip, counters included."""
    products = program.canonical.chips[chip].products
    counters = [f"{event}_count" for event in chip_events(program, chip, host=host)]
    counters += [f"{local_name(product.name)}_active_last" for product in products]
    return register_map(program, chip, tuple(counters))
