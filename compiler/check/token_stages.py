"""What each kind of stage does with the pages of a token run."""

from abc import ABC, abstractmethod
from collections.abc import Iterable

from compiler.check.held import PAGE, ROOM, BarrierRounds, Beats, Held, Missing, Waits
from compiler.flow.components import Component
from compiler.ir.edge import Barrier, Edge
from compiler.ir.operations import operations_of
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


class TokenStage(ABC):
    """A stage that passes pages, one after the other.

    Attributes
    ----------
    pages_in_round : int
        How many it passes in a round.
    left : int
        How many of them it has not passed yet.
    """

    def __init__(self, stage: Stage, ins: list[Held], outs: list[Held], waits: Waits):
        self.name, self.ins, self.outs, self.waits = stage.name, ins, outs, waits
        self.pages_in_round = (outs or ins)[0].share
        self.left = 0

    def takes_from(self) -> Iterable[Held]:
        """The buffers from which it takes the next page."""
        return self.ins

    def fills(self) -> Iterable[Held]:
        """The buffers in which it needs a slot for the next page."""
        return self.outs

    def waits_for(self) -> Missing | None:
        """What is not known yet of that on which the next page depends."""
        for held in self.takes_from():
            if not held.readable:
                return Missing(PAGE, held.name)
        for held in self.fills():
            if not held.knows_slot(held.put_count):
                return Missing(ROOM, held.name)
        return None

    @abstractmethod
    def move(self) -> None:
        """Pass the next page."""

    def passed(self) -> Beats:
        """When it passed its last beats, as far as later ones wait for that."""
        return []


class Product(TokenStage):
    """Takes a result's pairs of beats when its first one is admitted; lets its rows leave.

    Both loads fill their buffers from the start on and keep pace, so all that a pair waits for is
    the pair before it. But a buffer of a single beat is filled only after it was emptied, and gives
    a beat every other cycle.
    """

    def __init__(self, program: Program, stage: Stage, outs: list[Held], waits: Waits):
        super().__init__(stage, [], outs, waits)
        assert isinstance(stage.kind, MatmulTiles)
        self.tile = program.tile
        self.pairs = (stage.kind.block_count or 1) * program.tile
        operands = [program.buffer_by_name[name] for name in stage.ins]
        self.single = [b.name for b in operands if (b.depth_pages or 0) * program.tile == 1]
        self.pace = 1 + FIFO_CYCLES if self.single else 1
        self.loads = [edge.source for edge in program.edges_by_destination[stage.name]]
        self.last_pair: int | None = None

    def move(self) -> None:
        (out,) = self.outs
        before = self.last_pair
        ready = LOAD_CYCLES + FIFO_CYCLES if before is None else before + self.pace
        admitted = self.waits.wait(ready, out.freed(out.put_count), out.name)
        self.last_pair = admitted + (self.pairs - 1) * self.pace
        for name in self.single:
            self.waits.wait(0, (self.pairs - 1 + (before is not None)) * FIFO_CYCLES, name)
        for load in self.loads:
            self.waits.send(load, LOAD_CYCLES, self.last_pair - FIFO_CYCLES)
        row = self.last_pair + TILE_CYCLES
        self.waits.send(self.name, row, row + self.tile - 1)
        out.write(range(row, row + self.tile))

    def passed(self) -> Beats:
        return [self.last_pair or 0]


class Source(TokenStage):
    """A load whose pages are no operands of a product: it brings in a beat in each cycle."""

    def __init__(self, stage: Stage, outs: list[Held], waits: Waits):
        super().__init__(stage, [], outs, waits)
        self.last_beat = LOAD_CYCLES - 1

    def move(self) -> None:
        (out,) = self.outs
        slot = out.slot()
        written: list[int] = []
        for beat in range(out.beats):
            self.last_beat += 1
            if slot:
                self.last_beat = self.waits.wait(self.last_beat, slot[beat] + 1, out.name)
            written.append(self.last_beat)
        self.waits.send(self.name, written[0], written[-1])
        out.write(written)

    def passed(self) -> Beats:
        return [self.last_beat]


