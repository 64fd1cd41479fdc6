"""Why a run does not end: which stages wait, and on what."""

from collections.abc import Iterator

from compiler.ir.edge import Edge
from compiler.ir.stage import Fold, MatmulTiles, Recv, Stage, Store
from hw.chip import Chip, sender_port
from hw.names import local_name
from hw.system import System


def waiting_stages(system: System, get) -> list[str]:
    """One line for each page or room that a stage or a link waits for.

    A stage that has done all of its work waits for nothing. ``get`` reads a signal of the system.
    """
    standstill = _Standstill(system, get)
    return [line for chip in system.chips for line in standstill.chip_waits(chip)]


class _Standstill:
    """A system at the moment at which it was given up."""

    def __init__(self, system: System, get):
        self.system = system
        self.program = system.program
        self.get = get
        self.chip_of = {stage.name: chip for chip in system.chips for stage in chip.stages}
        self.producer_of = {name: s for s in self.program.stages for name in s.outs}

    def chip_waits(self, chip: Chip) -> Iterator[str]:
        for stage in chip.stages:
            yield from self._page_waits(chip, stage)
            yield from self._room_waits(chip, stage)
        for edge in chip.outgoing:
            if self._stalled(edge):
                (landing,) = self.program.stage_by_name[edge.destination].outs
                yield f"link {_route(edge)} waits for a free page in {landing}"

    def _page_waits(self, chip: Chip, stage: Stage) -> Iterator[str]:
        if self._finished(stage):
            return
        for name in stage.ins:
            if not self._holds_page(name):
                yield f"{stage.name} waits for a page from {self.producer_of[name].name} in {name}"
        if isinstance(stage.kind, Recv):
            edge = self._arriving(stage)
            if not (self._stalled(edge) and self._holds_page(stage.outs[0])):
                yield f"{stage.name} waits for a page from {edge.source} over {_route(edge)}"

    def _room_waits(self, chip: Chip, stage: Stage) -> Iterator[str]:
        unit = chip.units[stage.name]
        if isinstance(stage.kind, MatmulTiles):
            if all(map(self._holds_page, stage.ins)) and not self.get(unit.a.ready):
                yield f"{stage.name} waits for room for a whole page in {stage.outs[0]}"
        elif not isinstance(stage.kind, Recv | Store):
            for name in stage.outs:
                if self.get(unit.o.valid) and not self.get(chip.fifos[name].i.ready):
                    yield f"{stage.name} waits for room in {name}"

    def _finished(self, stage: Stage) -> bool:
        """Whether a stage has taken all that the program gives it to take."""
        chip, work, tile = self.chip_of[stage.name], self.program.work, self.program.tile
        assert work is not None
        match stage.kind:
            case Store():
                return bool(self.get(chip.units[stage.name].done))
            case MatmulTiles(block_count):
                assert block_count is not None
                taken = self.get(chip.activity.count(f"{local_name(stage.name)}_active"))
                return taken == work.result_pages * block_count * tile
            case Recv():
                edge = self._arriving(stage)
                sender = self.chip_of[edge.source]
                beats = self.get(sender.activity.count(f"{sender_port(edge)}_beats"))
                return beats == work.result_pages * tile
            case Fold():
                return all(
                    self._finished(self.producer_of[name]) and not self._holds_page(name)
                    for name in stage.ins
                )
            case _:
                return not self.get(chip.units[stage.name].o.valid)

    def _holds_page(self, buffer: str) -> bool:
        chip = self.chip_of[self.producer_of[buffer].name]
        return bool(self.get(chip.fifos[buffer].o.valid))

    def _arriving(self, stage: Stage) -> Edge:
        (edge,) = self.program.edges_by_destination[stage.name]
        return edge

    def _stalled(self, edge: Edge) -> bool:
        transmitter = self.chip_of[edge.source].transmitters[edge.name]
        return bool(self.get(transmitter.stalled))


def _route(edge: Edge) -> str:
    return ", ".join(edge.route or ())
