"""The token graph, run beat by beat with the program's own depths until it repeats itself.

Every stage, link and operation takes a beat in the first cycle in which its operands, its own
register and room downstream are there. A page waits for the same page of earlier stages, and for
room that earlier pages leave behind in later ones, so one walk over pages and, within a page, over
stages in order gives all times.

What a page does depends on nothing but the times that the pages before it have left behind: when
each stage, link and operation passed its last beat, and when the slots of each buffer came free.
Once all of these are what they were some pages ago, but for a number of cycles by which all have
moved on, every later page does what the page that many pages before it did, so many cycles later.
Until then every page is run, and all of them if that never happens.
"""

from collections import defaultdict, deque
from dataclasses import dataclass, field
from itertools import chain, islice

from compiler.check.page_flow import FlowError, in_order, sources_of
from compiler.check.repeating_pages import MOST_PERIOD, RepeatingPages
from compiler.ir.body import Body, Literal, Operand
from compiler.ir.buffer import Buffer
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

    Attributes
    ----------
    end : int
        The cycle in which the last beat is stored.
    sent : dict
        Cycles of the first and the last beat of each stage; a load's are those that its product
        makes it keep.
    waited : dict
        By buffer, the cycles for which its room was waited for in the pages that were run.
    pages_run : int
        Pages that were run one by one.
    """

    program: Program
    pages: int
    end: int = 0
    sent: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    waited: dict[str, int] = field(default_factory=dict[str, int])
    pages_run: int = 0

    def __post_init__(self) -> None:
        self._readable: dict[str, list[int]] = {}
        self._taken = {buffer.name: self._slots(buffer) for buffer in self.program.buffers}
        self._passed: dict[str, int] = {}
        self._rounds: dict[Barrier, tuple[int, int]] = {}

    def run(self) -> "TokenRun":
        """Run the pages and return this run."""
        stages = [s for s in in_order(self.program) if not isinstance(s.kind, Load)]
        reach = max((taken.maxlen or 0 for taken in self._taken.values()), default=0)
        repeating = RepeatingPages(reach // self.program.tile)
        lasts: deque[dict[str, int]] = deque(maxlen=MOST_PERIOD + 1)
        for page in range(self.pages):
            before = self.end
            self._readable = defaultdict(list)
            for stage in stages:
                for beat in range(self.program.tile):
                    self._pass(stage, page, beat)
            self.pages_run = page + 1
            lasts.append({stage: last for stage, (_, last) in self.sent.items()})
            period = repeating.period(self._times_since(before))
            if period is not None:
                self._go_on(list(lasts)[-1 - period :])
                break
        return self

    def _slots(self, buffer: Buffer) -> deque[int]:
        """The times of the last beats that left a buffer, as many as can still be waited for."""
        depth = buffer.depth_pages or 0
        pages = depth if depth < self.pages else 1
        return deque(maxlen=pages * self.program.tile)

    def _times_since(self, cycle: int) -> list[int]:
        """What the last page has left behind for those after it to wait for."""
        tile = self.program.tile
        left = [islice(reversed(taken), tile) for taken in self._taken.values()]
        return [time - cycle for time in chain(*left, self._passed.values(), (self.end,))]

    def _go_on(self, history: list[dict[str, int]]) -> None:
        """Repeat the pages behind the first of ``history`` up to the last page of the run."""
        period = len(history) - 1
        rounds, rest = divmod(self.pages - self.pages_run, period)
        for stage, (first, last) in self.sent.items():
            moved = (last - history[0][stage]) * (rounds + 1)
            self.sent[stage] = (first, history[rest][stage] + moved)
        self.end = max(last for _, last in self.sent.values())

    def _pass(self, stage: Stage, page: int, beat: int) -> None:
        match stage.kind:
            case MatmulTiles(block_count):
                self._multiply(stage, block_count or 1, page, beat)
            case Recv():
                (edge,) = self.program.edges_by_destination[stage.name]
                self._cross(stage, edge, page, beat)
            case Fold(body) | Map(body):
                self._operate(stage, body, page, beat)
            case _:
                (source,) = sources_of(self.program, stage)
                self.end = self._readable[source][beat]
                self._taken[source].append(self.end)
                self._send(stage.name, self.end)

    def _multiply(self, stage: Stage, block_count: int, page: int, beat: int) -> None:
        """Take a result's pairs of beats when its first one is admitted; let its rows leave.

        Both loads fill their buffers from the start on and keep pace, so all that a pair waits for
        is the pair before it. But a buffer of a single beat is filled only after it was emptied,
        and gives a beat every other cycle.
        """
        (out,) = stage.outs
        pairs = block_count * self.program.tile
        operands = [self.program.buffer_by_name[name] for name in stage.ins]
        single = [b.name for b in operands if (b.depth_pages or 0) * self.program.tile == 1]
        pace = 1 + FIFO_CYCLES if single else 1
        if beat == 0:
            before = self._passed.get(stage.name)
            ready = LOAD_CYCLES + FIFO_CYCLES if before is None else before + pace
            admitted = self._wait(ready, self._slot(out, page), out)
            self._passed[stage.name] = admitted + (pairs - 1) * pace
            for name in single:
                self._wait(0, (pairs - 1 + (before is not None)) * FIFO_CYCLES, name)
            for edge in self.program.edges_by_destination[stage.name]:
                self._send(edge.source, LOAD_CYCLES)
                self._send(edge.source, self._passed[stage.name] - FIFO_CYCLES)
        row = self._passed[stage.name] + TILE_CYCLES + beat
        self._send(stage.name, row)
        self._readable[out].append(row + FIFO_CYCLES)

    def _cross(self, stage: Stage, edge: Edge, page: int, beat: int) -> None:
        (landing,) = stage.outs
        links = [self.program.link_by_name[name] for name in edge.route or ()]
        latency = sum(link.latency_cycles for link in links)
        width = min(link.width_bits for link in links)
        flit_cycles = max(link.flit_cycles for link in links)
        flits = -(-self.program.buffer_by_name[edge.buffer].page.beat_bits // width)
        begin = self._readable[edge.buffer][beat]
        if self._taken[edge.buffer]:
            begin = max(begin, self._taken[edge.buffer][-1] + flit_cycles)
        if beat == 0:
            begin = self._wait(begin, self._offer(edge, landing, page, latency), landing)
        last_flit = begin + (flits - 1) * flit_cycles
        self._taken[edge.buffer].append(last_flit)
        arrives = last_flit + LINK_REGISTER_CYCLES + latency
        self._send(stage.name, arrives)
        if not isinstance(edge.handoff, Semaphore | Barrier):
            self._readable[landing].append(arrives + FIFO_CYCLES)
        elif beat == self.program.tile - 1:
            readable = arrives + VALID_CYCLES + FIFO_CYCLES
            self._readable[landing].extend([readable] * self.program.tile)

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
        known, free = self._rounds.get(barrier, (-1, 0))
        if known != page:
            members = [e for e in self.program.edges if e.handoff == barrier]
            landings = [self.program.stage_by_name[e.destination].outs[0] for e in members]
            free = max(self._slot(name, page) for name in landings)
            self._rounds[barrier] = (page, free)
        return free

    def _operate(self, stage: Stage, body: Body, page: int, beat: int) -> None:
        (out,) = stage.outs
        register = f"{stage.name}:"
        written = self._fire(stage, body, beat, register) + OPERATION_CYCLES
        if register in self._passed:
            written = max(written, self._passed[register] + 1)
        if page >= (self.program.buffer_by_name[out].depth_pages or 0):
            written = self._wait(written, self._taken[out][beat] + 1, out)
        self._passed[register] = written
        self._send(stage.name, written)
        self._readable[out].append(written + FIFO_CYCLES)

    def _fire(self, stage: Stage, body: Body, beat: int, parent: str, key: str = "/") -> int:
        """The cycle in which an operation takes its beats; its register must be free by then.

        ``key`` says where the operation stands in the body, ``parent`` where its result goes.
        """
        assert not isinstance(body, Operand | Literal)
        here = stage.name + key
        fires = max(self._passed.get(here, -1) + 1, self._passed.get(parent, 0))
        for side, operand in (("l", body.left), ("r", body.right)):
            match operand:
                case Operand(position):
                    fires = max(fires, self._readable[stage.ins[position]][beat])
                case Literal():
                    pass
                case _:
                    inner = self._fire(stage, operand, beat, here, key + side)
                    fires = max(fires, inner + OPERATION_CYCLES)
        self._passed[here] = fires
        for operand in (body.left, body.right):
            if isinstance(operand, Operand):
                self._taken[stage.ins[operand.index]].append(fires)
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
        if page < (self.program.buffer_by_name[buffer].depth_pages or 0):
            return 0
        return self._taken[buffer][self.program.tile - 1] + 1
