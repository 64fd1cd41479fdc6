"""The performance model: at which cycle each beat passes each stage.

Cycle 0 is the one in which ``start`` is asserted. A stage takes or sends a beat in the first cycle
in which everything that it waits for is there: its operands, its own register, room in the buffer
that it fills, and for a page of results room for the whole page. These rules are a max-plus
system; it is solved by timing stages again until nothing moves.

The latencies are those of the components of the same names.
"""

from collections.abc import Iterable

import numpy as np

from compiler.flow.components import Component
from compiler.flow.order import sources_of
from compiler.ir.edge import Barrier, Edge
from compiler.ir.operations import Operation, operations_of
from compiler.ir.program import Program
from compiler.ir.stage import Copy, Fold, Load, Map, MatmulTiles, Merge, Recv, Split, Stage, Store
from compiler.latencies import (
    FIFO_CYCLES,
    LINK_REGISTER_CYCLES,
    LOAD_CYCLES,
    OFFER_CYCLES,
    OPERATION_CYCLES,
    TILE_CYCLES,
    VALID_CYCLES,
)
from compiler.timing.beat_times import BeatTimes, Cycles, spaced
from compiler.timing.buffer_times import BufferTimes, same
from compiler.timing.rates import flits_of_a_beat, pair_cycles, result_cycles


