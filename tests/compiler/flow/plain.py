"""What pages hold, found in the plainest way: every page is passed on by itself."""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from compiler.flow.order import in_flow_order, sources_of
from compiler.flow.pages import MergedPages, OperandPages, PageFlow, Pages
from compiler.ir.body import Add, Body, Operand
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Load, Map, MatmulTiles, Merge, Split, Stage, Store
from compiler.ir.walk import Walk


class PlainError(Exception):
    """Pages that do not belong together, by the rule that this breaks and the stage."""

    def __init__(self, rule: str, stage: Stage):
        super().__init__(rule, stage.name)


@dataclass(frozen=True)
class Sum:
    """A page of sums: its tile of the output, and how often each block has been added."""

    tile: tuple[int, int]
    adds: frozenset[tuple[int, int]]
    mapped: str = ""


def plain_flow(program: Program) -> tuple[dict[str, list], dict[str, list]]:
    """Pages of every buffer, and by store the pages with the tiles to whose places they go."""
    held: dict[str, list] = {}
    stored: dict[str, list] = {}
    for stage in in_flow_order(program):
        sources = [held[name] for name in sources_of(program, stage)]
        match stage.kind:
            case Load(tensor, walk):
                flipped = program.tensor_by_name[tensor].value == program.claim.right
                tiles = tiles_of(program, stage, walk)
                made = [[tile[::-1] if flipped else tile for tile in tiles]]
            case MatmulTiles(depth):
                made = [multiplied(program, stage, depth, *sources)]
            case Fold(body):
                made = [folded(stage, body, sources)]
            case Map(body):
                once = frozenset((block, 1) for block in range(blocks_of(program)))
                if any(page.adds != once for page in sources[0]):
                    raise PlainError("MapOfPartial", stage)
                made = [[Sum(p.tile, p.adds, p.mapped + str(body)) for p in sources[0]]]
            case Merge(turns):
                made = [merged(stage, turns, sources)]
            case Split(turns):
                made = [[] for _ in stage.outs]
                for index, page in enumerate(sources[0]):
                    made[turns[index % len(turns)]].append(page)
            case Store(_, walk):
                stored[stage.name] = [
                    *zip(sources[0], tiles_of(program, stage, walk), strict=False)
                ]
                made = []
            case _:
                made = sources * len(stage.outs)
        held.update(zip(stage.outs, made, strict=True))
    return held, stored


def tiles_of(program: Program, stage: Stage, walk: Walk) -> list[tuple[int, int]]:
    tensor = program.tensor_by_name[stage.kind.tensor]
    if not {*walk.pages()} <= {*range(tensor.page_count)}:
        raise PlainError("WalkLeavesTensor", stage)
    first = tensor.part.row // program.tile, tensor.part.col // program.tile
    places = (divmod(page, tensor.col_tiles) for page in walk.pages())
    return [(row + first[0], col + first[1]) for row, col in places]


def blocks_of(program: Program) -> int:
    return -(-(program.claim.k + program.claim.k_pad) // program.tile)


def multiplied(program, stage, depth, left, right) -> list[Sum]:
    if len(left) != len(right) or len(left) % depth:
        raise PlainError("CountingImbalance", stage)
    made = []
    for first in range(0, len(left), depth):
        pairs = list(zip(left[first : first + depth], right[first : first + depth], strict=True))
        if any(a != b for (_, a), (_, b) in pairs):
            raise PlainError("ContractionOrder", stage)
        tiles = {(row, col) for (row, _), (col, _) in pairs}
        if len(tiles) > 1:
            raise PlainError("ContractionOrder", stage)
        made.append(Sum(*tiles, frozenset(Counter(block for (_, block), _ in pairs).items())))
    return made


def folded(stage: Stage, body: Body, sources: list[list[Sum]]) -> list[Sum]:
    if isinstance(body, Operand):
        return sources[body.index]
    assert isinstance(body, Add)
    sides = [folded(stage, side, sources) for side in (body.left, body.right)]
    if len(sides[0]) != len(sides[1]):
        raise PlainError("CountingImbalance", stage)
    made = []
    for one, other in zip(*sides, strict=True):
        if one.tile != other.tile:
            raise PlainError("ResultOrder", stage)
        adds = Counter(dict(one.adds)) + Counter(dict(other.adds))
        made.append(Sum(one.tile, frozenset(adds.items())))
    return made


def merged(stage: Stage, turns: tuple[int, ...], sources: list[list]) -> list:
    rounds = {Fraction(len(pages), turns.count(i)) for i, pages in enumerate(sources)}
    if len(rounds) > 1 or any(count.denominator > 1 for count in rounds):
        raise PlainError("CountingImbalance", stage)
    left = [list(reversed(pages)) for pages in sources]
    return [left[turn].pop() for turn in turns * (len(sources[0]) // turns.count(0))]


def listed(flow: PageFlow) -> tuple[dict[str, list], dict[str, list]]:
    """A flow page by page, as :func:`plain_flow` gives it."""
    held = {name: pages_of(pages) for name, pages in flow.held.items()}
    stored = {
        name: [*zip(pages_of(stored.pages), stored.written, strict=False)]
        for name, stored in flow.stored.items()
    }
    return held, stored


def pages_of(pages: Pages) -> list:
    if isinstance(pages, OperandPages):
        return list(pages.tiles)
    if isinstance(pages, MergedPages):
        left = {name: list(reversed(pages_of(part))) for name, part in pages.streams.items()}
        rounds = pages.length // len(pages.turns)
        return [left[name].pop() for name in pages.turns * rounds]
    return [
        Sum(tile, counted(pages.adds_of(index).intervals), pages.mapped)
        for index, tile in enumerate(pages.tiles)
    ]


def counted(intervals) -> frozenset[tuple[int, int]]:
    return frozenset(
        (block, times) for begin, end, times in intervals for block in range(begin, end)
    )
