"""Why a run does not end: which stages wait, and on what."""

from collections.abc import Iterator

from compiler.ir.edge import Edge
from compiler.ir.stage import Fold, Map, MatmulTiles, Recv, Stage, Store
from hw.chip import Chip
from hw.link_ports import sender_port
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
        self.program = system.program
        assert self.program.work is not None
        self.result_pages = self.program.work.result_pages
        self.tile = self.program.tile
        self.get = get
        self.chip_of = {stage.name: chip for chip in system.chips for stage in chip.stages}
        self.producer_of = {name: s for s in self.program.stages for name in s.outs}

    def chip_waits(self, chip: Chip) -> Iterator[str]:
        for stage in chip.stages:
            yield from self._page_waits(stage)
            yield from self._room_waits(chip, stage)
        for edge in chip.outgoing:
            if self._stalled(edge):
                (landing,) = self.program.stage_by_name[edge.destination].outs
                yield f"link {_route(edge)} waits for a free page in {landing}"

    def _page_waits(self, stage: Stage) -> Iterator[str]:
        if not self._takes_more(stage):
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

    def _takes_more(self, stage: Stage) -> bool:
        """Whether a stage has not yet taken all that the program gives it to take."""
        match stage.kind:
            case Store():
                return not self.get(self.chip_of[stage.name].units[stage.name].done)
            case MatmulTiles(block_count):
                assert block_count is not None
                pages = self.result_pages * block_count
                return self._count(stage, f"{local_name(stage.name)}_active") < pages * self.tile
            case Recv():
                return self._sends_more(self._arriving(stage)) or self._owes(stage)
            case Fold() | Map():
                return self._owes(stage) or any(
                    self._holds_page(name) or self._gets_more(self.producer_of[name])
                    for name in stage.ins
                )
            case _:
                return False

    def _gets_more(self, stage: Stage) -> bool:
        """Whether a stage will fill its buffer again, as far as the stages before it tell."""
        if isinstance(stage.kind, Recv):
            return self._sends_more(self._arriving(stage))
        return self._takes_more(stage)

    def _owes(self, stage: Stage) -> bool:
        """Whether a stage has left its buffer empty for somebody who takes more."""
        (edge,) = self.program.edges_by_source[stage.name]
        if self._holds_page(edge.buffer):
            return False
        if edge.route:
            return self._sends_more(edge)
        return self._takes_more(self.program.stage_by_name[edge.destination])

    def _sends_more(self, edge: Edge) -> bool:
        sender = self.program.stage_by_name[edge.source]
        return self._count(sender, f"{sender_port(edge)}_beats") < self.result_pages * self.tile

    def _count(self, stage: Stage, event: str) -> int:
        return self.get(self.chip_of[stage.name].activity.count(event))

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