class Crossing(TokenStage):
    """A link, from the sender's buffer to the landing buffer."""

    def __init__(
        self, program: Program, stage: Stage, edge: Edge, held: dict[str, Held], waits: Waits
    ):
        super().__init__(stage, [held[edge.buffer]], [held[name] for name in stage.outs], waits)
        assert edge.link is not None
        assert edge.handoff is not None
        link = program.link_by_name[edge.link]
        page = program.buffer_by_name[edge.buffer].page
        self.latency, self.flit_cycles = link.latency_cycles, link.flit_cycles
        self.flits = -(-page.beat_bits // link.width_bits)
        self.by_page = edge.handoff.by_page
        self.barrier: BarrierRounds | None = None
        self.link_free = 0

    def waits_for(self) -> Missing | None:
        if self.barrier is None:
            return super().waits_for()
        if not self.ins[0].readable:
            return Missing(PAGE, self.ins[0].name)
        return self.barrier.waits_for(self.outs[0].put_count)

    def move(self) -> None:
        (source,), (landing,) = self.ins, self.outs
        readable = source.readable[0]
        begin = max(readable[0], self.link_free)
        begin = self.waits.wait(begin, self._offer(landing), landing.name)
        hold, gap = (self.flits - 1) * self.flit_cycles, self.flits * self.flit_cycles
        last_flits: list[int] = []
        for ready in readable:
            begin = max(begin, ready)
            last_flits.append(begin + hold)
            begin += gap
        self.link_free = begin
        source.take(last_flits)
        later = LINK_REGISTER_CYCLES + self.latency
        last = last_flits[-1] + later
        self.waits.send(self.name, last_flits[0] + later, last)
        if self.by_page:
            landing.write([last + VALID_CYCLES] * len(last_flits))
        else:
            landing.write([cycle + later for cycle in last_flits])

    def _offer(self, landing: Held) -> int:
        """The first cycle in which the sender knows of a free slot for a page."""
        page = landing.put_count
        freed = self.barrier.freed(page) if self.barrier else landing.freed(page)
        if not freed:
            return 0
        return freed + self.latency + (OFFER_CYCLES if self.by_page else 0)

    def passed(self) -> Beats:
        return [self.link_free]


class Operations(TokenStage):
    """A fold or a map: a register behind each operation of its body.

    An operation takes beats once its own result has gone on to the one behind it. ``fired`` holds
    when each last did, and at the end when the last beat was written.
    """

    def __init__(self, stage: Stage, held: dict[str, Held], waits: Waits):
        super().__init__(
            stage, [held[name] for name in stage.ins], [held[name] for name in stage.outs], waits
        )
        assert isinstance(stage.kind, Fold | Map)
        operations = operations_of(stage.kind.body)
        count = len(operations)
        behind = {i: place for place, operation in enumerate(operations) for i in operation.inner}
        self.steps = [
            (place, behind.get(place, count), operation.streams, operation.inner)
            for place, operation in enumerate(operations)
        ]
        self.fired = [-1] * count + [0]

    def move(self) -> None:
        (out,) = self.outs
        pages = [held.readable[0] for held in self.ins]
        fired, slot = self.fired, out.slot()
        taken: list[list[int]] = []
        written_beats: list[int] = []
        for beat in range(len(pages[0])):
            takes = [0] * len(pages)
            for place, behind, streams, inner in self.steps:
                fires = max(fired[place] + 1, fired[behind])
                for index in streams:
                    fires = max(fires, pages[index][beat])
                for index in inner:
                    fires = max(fires, fired[index] + OPERATION_CYCLES)
                fired[place] = fires
                for index in streams:
                    takes[index] = fires
            written = max(fired[-2] + OPERATION_CYCLES, fired[-1] + 1)
            if slot:
                written = self.waits.wait(written, slot[beat] + 1, out.name)
            fired[-1] = written
            taken.append(takes)
            written_beats.append(written)
        for held, beats in zip(self.ins, zip(*taken, strict=True), strict=True):
            held.take(beats)
        self.waits.send(self.name, written_beats[0], written_beats[-1])
        out.write(written_beats)

    def passed(self) -> Beats:
        return self.fired


class Switch(TokenStage):
    """A copy, a merge or a split: passes a page from one of its inputs to some of its outputs.

    A store is one without outputs: it takes a beat in each cycle in which there is one.
    """

    def __init__(self, stage: Stage, held: dict[str, Held], waits: Waits):
        super().__init__(
            stage, [held[name] for name in stage.ins], [held[name] for name in stage.outs], waits
        )
        match stage.kind:
            case Merge(turns):
                self.ways = [([self.ins[turn]], self.outs) for turn in turns]
            case Split(turns):
                self.ways = [(self.ins, [self.outs[turn]]) for turn in turns]
            case _:
                self.ways = [(self.ins, self.outs)]
        self.pages_in_round = max(held.share for held in (*self.ins, *self.outs))
        self.turn = 0
        self.last_beat = -1

    def takes_from(self) -> Iterable[Held]:
        return self.ways[self.turn][0]

    def fills(self) -> Iterable[Held]:
        return self.ways[self.turn][1]

    def move(self) -> None:
        (source,), outs = self.ways[self.turn]
        slots = [(held.name, slot) for held in outs if (slot := held.slot())]
        passed: list[int] = []
        last = self.last_beat
        for beat, ready in enumerate(source.readable[0]):
            last = max(ready, last + 1)
            if slots:
                fullest, room = max(
                    ((name, slot[beat] + 1) for name, slot in slots), key=lambda known: known[1]
                )
                last = self.waits.wait(last, room, fullest)
            passed.append(last)
        self.last_beat = last
        self.turn = (self.turn + 1) % len(self.ways)
        source.take(passed)
        self.waits.send(self.name, passed[0], passed[-1])
        for held in outs:
            held.write(passed)

    def passed(self) -> Beats:
        return [self.last_beat]


def token_stages(
    program: Program, part: Component, held: dict[str, Held], waits: Waits
) -> list[TokenStage]:
    """The stages of a component but its loads, in flow order."""
    stages: list[TokenStage] = []
    barriers: dict[Barrier, list[Crossing]] = {}
    for stage in part.stages:
        match stage.kind:
            case Load():
                outs = [held[name] for name in stage.outs if name in held]
                if outs:
                    stages.append(Source(stage, outs, waits))
            case MatmulTiles():
                stages.append(Product(program, stage, [held[name] for name in stage.outs], waits))
            case Recv():
                (edge,) = program.edges_by_destination[stage.name]
                crossing = Crossing(program, stage, edge, held, waits)
                stages.append(crossing)
                if isinstance(edge.handoff, Barrier):
                    barriers.setdefault(edge.handoff, []).append(crossing)
            case Fold() | Map():
                stages.append(Operations(stage, held, waits))
            case Copy() | Merge() | Split() | Store():
                stages.append(Switch(stage, held, waits))
    for crossings in barriers.values():
        together = BarrierRounds([crossing.outs[0] for crossing in crossings])
        for crossing in crossings:
            crossing.barrier = together
    return stages
