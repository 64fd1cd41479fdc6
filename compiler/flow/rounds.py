"""Rounds: the pages with which all turns come whole, and the order in which they pass.

Merges and splits put the pages of a round in their places by turns, so what holds of a page of one
round holds of the page in its place in every other. Where stages feed each other in a circle, as
those of a ring of chips do, no stage comes before the others; but page by page there is an order,
or else no page could ever be the first.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from compiler.flow.errors import FlowError
from compiler.flow.once import Once
from compiler.flow.order import in_flow_order, sources_of
from compiler.ir import limits
from compiler.ir.program import Program
from compiler.ir.stage import Load, MatmulTiles, Merge, Split, Stage

Place = tuple[str, int]
"""A buffer, and the number of one of its pages within a round."""


@dataclass(frozen=True)
class Pass:
    """A stage takes a page from some buffers and puts one into others, once in a round."""

    stage: Stage
    takes: tuple[Place, ...]
    fills: tuple[Place, ...]


@dataclass(frozen=True)
class Round:
    """What passes in a round of all that pages of sums flow through.

    Parameters
    ----------
    share : dict
        By buffer, but for those of products' operands, its pages in a round: the fewest with which
        all turns come whole.
    passes : tuple of Pass
        Each behind those that fill the places that it takes from. What is loaded for a product is
        not among them, and a product takes from nothing.
    """

    share: dict[str, int]
    passes: tuple[Pass, ...]


def round_of(program: Program) -> Round:
    """The round of a program. It follows from its turns alone, and is found once.

    Raises
    ------
    FlowError
        If a stage takes from a buffer that nothing fills, if turns do not come out even or come
        whole only after too many pages, or if pages would have to pass in a circle.
    """
    return _found(program)


def _round_of(program: Program) -> Round:
    factors = factor_buffers(program)
    stages = [stage for stage in in_flow_order(program) if factors.isdisjoint(stage.outs)]
    found = _shares(program, stages)
    share = {name: found[name] for stage in stages for name in stage.outs}
    return Round(share, tuple(_passes(program, stages, share)))


_found = Once(_round_of)


def factor_buffers(program: Program) -> set[str]:
    """Buffers between a load and a product."""
    taken = {
        name
        for stage in program.stages
        if isinstance(stage.kind, MatmulTiles)
        for name in stage.ins
    }
    return taken & {n for s in program.stages if isinstance(s.kind, Load) for n in s.outs}


def _rates(program: Program, stage: Stage) -> list[tuple[str, int]]:
    """Pages that a stage takes from its sources and puts into its outputs, all in one go."""
    sources = () if isinstance(stage.kind, MatmulTiles) else sources_of(program, stage)
    match stage.kind:
        case Merge(turns):
            each = Counter(turns)
            ins, outs = [each[i] for i in range(len(sources))], [len(turns)]
        case Split(turns):
            each = Counter(turns)
            ins, outs = [len(turns)], [each[i] for i in range(len(stage.outs))]
        case _:
            ins, outs = [1] * len(sources), [1] * len(stage.outs)
    return [*zip(sources, ins, strict=True), *zip(stage.outs, outs, strict=True)]


def _shares(program: Program, stages: list[Stage]) -> dict[str, int]:
    """Pages of each buffer in a round, of what is joined by flow in proportion."""
    rates = {stage.name: _rates(program, stage) for stage in stages}
    at: defaultdict[str, list[Stage]] = defaultdict(list)
    for stage in stages:
        for name, rate in rates[stage.name]:
            if rate:
                at[name].append(stage)
    share: dict[str, int] = {}
    for stage in stages:
        for first, _ in rates[stage.name]:
            if first not in share:
                share |= _in_proportion(first, rates, at)
    return share


def _in_proportion(
    first: str, rates: dict[str, list[tuple[str, int]]], at: dict[str, list[Stage]]
) -> dict[str, int]:
    """The least whole numbers of pages of all that a buffer is joined to."""
    pages = {first: Fraction(1)}
    goes: dict[str, Fraction] = {}
    waiting = deque([first])
    while waiting:
        name = waiting.popleft()
        for stage in at.get(name, ()):
            if stage.name in goes:
                continue
            own = rates[stage.name]
            goes[stage.name] = pages[name] / next(rate for known, rate in own if known == name)
            for other, rate in own:
                there = rate * goes[stage.name]
                if pages.setdefault(other, there) != there:
                    raise _uneven(stage, other)
                waiting.append(other)
    whole = lcm(*(each.denominator for each in (*pages.values(), *goes.values())))
    least = {name: int(each * whole) for name, each in pages.items()}
    if max(least.values()) > limits.TURNS:
        stage = next(iter(goes))
        raise FlowError(
            "TurnOrder",
            stage,
            f"the turns of {stage!r}, and of what it is joined to, come whole only after more than "
            f"{limits.TURNS} pages",
        )
    return least


def _uneven(stage: Stage, buffer: str) -> FlowError:
    return FlowError(
        "CountingImbalance",
        stage.name,
        f"{type(stage.kind).__name__.lower()} {stage.name!r} passes pages of {buffer!r} in another "
        f"proportion than the stages that it is joined to; they do not end together",
    )


def _passes(program: Program, stages: list[Stage], share: dict[str, int]) -> Iterable[Pass]:
    """All passes of a round: each stage goes on as long as there are pages for it."""
    readers: defaultdict[str, list[_Moving]] = defaultdict(list)
    moving = [_Moving(program, stage, share) for stage in stages]
    for each in moving:
        for name in {*each.sources}:
            readers[name].append(each)
    put = dict.fromkeys(share, 0)
    waiting = deque(moving)
    while waiting:
        each = waiting.popleft()
        each.is_waiting = False
        fed: dict[str, None] = {}
        while (passed := each.next(put)) is not None:
            yield passed
            for name, _ in passed.fills:
                put[name] += 1
                fed[name] = None
        for reader in (reader for name in fed for reader in readers[name]):
            if not reader.is_waiting:
                reader.is_waiting = True
                waiting.append(reader)
    left = [each.stage.name for each in moving if each.left]
    if left:
        names = ", ".join(map(repr, left))
        raise FlowError("Cycle", left[0], f"stages {names} feed each other in a circle")


class _Moving:
    """A stage in the midst of a round.

    ``left`` is how often it still passes pages, and ``is_waiting`` whether it is to be looked at.
    """

    def __init__(self, program: Program, stage: Stage, share: dict[str, int]):
        self.stage = stage
        self.sources = () if isinstance(stage.kind, MatmulTiles) else sources_of(program, stage)
        self._turns = stage.kind.turns if isinstance(stage.kind, Merge | Split) else (0,)
        self._merges, self._splits = isinstance(stage.kind, Merge), isinstance(stage.kind, Split)
        one = stage.outs if self._merges or not self.sources else self.sources
        self.left = share.get(one[0], 0) if one else 0
        self._taken: Counter[str] = Counter()
        self._filled: Counter[str] = Counter()
        self._passed = 0
        self.is_waiting = True

    def next(self, put: dict[str, int]) -> Pass | None:
        """The next pass, if there are pages for it among those that have been put."""
        if not self.left:
            return None
        turn = self._turns[self._passed % len(self._turns)]
        ins = (self.sources[turn],) if self._merges else self.sources
        outs = (self.stage.outs[turn],) if self._splits else self.stage.outs
        if any(put[name] <= self._taken[name] for name in ins):
            return None
        takes = tuple((name, self._taken[name]) for name in ins)
        fills = tuple((name, self._filled[name]) for name in outs)
        self._taken.update(ins)
        self._filled.update(outs)
        self._passed += 1
        self.left -= 1
        return Pass(self.stage, takes, fills)
