"""Why a run does not end: which stages wait, and on what."""

from compiler.ir.stage import MatmulTiles, Recv, Store
from hw.chip import Chip, sender_port
from hw.system import System


def waiting_stages(system: System, get) -> list[str]:
    """One line for each stage and link that waits. ``get`` reads a signal of the system."""
    return [line for chip in system.chips for line in _chip_waits(system, chip, get)]


def _chip_waits(system: System, chip: Chip, get):
    for stage in chip.stages:
        empty = [name for name in stage.ins if not get(chip.fifos[name].o.valid)]
        full = [name for name in stage.outs if not get(chip.fifos[name].i.ready)]
        if isinstance(stage.kind, Store) and get(chip.units[stage.name].done):
            continue
        if empty and len(empty) == len(stage.ins) and isinstance(stage.kind, MatmulTiles):
            continue  # it has taken all that the loads sent; whoever waits for it says so
        for name in empty:
            yield f"{stage.name} waits for a page in {name}"
        for name in full:
            yield f"{stage.name} waits for room in {name}"
        if isinstance(stage.kind, MatmulTiles) and not empty:
            unit = chip.units[stage.name]
            if not get(unit.a.ready):
                yield f"{stage.name} waits for room for a result in {stage.outs[0]}"
        if isinstance(stage.kind, Recv):
            landing = chip.fifos[stage.outs[0]]
            if not get(landing.o.valid):
                (edge,) = system.program.edges_by_destination[stage.name]
                yield f"{stage.name} waits for a page from {edge.source} over {edge.route}"
    for edge in chip.outgoing:
        transmitter = chip.transmitters[edge.name]
        if get(transmitter.stalled):
            yield f"link of {edge.name} ({sender_port(edge)}) waits for a free page at the receiver"
