"""The token graph with room for every page, in closed form.

Where nothing waits for room, a stage waits only for those before it and for its own last beat. So
from some early round on, the times of its beats are the latest of a few lines: one for each rate
that the stage, or one before it, can keep at all. The slowest of them wins in the end, though
perhaps only after very many rounds.
"""

from compiler.check.beat_lines import BeatLines
from compiler.check.token_run import TokenRun
from compiler.flow.components import Component
from compiler.ir.body import Body
from compiler.ir.edge import Edge
from compiler.ir.operations import operations_of
from compiler.ir.program import Program
from compiler.ir.stage import Copy, Fold, Load, Map, MatmulTiles, Merge, Recv, Split, Store
from compiler.latencies import (
    FIFO_CYCLES,
    LINK_REGISTER_CYCLES,
    LOAD_CYCLES,
    OPERATION_CYCLES,
    TILE_CYCLES,
    VALID_CYCLES,
)


def unbounded_end(program: Program, part: Component) -> int:
    """The cycle in which the last page of a component is stored, with room for all of them.

    No depths make a run shorter. Where stages feed each other in a circle there is no closed form:
    there, rounds are run page by page.
    """
    if part.goes_round(program):
        return TokenRun(program, part, bounded=False).run().end
    readable: dict[str, BeatLines] = {}
    ends: list[int] = []
    for stage in part.stages:
        passed: list[BeatLines] = []
        match stage.kind:
            case Load():
                outs = [name for name in stage.outs if name in part.share]
                if not outs:
                    continue
                beats = program.tile * part.share[outs[0]]
                line = BeatLines((), {beats: tuple(range(LOAD_CYCLES, LOAD_CYCLES + beats))})
                passed = [line]
            case Store():
                ends.append(readable[stage.ins[0]].spaced(1).round(part.rounds - 1)[-1])
            case MatmulTiles(block_count):
                pages = part.share[stage.outs[0]]
                passed = [_product_rows(program.tile, (block_count or 1) * program.tile, pages)]
            case Recv():
                (edge,) = program.edges_by_destination[stage.name]
                passed = [_crossed(program, edge, readable[edge.buffer])]
            case Fold(body) | Map(body):
                operands = [readable[name] for name in stage.ins]
                passed = [_computed(body, operands).spaced(1).later(OPERATION_CYCLES)]
            case Copy():
                passed = [readable[stage.ins[0]].spaced(1)] * len(stage.outs)
            case Merge(turns):
                ins = [readable[name] for name in stage.ins]
                places = _places(turns, part.share[stage.outs[0]], program.tile)
                passed = [BeatLines.merged(ins, places).spaced(1)]
            case Split(turns):
                places = _places(turns, part.share[stage.ins[0]], program.tile)
                beats = readable[stage.ins[0]].spaced(1)
                passed = [beats.at(places[turn]) for turn in range(len(stage.outs))]
        for name, beats in zip(stage.outs, passed, strict=True):
            falls = program.buffer_by_name[name].fall_through
            readable[name] = beats.later(0 if falls else FIFO_CYCLES)
    return max(ends)


def _product_rows(tile: int, pairs: int, pages: int) -> BeatLines:
    """The rows of ``pages`` results in each round.

    Each takes ``pairs`` pairs of beats, which are taken without a pause.
    """
    first = LOAD_CYCLES + FIFO_CYCLES + pairs - 1 + TILE_CYCLES
    rows = (first + pairs * page + row for page in range(pages) for row in range(tile))
    return BeatLines((), {pairs * pages: tuple(rows)})


def _crossed(program: Program, edge: Edge, sent: BeatLines) -> BeatLines:
    """When the beats of an edge have arrived."""
    assert edge.link is not None
    assert edge.handoff is not None
    link = program.link_by_name[edge.link]
    flits = -(-program.buffer_by_name[edge.buffer].page.beat_bits // link.width_bits)
    last_flits = sent.spaced(flits * link.flit_cycles).later((flits - 1) * link.flit_cycles)
    arrived = last_flits.later(LINK_REGISTER_CYCLES + link.latency_cycles)
    if edge.handoff.by_page:
        return arrived.whole(program.tile).later(VALID_CYCLES)
    return arrived


def _computed(body: Body, operands: list[BeatLines]) -> BeatLines:
    """When the last operation of a body has its operands.

    The operations before it never wait for their own registers: these are free as soon as the last
    operation has taken the beat before, and it waits for that itself.
    """
    there: list[BeatLines] = []
    for operation in operations_of(body):
        sides = [operands[index] for index in operation.streams]
        sides += [there[place].later(OPERATION_CYCLES) for place in operation.inner]
        there.append(sides[0] if len(sides) == 1 else sides[0].joined(sides[1]))
    return there[-1]


def _places(turns: tuple[int, ...], pages: int, tile: int) -> dict[int, list[int]]:
    """By turn, the beats that it has of a round of so many pages."""
    places: dict[int, list[int]] = {turn: [] for turn in turns}
    for page in range(pages):
        places[turns[page % len(turns)]] += range(page * tile, (page + 1) * tile)
    return places
