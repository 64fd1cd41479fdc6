"""What pages hold, found in the plainest way: every page is passed on by itself."""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import cycle

from compiler.flow.order import in_flow_order, sources_of
from compiler.flow.pages import PageFlow, SumPages
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
    """Pages of every buffer, and by store the pages with the tiles to whose places they go.

    Stages pass on all pages at once, but for those that come after a circle or are part of one:
    these pass on as many as they can, again and again, until all pages have gone round.
    """
    held: dict[str, list] = {name: [] for stage in program.stages for name in stage.outs}
    stored: dict[str, list] = {}
    count = -1
    while count != (count := sum(map(len, held.values()))):
        whole: set[str] = set()
        for stage in in_flow_order(program):
            is_whole = whole.issuperset(sources_of(program, stage))
            pass_on(program, stage, held, stored, is_whole=is_whole)
            whole.update(stage.outs if is_whole else ())
    for stage in in_flow_order(program):
        pass_on(program, stage, held, stored, is_whole=True)
    return held, stored


def pass_on(
    program: Program,
    stage: Stage,
    held: dict[str, list],
    stored: dict[str, list],
    *,
    is_whole: bool,
) -> None:
    """Fill a stage's outputs with what becomes of its sources, all of which is there or a part."""
    sources = [held[name] for name in sources_of(program, stage)]
    if not is_whole:
        sources = beginnings(stage, sources)
    made: list[list]
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
            made = [merged(stage, turns, sources, is_whole=is_whole)]
        case Split(turns):
            made = [[] for _ in stage.outs]
            for index, page in enumerate(sources[0]):
                made[turns[index % len(turns)]].append(page)
        case Store(_, walk):
            stored[stage.name] = [*zip(sources[0], tiles_of(program, stage, walk), strict=False)]
            made = []
        case _:
            made = sources * len(stage.outs)
    held.update(zip(stage.outs, made, strict=True))


def beginnings(stage: Stage, sources: list[list]) -> list[list]:
    """As many pages of each source as go together. A merge sees for itself how far it gets."""
    if isinstance(stage.kind, Merge):
        return sources
    shortest = min(map(len, sources))
    return [pages[:shortest] for pages in sources]


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


def merged(stage: Stage, turns: tuple[int, ...], sources: list[list], *, is_whole: bool) -> list:
    rounds = {Fraction(len(pages), turns.count(i)) for i, pages in enumerate(sources)}
    if is_whole and (len(rounds) > 1 or any(count.denominator > 1 for count in rounds)):
        raise PlainError("CountingImbalance", stage)
    left = [list(reversed(pages)) for pages in sources]
    made = []
    turn = cycle(turns)
    while left[each := next(turn)]:
        made.append(left[each].pop())
    return made


def listed(flow: PageFlow) -> tuple[dict[str, list], dict[str, list]]:
    """A flow page by page, as :func:`plain_flow` gives it."""
    held = {name: list(pages.tiles) for name, pages in flow.operands.items()}
    held |= {name: pages_of(places) for name, places in flow.sums.items()}
    stored = {
        name: [*zip(pages_of(stored.places), stored.written, strict=False)]
        for name, stored in flow.stored.items()
    }
    return held, stored


def pages_of(places: tuple[SumPages, ...]) -> list:
    """The pages of a buffer, from those in each place of its rounds."""
    by_place = [
        [
            Sum(tile, counted(pages.adds_of(index).intervals), pages.mapped)
            for index, tile in enumerate(pages.tiles)
        ]
        for pages in places
    ]
    return [page for pages in zip(*by_place, strict=True) for page in pages]


def counted(intervals) -> frozenset[tuple[int, int]]:
    return frozenset(
        (block, times) for begin, end, times in intervals for block in range(begin, end)
    )
