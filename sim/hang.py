"""Why a run does not end: which stages wait, and on what."""

from collections.abc import Iterator

from compiler.flow.counts import page_counts
from compiler.ir.edge import Edge
from compiler.ir.stage import Copy, Load, MatmulTiles, Merge, Recv, Stage, Store
from hw.chip import Chip
from hw.link_ports import sender_port
from hw.names import local_name
from hw.system import System
from hw.units import unit_kind


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
        self.page_counts = page_counts(system.program)
        self.get = get
        self.chip_of = {stage.name: chip for chip in system.chips for stage in chip.stages}
        self.producer_of = {name: s for s in self.program.stages for name in s.outs}

    def chip_waits(self, chip: Chip) -> Iterator[str]:
        for stage in chip.stages:
            yield from self._page_waits(stage)
            yield from self._room_waits(chip, stage)
        for edge in chip.outgoing:
            if self._stalled(edge):
                landing = self.program.landing(edge).name
                yield f"link {edge.link} waits for a free page in {landing}"

    def _page_waits(self, stage: Stage) -> Iterator[str]:
        if not self._takes_more(stage):
            return
        for name in self._taken_next(stage):
            if not self._holds_page(name):
                yield f"{stage.name} waits for a page from {self.producer_of[name].name} in {name}"
        if isinstance(stage.kind, Recv):
            edge = self._arriving(stage)
            if not (self._stalled(edge) and self._holds_page(stage.outs[0])):
                yield f"{stage.name} waits for a page from {edge.source} over {edge.link}"

    def _taken_next(self, stage: Stage) -> tuple[str, ...]:
        """Buffers that a stage takes its next beats from: of a merge, the one whose turn it is."""
        if isinstance(stage.kind, Merge):
            return (stage.ins[self.get(self._unit(stage).turn)],)
        return stage.ins

    def _room_waits(self, chip: Chip, stage: Stage) -> Iterator[str]:
        unit, kind = self._unit(stage), unit_kind(stage)
        if isinstance(stage.kind, MatmulTiles):
            if all(map(self._holds_page, stage.ins)) and not self.get(unit.a.ready):
                yield f"{stage.name} waits for room for a whole page in {stage.outs[0]}"
        elif kind.waits_for_room:
            for name, stream in zip(stage.outs, kind.streams_out(unit), strict=True):
                # A copy offers a beat to none before all have room for it.
                copies = isinstance(stage.kind, Copy) and self._holds_page(stage.ins[0])
                if (copies or self.get(stream.valid)) and not self.get(chip.fifos[name].i.ready):
                    yield f"{stage.name} waits for room in {name}"

    def _takes_more(self, stage: Stage, *, besides: str = "") -> bool:
        """Whether a stage has not yet taken all that the program gives it to take.

        What there is in the buffer ``besides``, and what comes into it, is left out of account.
        """
        match stage.kind:
            case Store():
                return not self.get(self._unit(stage).done)
            case MatmulTiles(block_count):
                assert block_count is not None
                (result,) = stage.outs
                return self._count(stage, f"{local_name(stage.name)}_active") < block_count * (
                    self._beats(result)
                )
            case Recv():
                return self._sends_more(self._arriving(stage)) or self._owes(stage)
            case Load():
                return False
            case _:
                return self._owes(stage) or any(
                    self._holds_page(name) or self._gets_more(self.producer_of[name])
                    for name in stage.ins
                    if name != besides
                )

    def _gets_more(self, stage: Stage) -> bool:
        """Whether a stage will fill a buffer again, as far as the stages before it tell."""
        match stage.kind:
            case Recv():
                return self._sends_more(self._arriving(stage))
            case MatmulTiles():
                return self._takes_more(stage)
            case _:
                return any(
                    self._holds_page(name) or self._gets_more(self.producer_of[name])
                    for name in stage.ins
                )

    def _owes(self, stage: Stage) -> bool:
        """Whether a stage has left a buffer empty for somebody who takes more."""
        return any(not self._holds_page(name) and self._is_wanted(name) for name in stage.outs)

    def _is_wanted(self, buffer: str) -> bool:
        """Whether who takes from a buffer takes more, as far as all the others tell."""
        edge = self.program.edge_by_buffer[buffer]
        if edge.link is not None:
            return self._sends_more(edge)
        return self._takes_more(self.program.stage_by_name[edge.destination], besides=buffer)

    def _sends_more(self, edge: Edge) -> bool:
        sender = self.program.stage_by_name[edge.source]
        return self._count(sender, f"{sender_port(edge)}_beats") < self._beats(edge.buffer)

    def _beats(self, buffer: str) -> int:
        """Beats that pass through a buffer in a run."""
        return self.page_counts[buffer] * self.program.buffer_by_name[buffer].page.beats

    def _count(self, stage: Stage, event: str) -> int:
        return self.get(self.chip_of[stage.name].activity.count(event))

    def _unit(self, stage: Stage):
        return self.chip_of[stage.name].units[stage.name]

    def _holds_page(self, buffer: str) -> bool:
        chip = self.chip_of[self.producer_of[buffer].name]
        return bool(self.get(chip.fifos[buffer].o.valid))

    def _arriving(self, stage: Stage) -> Edge:
        (edge,) = self.program.edges_by_destination[stage.name]
        return edge

    def _stalled(self, edge: Edge) -> bool:
        transmitter = self.chip_of[edge.source].transmitters[edge.name]
        return bool(self.get(transmitter.stalled))
