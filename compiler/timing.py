"""The performance model: at which cycle each beat passes each stage.

Cycle 0 is the one in which ``start`` is asserted. A stage takes or sends a beat in the first cycle
in which everything that it waits for is there: its operands, its own register, room in the buffer
that it fills, and for a page of results room for the whole page. These rules are a max-plus
system; it is solved by repeating a forward pass over all beats until nothing moves.

The latencies are those of the components of the same names.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from compiler.ir.body import Add, Literal, Max, Operand
from compiler.ir.edge import Edge
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Load, Map, MatmulTiles, Recv, Stage, Store
from compiler.latencies import (
    FIFO_CYCLES,
    LINK_REGISTER_CYCLES,
    LOAD_CYCLES,
    OFFER_CYCLES,
    OPERATION_CYCLES,
    TILE_CYCLES,
    VALID_CYCLES,
)
from compiler.targets import Target

Cycles = NDArray[np.int64]


@dataclass
class BeatTimes:
    """Cycles per buffer, indexed by beat, or by page where it says so.

    Attributes
    ----------
    written, readable, taken : dict
        When a beat enters the buffer, when it can first leave it, and when it does.
    promised : dict
        Per page: by when a slot of the buffer must be free for it.
    returned : dict
        Per page: the first cycle in which its slot is free again.
    paired : dict
        Per page, by result buffer: when the product takes the last pair of beats.
    stored : array or None
        When a beat is written into the output memory.
    """

    written: dict[str, Cycles] = field(default_factory=dict[str, Cycles])
    readable: dict[str, Cycles] = field(default_factory=dict[str, Cycles])
    taken: dict[str, Cycles] = field(default_factory=dict[str, Cycles])
    promised: dict[str, Cycles] = field(default_factory=dict[str, Cycles])
    returned: dict[str, Cycles] = field(default_factory=dict[str, Cycles])
    paired: dict[str, Cycles] = field(default_factory=dict[str, Cycles])
    stored: Cycles | None = None


class TimingModel:
    """Beat times of a placed program.

    Parameters
    ----------
    program : Program
        Stages, buffers and edges; buffers without a depth are taken as unbounded.
    pages : int
        Result pages to follow.
    target : Target
        Stands in for links and hand-offs that are not chosen yet.
    interval : int
        Least number of cycles from one result page to the next, for every product.
    """

    def __init__(self, program: Program, *, pages: int, target: Target, interval: int = 0):
        self.program = program
        self.target = target
        self.pages = pages
        self.interval = interval
        self.beats = program.tile * pages
        self.times = BeatTimes()
        self.operations: dict[tuple[str, str], Cycles] = {}
        self.order = _topological(program)

    def solve(self) -> BeatTimes:
        """Beat times at the fixed point."""
        before = None
        while before is None or not _equal(before, self.moving()):
            before = self.moving()
            for stage in self.order:
                self._pass(stage)
        self._promise_together()
        return self.times

    def moving(self) -> dict[tuple[str, str], Cycles]:
        """All times that a pass takes over from the pass before."""
        taken = {("taken", name): cycles for name, cycles in self.times.taken.items()}
        written = {("written", name): cycles for name, cycles in self.times.written.items()}
        return taken | written | self.operations

    def _promise_together(self) -> None:
        """A round of a barrier sets a slot aside in every landing buffer of its group at once."""
        for edge in self.program.edges:
            if self.program.crosses(edge) and self._crossing(edge) == "Barrier":
                group = self._offering(edge)
                earliest: Cycles = np.min([self.times.promised[name] for name in group], axis=0)
                self.times.promised |= dict.fromkeys(group, earliest)

    def _pass(self, stage: Stage) -> None:
        match stage.kind:
            case MatmulTiles():
                self._product(stage)
            case Recv():
                (edge,) = self.program.edges_by_destination[stage.name]
                self._receive(stage, edge)
            case Fold(body) | Map(body):
                (out,) = stage.outs
                assert not isinstance(body, Operand | Literal)
                fires = self._operation(stage, body, self.times.written.get(out))
                self._write(out, np.maximum(fires + OPERATION_CYCLES, self._space(out)))
            case Store():
                (source,) = stage.ins
                self.times.stored = self.times.readable[source]
                self._take(source, self.times.stored)
            case Load():
                pass

    def _product(self, stage: Stage) -> None:
        assert isinstance(stage.kind, MatmulTiles)
        assert stage.kind.block_count is not None
        tile, pace = self.program.tile, pair_cycles(self.program, stage)
        (out,) = stage.outs
        work = stage.kind.block_count * tile * pace
        start = np.full(self.pages, LOAD_CYCLES + FIFO_CYCLES)
        admitted = _spaced(self._after_return(out, start), max(work, self.interval))
        last_pair = admitted + work - pace
        self._write(out, np.repeat(last_pair + TILE_CYCLES, tile) + np.arange(self.beats) % tile)
        self.times.promised[out] = admitted
        self.times.paired[out] = last_pair

    def _receive(self, stage: Stage, edge: Edge) -> None:
        """Time the link from the sender's buffer to the landing buffer."""
        times, tile = self.times, self.program.tile
        (landing,) = stage.outs
        width, flit_cycles, latency = self._link(edge)
        page = self.program.buffer_by_name[edge.buffer].page
        flits = -(-page.beat_bits // width)
        page_by_page = self._crossing(edge) != "Token"
        way_back = latency + (OFFER_CYCLES if page_by_page else 0)
        ready = times.readable[edge.buffer].copy()
        for other in self._offering(edge):
            ready[::tile] = self._after_return(other, ready[::tile], way_back)
        first_flit = _spaced(ready, flits * flit_cycles)
        last_flit = first_flit + (flits - 1) * flit_cycles
        arrives = last_flit + LINK_REGISTER_CYCLES + latency
        self._take(edge.buffer, last_flit)
        times.promised[landing] = first_flit[::tile] - way_back
        times.written[landing] = arrives
        if page_by_page:
            arrives = np.repeat(arrives[tile - 1 :: tile] + VALID_CYCLES, tile)
        times.readable[landing] = arrives + FIFO_CYCLES

    def _operation(self, stage: Stage, body: Add | Max, result_left: Cycles | None) -> Cycles:
        """The cycles in which an operation of a fold takes its pairs of beats."""
        fires = np.zeros(self.beats, dtype=np.int64)
        for operand in (body.left, body.right):
            if isinstance(operand, Literal):
                continue
            if isinstance(operand, Operand):
                there = self.times.readable[stage.ins[operand.index]]
            else:
                left = self.operations.get((stage.name, str(body)))
                there = self._operation(stage, operand, left) + OPERATION_CYCLES
            fires = np.maximum(fires, there)
        if result_left is not None:
            fires[1:] = np.maximum(fires[1:], result_left[:-1])
        fires = _spaced(fires, 1)
        self.operations[stage.name, str(body)] = fires
        for operand in (body.left, body.right):
            if isinstance(operand, Operand):
                self._take(stage.ins[operand.index], fires)
        return fires

    def _write(self, buffer: str, cycles: Cycles) -> None:
        self.times.written[buffer] = written = _spaced(cycles, 1)
        self.times.readable[buffer] = written + FIFO_CYCLES
        self.times.promised[buffer] = written[:: self.program.tile]

    def _take(self, buffer: str, cycles: Cycles) -> None:
        self.times.taken[buffer] = cycles
        released = cycles[self.program.tile - 1 :: self.program.tile]
        self.times.returned[buffer] = released + 1

    def _after_return(self, buffer: str, pages: Cycles, way_back: int = 0) -> Cycles:
        """Not before ``pages``, nor before it is known that the slot of each page is free.

        ``way_back`` is how long the news of it takes.
        """
        depth = self.program.buffer_by_name[buffer].depth_pages
        returned = self.times.returned.get(buffer)
        if depth is None or returned is None or depth >= self.pages:
            return pages
        free = returned[:-depth] + way_back
        return np.concatenate([pages[:depth], np.maximum(pages[depth:], free)])

    def _space(self, buffer: str) -> Cycles:
        """The first cycle in which each beat finds room."""
        space = np.zeros(self.beats, dtype=np.int64)
        depth = self.program.buffer_by_name[buffer].depth_pages
        taken = self.times.taken.get(buffer)
        if depth is not None and taken is not None and depth < self.pages:
            beats = depth * self.program.tile
            space[beats:] = taken[:-beats] + 1
        return space

    def _link(self, edge: Edge) -> tuple[int, int, int]:
        """Bits and cycles of a flit, and cycles of latency, from end to end."""
        if edge.route:
            links = [self.program.link_by_name[name] for name in edge.route]
            return (
                min(link.width_bits for link in links),
                max(link.flit_cycles for link in links),
                sum(link.latency_cycles for link in links),
            )
        target = self.target
        return target.link_width_bits, target.link_flit_cycles, target.link_latency_cycles

    def _crossing(self, edge: Edge) -> str | None:
        return type(edge.handoff).__name__ if edge.handoff else self.target.crossing_handoff

    def _offering(self, edge: Edge) -> list[str]:
        """Landing buffers whose slots a page of ``edge`` waits for; all of a barrier's group."""
        edges = [edge]
        if self._crossing(edge) == "Barrier":
            edges = [
                other
                for other in self.program.edges
                if other.handoff == edge.handoff and self.program.crosses(other)
            ]
        return [self.program.stage_by_name[e.destination].outs[0] for e in edges]


def pair_cycles(program: Program, product: Stage) -> int:
    """Cycles from one pair of operand beats to the next, at the best.

    A load fills the room that a beat leaves behind in the cycle after, so only a buffer of a single
    beat cannot give one in every cycle.
    """
    depths = [program.buffer_by_name[name].depth_pages for name in product.ins]
    single = any(depth is not None and depth * program.tile == 1 for depth in depths)
    return 1 + FIFO_CYCLES if single else 1


def page_interval(program: Program, target: Target) -> tuple[int, str]:
    """Cycles from one result page to the next in the steady state, and what sets them."""
    work = [
        stage.kind.block_count * program.tile * pair_cycles(program, stage)
        for stage in program.stages
        if isinstance(stage.kind, MatmulTiles) and stage.kind.block_count is not None
    ]
    bounds = [(max(work), "compute")]
    for edge in program.edges:
        if program.crosses(edge):
            page = program.buffer_by_name[edge.buffer].page
            width, flit_cycles = target.link_width_bits, target.link_flit_cycles
            name = "link"
            if edge.route:
                link = program.link_by_name[edge.route[0]]
                width, flit_cycles, name = link.width_bits, link.flit_cycles, f"link {link.name}"
            bounds.append((page.beats * -(-page.beat_bits // width) * flit_cycles, name))
    return max(bounds, key=lambda bound: bound[0])


def drain_cycles(tile: int) -> int:
    """Cycles from a product's last pair of beats to its last row in memory on the same chip."""
    return TILE_CYCLES + (tile - 1) + FIFO_CYCLES


def _topological(program: Program) -> list[Stage]:
    """Stages, each behind all that feed it."""
    order: dict[str, Stage] = {}
    waiting = {
        stage.name: {e.source for e in program.edges_by_destination.get(stage.name, ())}
        for stage in program.stages
    }
    ready = [name for name, sources in waiting.items() if not sources]
    while ready:
        name = ready.pop()
        order[name] = program.stage_by_name[name]
        for edge in program.edges_by_source.get(name, ()):
            sources = waiting[edge.destination]
            sources.discard(name)
            if not sources and edge.destination not in order:
                ready.append(edge.destination)
    return list(order.values())


def _spaced(cycles: Cycles, gap: int) -> Cycles:
    """The earliest times not before ``cycles``, in order and at least ``gap`` apart."""
    steps = gap * np.arange(len(cycles))
    return np.maximum.accumulate(cycles - steps) + steps


def _equal(one: dict[tuple[str, str], Cycles], other: dict[tuple[str, str], Cycles]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[k], other[k]) for k in one)
