"""The token graph, run beat by beat with the program's own depths.

Every stage, link and operation takes a beat in the first cycle in which its operands, its own
register and room downstream are there. A page waits for the same page of earlier stages, and for
room that earlier pages leave behind in later ones, so one walk over pages and, within a page, over
stages in order gives all times.
"""

from collections import defaultdict
from dataclasses import dataclass, field

from compiler.check.page_flow import FlowError, in_order, sources_of
from compiler.ir.body import Body, Literal, Operand
from compiler.ir.edge import Barrier, Edge, Semaphore
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Load, Map, MatmulTiles, Recv, Stage
from compiler.latencies import (
    FIFO_CYCLES,
    LINK_REGISTER_CYCLES,
    LOAD_CYCLES,
    OFFER_CYCLES,
    OPERATION_CYCLES,
    TILE_CYCLES,
    VALID_CYCLES,
)


def check_flow(program: Program) -> None:
    """Check that the token graph can be run: products take from loads, and only they do.

    Raises
    ------
    FlowError
        If they do not, or if stages feed each other in a circle.
    """
    loaded = {n for s in program.stages if isinstance(s.kind, Load) for n in s.outs}
    for stage in in_order(program):
        for name in sources_of(program, stage):
            if (name in loaded) != isinstance(stage.kind, MatmulTiles):
                pages = "pages of an operand" if name in loaded else "sums"
                raise FlowError(f"{stage.name} takes {pages} from {name}")