class TimingModel(BufferTimes):
    """Beat times of one component of a placed program, whose links and hand-offs are chosen.

    Parameters
    ----------
    program : Program
        The program. A buffer without a depth is taken as unbounded.
    part : Component
        The stages to time.
    rounds : int or array
        How many rounds to follow from the first on; or which, in order, if not ``bounded``.
    interval : int
        Least number of cycles from one round to the next, for every product.
    bounded : bool
        Whether depths count.
    """

    def __init__(
        self,
        program: Program,
        part: Component,
        rounds: int | Cycles,
        *,
        interval: int = 0,
        bounded: bool = True,
    ):
        every = isinstance(rounds, int)
        super().__init__(
            program, part, np.arange(rounds) if every else rounds, bounded=bounded and every
        )
        self.program = program
        self.interval = interval
        self._all_rounds = every
        self._operations: dict[str, tuple[Operation, ...]] = {}
        self._edges: dict[str, Edge] = {}
        self._groups: dict[tuple[Barrier, int], list[str]] = {}
        for stage in part.stages:
            self._enter(stage)

    def _enter(self, stage: Stage) -> None:
        """Note what a stage is joined to."""
        self._readers |= dict.fromkeys(sources_of(self.program, stage), stage.name)
        self._fillers |= dict.fromkeys(stage.outs, (stage.name,))
        match stage.kind:
            case Recv():
                (edge,) = self.program.edges_by_destination[stage.name]
                self._edges[stage.name] = edge
                if isinstance(edge.handoff, Barrier):
                    group = self._groups.setdefault(self._group(edge.handoff, edge), [])
                    group += stage.outs
                    together = (*self._fillers[group[0]], stage.name)
                    self._fillers |= dict.fromkeys(group, together)
            case Fold(body) | Map(body):
                self._operations[stage.name] = operations_of(body)
            case _:
                pass

    def solve(self) -> BeatTimes:
        """Beat times at the fixed point.

        It is the least one: what comes round a circle is taken to be there from the start on, until
        it is known better.
        """
        for name in self.part.share if self.part.goes_round(self.program) else ():
            self.times.readable.setdefault(name, np.zeros_like(self._beats(name)))
        while self._stale:
            for stage in self.part.stages:
                if stage.name in self._stale:
                    self._stale.discard(stage.name)
                    self._pass(stage)
        self._promise_together()
        return self.times

    def moving(self) -> Iterable[Cycles]:
        """All times on which those of later rounds depend."""
        return *self.times.taken.values(), *self.times.written.values()

    def reader_of(self, stage: Stage) -> Stage:
        """The stage that takes from the output of another one that has one."""
        (out,) = stage.outs
        return self.program.stage_by_name[self._readers[out]]

    def held_up(self) -> list[str]:
        """Buffers in which room was waited for, once all is solved."""
        found: dict[str, None] = {}
        for stage in self.part.stages:
            outs = () if isinstance(stage.kind, Load) else self._promised_with(stage)
            written = {name: self.times.written.get(name) for name in stage.outs}
            depths = {name: self._depths[name] for name in outs}
            self._depths |= dict.fromkeys(outs)
            self._pass(stage)
            if any(not same(self.times.written.get(name), written[name]) for name in written):
                found |= dict.fromkeys(outs)
            self._depths |= depths
            self._pass(stage)
        self._stale.clear()
        return list(found)

    def _promised_with(self, stage: Stage) -> tuple[str, ...]:
        """Buffers in which a stage waits for room."""
        edge = self._edges.get(stage.name)
        if edge is not None and isinstance(edge.handoff, Barrier):
            return tuple(self._groups[self._group(edge.handoff, edge)])
        return stage.outs

    def _group(self, barrier: Barrier, edge: Edge) -> tuple[Barrier, int]:
        """The barrier of an edge, among edges of as many pages: others cannot meet there.

        The checker refuses a program where they should.
        """
        return barrier, self.part.share[edge.buffer]

    def _promise_together(self) -> None:
        """A round of a barrier sets a slot aside in every landing buffer of its group at once."""
        for group in self._groups.values():
            earliest: Cycles = np.min([self.times.promised[name] for name in group], axis=0)
            self.times.promised |= dict.fromkeys(group, earliest)

    def _pass(self, stage: Stage) -> None:
        match stage.kind:
            case MatmulTiles():
                self._product(stage)
            case Recv():
                self._receive(stage, self._edges[stage.name])
            case Fold() | Map():
                self._operate(stage)
            case Copy():
                (source,) = stage.ins
                fires = self._in_room(self.times.readable[source], stage.outs)
                self._take(source, fires)
                for out in stage.outs:
                    self._write(out, fires)
            case Merge(turns):
                self._merge(stage, turns)
            case Split(turns):
                self._split(stage, turns)
            case Store():
                (source,) = stage.ins
                fires = spaced(self.times.readable[source], 1, self._beats(source))
                self.times.stored[stage.name] = fires
                self._take(source, fires)
            case Load():
                for out in stage.outs:
                    # One that feeds a product keeps pace with it.
                    if out in self.part.share:
                        self._load(out)

    def _load(self, out: str) -> None:
        """Time a load whose pages are no operands of a product."""
        share = self.part.share[out]
        pages = self._count(share) * (-(-self.interval // share))
        ready = LOAD_CYCLES + np.repeat(pages, self.tile)
        self._write(out, self._in_room(ready, (out,)))

    def _product(self, stage: Stage) -> None:
        tile = self.tile
        (out,) = stage.outs
        share = self.part.share[out]
        work, pace = result_cycles(self.program, stage), pair_cycles(self.program, stage)
        start = np.full(len(self.rounds) * share, LOAD_CYCLES + FIFO_CYCLES)
        gap = max(work, -(-self.interval // share))
        admitted = spaced(self._after_return(out, start), gap, self._count(share))
        last_pair = admitted + work - pace
        self.times.paired[out] = last_pair
        rows = np.arange(tile * len(admitted)) % tile
        self._write(out, np.repeat(last_pair + TILE_CYCLES, tile) + rows)
        self.times.promised[out] = admitted

    def _receive(self, stage: Stage, edge: Edge) -> None:
        """Time the link from the sender's buffer to the landing buffer."""
        times, tile = self.times, self.tile
        (landing,) = stage.outs
        assert edge.link is not None
        assert edge.handoff is not None
        latency = self.program.link_by_name[edge.link].latency_cycles
        flits, flit_cycles = flits_of_a_beat(self.program, edge)
        page_by_page = edge.handoff.by_page
        way_back = latency + (OFFER_CYCLES if page_by_page else 0)
        ready = times.readable[edge.buffer].copy()
        for other in self._promised_with(stage):
            ready[::tile] = self._after_return(other, ready[::tile], way_back)
        first_flit = spaced(ready, flits * flit_cycles, self._beats(edge.buffer))
        last_flit = first_flit + (flits - 1) * flit_cycles
        arrives = last_flit + LINK_REGISTER_CYCLES + latency
        self._take(edge.buffer, last_flit)
        times.promised[landing] = first_flit[::tile] - way_back
        there = arrives
        if page_by_page:
            there = np.repeat(arrives[tile - 1 :: tile] + VALID_CYCLES, tile)
        self._fill(landing, arrives, there + FIFO_CYCLES)

    def _operate(self, stage: Stage) -> None:
        """Time the operations of a fold or a map.

        One within the body never makes the one behind it wait for its register: that is free as
        soon as the one behind it has taken the beat before, and it waits for that itself.
        """
        (out,) = stage.outs
        operations = self._operations[stage.name]
        there: list[Cycles] = []
        for operation in operations:
            sides = [self.times.readable[stage.ins[index]] for index in operation.streams]
            sides += [there[index] + OPERATION_CYCLES for index in operation.inner]
            there.append(sides[0] if len(sides) == 1 else np.maximum(*sides))
        self._write(out, self._in_room(there[-1] + OPERATION_CYCLES, (out,)))
        if not self._all_rounds:
            return
        left = {len(operations) - 1: self.times.written[out]}
        for place in reversed(range(len(operations))):
            fires = there[place].copy()
            fires[1:] = np.maximum(fires[1:], left[place][:-1])
            fires = spaced(fires, 1, self._beats(out))
            for index in operations[place].streams:
                self._take(stage.ins[index], fires)
            left |= dict.fromkeys(operations[place].inner, fires)

    def _merge(self, stage: Stage, turns: tuple[int, ...]) -> None:
        (out,) = stage.outs
        pages = self._by_turn(out, np.zeros(len(self._beats(out)), dtype=np.int64))
        places = self._places(out, turns)
        for index, name in enumerate(stage.ins):
            pages[:, places[index]] = self._by_turn(name, self.times.readable[name])
        fires = self._in_room(pages.ravel(), (out,))
        for index, name in enumerate(stage.ins):
            self._take(name, self._by_turn(out, fires)[:, places[index]].ravel())
        self._write(out, fires)

    def _split(self, stage: Stage, turns: tuple[int, ...]) -> None:
        (source,) = stage.ins
        pages = self._by_turn(source, self.times.readable[source].copy())
        places = self._places(source, turns)
        for index, name in enumerate(stage.outs):
            space = self._space(name)
            if space is not None:
                at = pages[:, places[index]]
                pages[:, places[index]] = np.maximum(at, self._by_turn(name, space))
        fires = spaced(pages.ravel(), 1, self._beats(source))
        self._take(source, fires)
        for index, name in enumerate(stage.outs):
            self._write(name, self._by_turn(source, fires)[:, places[index]].ravel())

    def _by_turn(self, buffer: str, beats: Cycles) -> Cycles:
        """Times by round, page of a round, and beat."""
        return beats.reshape(len(self.rounds), self.part.share[buffer], self.tile)

    def _places(self, buffer: str, turns: tuple[int, ...]) -> dict[int, list[int]]:
        """By turn, which pages of a round of the buffer with all of them have it."""
        places: dict[int, list[int]] = {turn: [] for turn in turns}
        for page in range(self.part.share[buffer]):
            places[turns[page % len(turns)]].append(page)
        return places


def drain_cycles(tile: int) -> int:
    """Cycles from a product's last pair of beats to its last row in memory on the same chip."""
    return TILE_CYCLES + (tile - 1) + FIFO_CYCLES
