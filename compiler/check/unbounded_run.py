"""The token graph with room for every page, in closed form.

Where nothing waits for room, a stage waits only for those before it and for its own last beat. So
from some early page on, the times of its beats are the latest of a few lines: one for each rate
that the stage, or one before it, can keep at all. The slowest of them wins in the end, though
perhaps only after very many pages.
"""

from __future__ import annotations

from dataclasses import dataclass

from compiler.check.page_flow import in_order
from compiler.ir.body import Body, Literal, Operand
from compiler.ir.edge import Barrier, Edge, Semaphore
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Load, Map, MatmulTiles, Recv, Store
from compiler.latencies import (
    FIFO_CYCLES,
    LINK_REGISTER_CYCLES,
    LOAD_CYCLES,
    OPERATION_CYCLES,
    TILE_CYCLES,
    VALID_CYCLES,
)

Beats = tuple[int, ...]
"""A cycle for each beat of a page."""


@dataclass(frozen=True)
class BeatLines:
    """The cycles in which the beats of a stream pass, for pages without end.

    Parameters
    ----------
    pages : tuple of Beats
        Those of the first pages.
    lines : dict
        By cycles from page to page, those of the pages behind: beat ``b`` of page ``p`` passes at
        the latest ``beats[b] + rate * p`` of all lines.
    """

    pages: tuple[Beats, ...]
    lines: dict[int, Beats]

    def page(self, page: int) -> Beats:
        """The cycles of the beats of a page."""
        if page < len(self.pages):
            return self.pages[page]
        each = [[cycle + rate * page for cycle in beats] for rate, beats in self.lines.items()]
        return tuple(map(max, zip(*each, strict=True)))

    def later(self, cycles: int) -> BeatLines:
        """The same beats, so many cycles later."""
        return BeatLines(
            tuple(_later(beats, cycles) for beats in self.pages),
            {rate: _later(beats, cycles) for rate, beats in self.lines.items()},
        )

    def whole(self) -> BeatLines:
        """Every beat when the last one of its page is there."""
        return BeatLines(
            tuple(_whole(beats) for beats in self.pages),
            {rate: _whole(beats) for rate, beats in self.lines.items()},
        )

    def joined(self, other: BeatLines) -> BeatLines:
        """Each beat when both streams have it."""
        count = max(len(self.pages), len(other.pages))
        pages = [_latest(self.page(page), other.page(page)) for page in range(count)]
        return BeatLines(tuple(pages), _merged(self.lines, other.lines))

    def spaced(self, gap: int) -> BeatLines:
        """The same beats in order, each at least ``gap`` cycles after the one before it.

        Each beat passes when it is there, or so many gaps after an earlier one was. Of the earlier
        ones in a line that takes as long per page as the gaps do, or longer, those of the last page
        are the latest. In a faster line it is those of the first page, which pass at the rate of
        the gaps from then on.
        """
        passed: list[Beats] = []
        free = self.page(0)[0]
        for page in range(len(self.pages) + 1):
            passed.append(_spaced(self.page(page), free, gap))
            free = passed[-1][-1] + gap
        tile = len(passed[0])
        own_rate = gap * tile
        first = free - own_rate * len(passed)
        lines = {own_rate: tuple(first + gap * beat for beat in range(tile))}
        for rate, beats in self.lines.items():
            if rate >= own_rate:
                earlier = max(cycle - gap * beat for beat, cycle in enumerate(beats))
                lines = _merged(lines, {rate: _spaced(beats, earlier + own_rate - rate, gap)})
        return BeatLines(tuple(passed), lines)


def unbounded_end(program: Program, pages: int) -> int:
    """The cycle in which the last of ``pages`` result pages is stored, with room for all of them.

    No depths make a run shorter.
    """
    readable: dict[str, BeatLines] = {}
    ends: list[int] = []
    for stage in in_order(program):
        match stage.kind:
            case Load():
                continue
            case Store():
                ends.append(readable[stage.ins[0]].page(pages - 1)[-1])
                continue
            case MatmulTiles(block_count):
                passed = _product_rows(program.tile, (block_count or 1) * program.tile)
            case Recv():
                (edge,) = program.edges_by_destination[stage.name]
                passed = _crossed(program, edge, readable[edge.buffer])
            case Fold(body) | Map(body):
                operands = [readable[name] for name in stage.ins]
                passed = _computed(body, operands).spaced(1).later(OPERATION_CYCLES)
        readable[stage.outs[0]] = passed.later(FIFO_CYCLES)
    return max(ends)


def _product_rows(tile: int, pairs: int) -> BeatLines:
    """The rows of results, of ``pairs`` pairs of beats each, which are taken without a pause."""
    first = LOAD_CYCLES + FIFO_CYCLES + pairs - 1 + TILE_CYCLES
    return BeatLines((), {pairs: tuple(first + row for row in range(tile))})


def _crossed(program: Program, edge: Edge, sent: BeatLines) -> BeatLines:
    """When the beats of an edge have arrived."""
    links = [program.link_by_name[name] for name in edge.route or ()]
    width = min(link.width_bits for link in links)
    flit_cycles = max(link.flit_cycles for link in links)
    flits = -(-program.buffer_by_name[edge.buffer].page.beat_bits // width)
    latency = sum(link.latency_cycles for link in links)
    last_flits = sent.spaced(flits * flit_cycles).later((flits - 1) * flit_cycles)
    arrived = last_flits.later(LINK_REGISTER_CYCLES + latency)
    if isinstance(edge.handoff, Semaphore | Barrier):
        return arrived.whole().later(VALID_CYCLES)
    return arrived


def _computed(body: Body, operands: list[BeatLines]) -> BeatLines:
    """When the last operation of a body has its operands.

    The operations before it never wait for their own registers: these are free as soon as the last
    operation has taken the beat before, and it waits for that itself.
    """
    assert not isinstance(body, Operand | Literal)
    sides: list[BeatLines] = []
    for side in (body.left, body.right):
        match side:
            case Operand(index):
                sides.append(operands[index])
            case Literal():
                pass
            case _:
                sides.append(_computed(side, operands).later(OPERATION_CYCLES))
    return sides[0] if len(sides) == 1 else sides[0].joined(sides[1])


def _later(beats: Beats, cycles: int) -> Beats:
    return tuple(cycle + cycles for cycle in beats)


def _whole(beats: Beats) -> Beats:
    return beats[-1:] * len(beats)


def _latest(one: Beats, other: Beats) -> Beats:
    return tuple(map(max, one, other))


def _merged(one: dict[int, Beats], other: dict[int, Beats]) -> dict[int, Beats]:
    """The lines of both; of two with one rate, the later beats."""
    return {
        rate: _latest(one.get(rate, beats), other.get(rate, beats))
        for rate, beats in (one | other).items()
    }


def _spaced(beats: Beats, free: int, gap: int) -> Beats:
    """Beats in order, the first not before ``free``, each ``gap`` after the one before it."""
    passed: list[int] = []
    for ready in beats:
        passed.append(max(ready, free))
        free = passed[-1] + gap
    return tuple(passed)