@dataclass
class TokenRun:
    """Times of a run of ``pages`` result pages.

    ``unbounded`` runs the same graph with room for every page, which no depth can beat. ``waited``
    counts the cycles for which the room of each buffer was waited for. ``sent`` holds the cycles of
    the first and the last beat of each stage; a load's are those that its product makes it keep.
    """

    program: Program
    pages: int
    unbounded: bool = False
    end: int = 0
    readable: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    taken: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    passed: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    waited: dict[str, int] = field(default_factory=dict[str, int])
    sent: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    rounds: dict[tuple[Barrier, int], int] = field(default_factory=dict[tuple[Barrier, int], int])

    def run(self) -> "TokenRun":
        """Run all beats and return this run."""
        stages = [s for s in in_order(self.program) if not isinstance(s.kind, Load)]
        for page in range(self.pages):
            for stage in stages:
                for beat in range(self.program.tile):
                    self._pass(stage, page, beat)
        return self

    def _pass(self, stage: Stage, page: int, beat: int) -> None:
        match stage.kind:
            case MatmulTiles(block_count):
                self._multiply(stage, block_count or 1, page, beat)
            case Recv():
                (edge,) = self.program.edges_by_destination[stage.name]
                self._cross(stage, edge, page, beat)
            case Fold(body) | Map(body):
                self._operate(stage, body, page * self.program.tile + beat)
            case _:
                (source,) = sources_of(self.program, stage)
                self.end = self.readable[source][page * self.program.tile + beat]
                self.taken[source].append(self.end)
                self._send(stage.name, self.end)

    def _multiply(self, stage: Stage, block_count: int, page: int, beat: int) -> None:
        (out,) = stage.outs
        work = block_count * self.program.tile
        admissions = self.passed[stage.name]
        if beat == 0:
            admitted = admissions[-1] + work if admissions else LOAD_CYCLES + FIFO_CYCLES
            admissions.append(self._wait(admitted, self._slot(out, page), out))
            for edge in self.program.edges_by_destination[stage.name]:
                self._send(edge.source, LOAD_CYCLES)
                self._send(edge.source, admissions[-1] + work - 1 - FIFO_CYCLES)
        row = admissions[-1] + work - 1 + TILE_CYCLES + beat
        self._send(stage.name, row)
        self.readable[out].append(row + FIFO_CYCLES)

    def _cross(self, stage: Stage, edge: Edge, page: int, beat: int) -> None:
        (landing,) = stage.outs
        links = [self.program.link_by_name[name] for name in edge.route or ()]
        latency = sum(link.latency_cycles for link in links)
        width = min(link.width_bits for link in links)
        flit_cycles = max(link.flit_cycles for link in links)
        flits = -(-self.program.buffer_by_name[edge.buffer].page.beat_bits // width)
        begin = self.readable[edge.buffer][page * self.program.tile + beat]
        if self.taken[edge.buffer]:
            begin = max(begin, self.taken[edge.buffer][-1] + flit_cycles)
        if beat == 0:
            begin = self._wait(begin, self._offer(edge, landing, page, latency), landing)
        last_flit = begin + (flits - 1) * flit_cycles
        self.taken[edge.buffer].append(last_flit)
        arrives = last_flit + LINK_REGISTER_CYCLES + latency
        self._send(stage.name, arrives)
        if not isinstance(edge.handoff, Semaphore | Barrier):
            self.readable[landing].append(arrives + FIFO_CYCLES)
        elif beat == self.program.tile - 1:
            readable = arrives + VALID_CYCLES + FIFO_CYCLES
            self.readable[landing].extend([readable] * self.program.tile)

    def _offer(self, edge: Edge, landing: str, page: int, latency: int) -> int:
        """The first cycle in which the sender knows of a free slot for a page."""
        if isinstance(edge.handoff, Barrier):
            offered = self._round(edge.handoff, page)
            return offered + latency + OFFER_CYCLES if offered else 0
        slot = self._slot(landing, page)
        if not slot:
            return 0
        return slot + latency + (OFFER_CYCLES if isinstance(edge.handoff, Semaphore) else 0)

    def _round(self, barrier: Barrier, page: int) -> int:
        """The first cycle in which every receiver of a barrier has a slot for a page.

        Earlier pages free the slots, so it is known before the first receiver asks.
        """
        if (barrier, page) not in self.rounds:
            members = [e for e in self.program.edges if e.handoff == barrier]
            landings = [self.program.stage_by_name[e.destination].outs[0] for e in members]
            self.rounds[barrier, page] = max(self._slot(name, page) for name in landings)
        return self.rounds[barrier, page]

    def _operate(self, stage: Stage, body: Body, index: int) -> None:
        (out,) = stage.outs
        registers = self.passed[f"{stage.name}:"]
        fires = self._fire(stage, body, index, f"{stage.name}:")
        written = fires + OPERATION_CYCLES
        if registers:
            written = max(written, registers[-1] + 1)
        depth = self.program.buffer_by_name[out].depth_pages or 0
        room = index - depth * self.program.tile
        if not self.unbounded and room >= 0:
            written = self._wait(written, self.taken[out][room] + 1, out)
        registers.append(written)
        self._send(stage.name, written)
        self.readable[out].append(written + FIFO_CYCLES)

    def _fire(self, stage: Stage, body: Body, index: int, parent: str, key: str = "/") -> int:
        """The cycle in which an operation takes its beats; its register must be free by then.

        ``key`` says where the operation stands in the body, ``parent`` where its result goes.
        """
        assert not isinstance(body, Operand | Literal)
        here = stage.name + key
        passed = self.passed[here]
        fires = passed[-1] + 1 if passed else 0
        if index:
            fires = max(fires, self.passed[parent][index - 1])
        for side, operand in (("l", body.left), ("r", body.right)):
            match operand:
                case Operand(position):
                    fires = max(fires, self.readable[stage.ins[position]][index])
                case Literal():
                    pass
                case _:
                    inner = self._fire(stage, operand, index, here, key + side)
                    fires = max(fires, inner + OPERATION_CYCLES)
        passed.append(fires)
        for operand in (body.left, body.right):
            if isinstance(operand, Operand):
                self.taken[stage.ins[operand.index]].append(fires)
        return fires

    def _send(self, stage: str, cycle: int) -> None:
        """Note that a beat leaves a stage."""
        first, _ = self.sent.get(stage, (cycle, cycle))
        self.sent[stage] = (first, cycle)

    def _wait(self, ready: int, room: int, buffer: str) -> int:
        """The later of the two; note that a buffer's room was waited for."""
        if room > ready:
            self.waited[buffer] = self.waited.get(buffer, 0) + room - ready
        return max(ready, room)

    def _slot(self, buffer: str, page: int) -> int:
        """The first cycle in which a slot of a buffer is free for a page; 0 if it always was."""
        depth = self.program.buffer_by_name[buffer].depth_pages or 0
        if self.unbounded or page < depth:
            return 0
        return self.taken[buffer][(page - depth + 1) * self.program.tile - 1] + 1
