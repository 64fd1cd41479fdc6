"""Obligation ``order``: every reduction and every broadcast is the one that its collective states.

What goes from chip to chip may pass others, and share links, on its way: receives that only send
on, merges and splits. They are looked through, and belong to no collective in particular.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from compiler.check.spread import Spread, check_spread
from compiler.check.ways import check_change, check_ways
from compiler.flow.errors import FlowError
from compiler.flow.rounds import Place, round_of
from compiler.ir.certificate import Obligation
from compiler.ir.collective import COLLECTIVE_KINDS, Collective
from compiler.ir.layout import is_whole_sum
from compiler.ir.program import Program
from compiler.ir.stage import ON_THE_WAY, Copy, Fold, Merge, Recv, Split, Stage

STATEMENT = (
    "The order of every reduction is stated: its stages, its chips, its home and its algorithm are "
    "those of one collective, and so are those of every broadcast. Sums of integers are the same "
    "in any order."
)

Pair = tuple[Stage, Stage]
"""A stage that gives pages to another, straight or by way of stages that only pass them on."""

KINDS: dict[str, type[Fold] | type[Copy]] = {"reduce": Fold, "broadcast": Copy}
"""Kinds of collectives in which all pages may go one way, and the stages that make them up beside
receives."""


def order(program: Program) -> Obligation:
    """Compare what the collectives state with the stages that receive, fold and copy."""
    bodies = [(s.name, str(s.kind.body)) for s in program.stages if isinstance(s.kind, Fold)]
    try:
        violations = tuple(_violations(program))
    except FlowError as error:
        violations = (str(error),)
    return Obligation(
        name="order",
        statement=STATEMENT,
        evidence=(
            ("sums are", program.numerics.total.kind),
            ("collectives", len(program.collectives)),
            *bodies,
        ),
        violations=violations,
    )


def _violations(program: Program) -> Iterator[str]:
    yield from _membership(program)
    passed = _passed(program)
    yield from passed.unstated([c.chips for c in program.collectives if not c.goes_one_way])
    links = _links_passed(program)
    for collective in program.collectives:
        yield from _collective(program, collective, passed, links)


def _membership(program: Program) -> Iterator[str]:
    """Each stage that takes part in collectives is in one, and no other is in any."""
    named = Counter(name for collective in program.collectives for name in collective.stages)
    for stage in program.stages:
        if _is_way(program, stage):
            continue
        times = 1 if isinstance(stage.kind, Fold | Copy | Recv) else 0
        if named[stage.name] != times:
            yield f"{stage.name} is in {named[stage.name]} collectives, not in {times}"


def _is_way(program: Program, stage: Stage) -> bool:
    """Whether a stage only passes pages on to where they are received, or shares them out."""
    if isinstance(stage.kind, Merge | Split):
        return True
    return isinstance(stage.kind, Recv) and all(
        isinstance(program.stage_by_name[edge.destination].kind, ON_THE_WAY)
        for edge in program.edges_by_source.get(stage.name, ())
    )


@dataclass
class _Passed:
    """Who gives to whom: ``sums`` by the fold that adds them, ``copies`` by what makes them."""

    sums: dict[str, list[Pair]] = field(default_factory=dict[str, list[Pair]])
    copies: dict[str, list[Pair]] = field(default_factory=dict[str, list[Pair]])
    others: list[Pair] = field(default_factory=list[Pair])

    def note(self, giver: Stage, taker: Stage) -> None:
        if isinstance(taker.kind, Fold):
            self.sums.setdefault(taker.name, []).append((giver, taker))
        if isinstance(giver.kind, Copy):
            self.copies.setdefault(giver.name, []).append((giver, taker))
        elif not isinstance(taker.kind, Fold):
            self.others.append((giver, taker))

    def unstated(self, groups: list[tuple[int, ...]]) -> Iterator[str]:
        """What crosses between chips and is neither added nor a copy, nor goes by a page's way.

        ``groups`` are the chips between which pages may.
        """
        for giver, taker in self.others:
            together = any({giver.chip, taker.chip} <= {*group} for group in groups)
            if giver.chip != taker.chip and not together:
                yield (
                    f"{taker.name} on chip {taker.chip} takes what {giver.name} on chip "
                    f"{giver.chip} makes, which no collective states"
                )


def _passed(program: Program) -> _Passed:
    """Look through receives, merges and splits: the stage that made what each other one takes."""
    made: dict[Place, Stage] = {}
    noted: set[tuple[str, str, str]] = set()
    passed = _Passed()
    for each in round_of(program).passes:
        stage, by = each.stage, each.stage
        if isinstance(stage.kind, ON_THE_WAY):
            by = made[each.takes[0]]
        else:
            for place in each.takes:
                giver = made[place]
                key = giver.name, place[0], stage.name
                if key not in noted:
                    noted.add(key)
                    passed.note(giver, stage)
        made |= dict.fromkeys(each.fills, by)
    return passed


def _links_passed(program: Program) -> dict[int, int]:
    """By chip that stores, the most hops that a page has taken before.

    A product's sums may pass other chips on a hop, which does not count. What is only moved takes a
    hop with each link.
    """
    moves = program.graph.redistribution is not None
    behind: dict[Place, tuple[int, int]] = {}
    most: dict[int, int] = {}
    for each in round_of(program).passes:
        chip = _chip(each.stage)
        before = [behind[place] for place in each.takes]
        hops = max((so_far + (there != chip) for there, so_far in before), default=0)
        if isinstance(each.stage.kind, ON_THE_WAY) and not moves:
            chip, hops = before[0]
        behind |= dict.fromkeys(each.fills, (chip, hops))
        if not each.fills:
            most[chip] = max(most.get(chip, 0), hops)
    return most


def _collective(
    program: Program, collective: Collective, passed: _Passed, links: dict[int, int]
) -> Iterator[str]:
    if collective.kind not in COLLECTIVE_KINDS:
        yield f"{collective.name} is a {collective.kind!r}, which is not known"
        return
    output = program.graph.output
    if collective.value != output:
        yield f"{collective.name} is said to be of {collective.value}, but is of {output}"
    stages = [program.stage_by_name[name] for name in collective.stages]
    if not collective.goes_one_way:
        hops = list(_crossings(program, collective, passed))
        yield from _joined(program, collective, stages, hops)
        furthest = max((links.get(chip, 0) for chip in collective.chips), default=0)
        yield from check_ways(program, collective, hops, furthest)
    elif collective.home is None:
        yield f"{collective.name} has no home, which a {collective.algorithm} has"
    else:
        yield from _spanning_tree(program, collective, collective.home, stages, passed)
        if program.graph.redistribution is not None:
            yield from check_change(program, collective)


def _spanning_tree(
    program: Program, collective: Collective, home: int, stages: list[Stage], passed: _Passed
) -> Iterator[str]:
    """One way for all pages: each chip's sums go to one other, and the whole comes from it."""
    reduces = collective.kind == "reduce"
    for stage in stages:
        if isinstance(stage.kind, Fold | Copy) and not isinstance(
            stage.kind, KINDS[collective.kind]
        ):
            made = "reduces" if isinstance(stage.kind, Fold) else "broadcasts"
            yield f"{collective.name} is a {collective.kind!r}, but its stage {stage.name} {made}"
    yield from _receives(program, collective)
    given = passed.sums if reduces else passed.copies
    pairs = [pair for stage in stages for pair in given.get(stage.name, ())]
    hops = list(_hops(pairs))
    yield from _joined(program, collective, stages, hops)
    inner = {(giver if reduces else taker).name for giver, taker in pairs}
    homes = {
        _chip(stage)
        for stage in stages
        if isinstance(stage.kind, KINDS[collective.kind]) and stage.name not in inner
    }
    if homes != {home}:
        verb, verbs = ("end", "ends") if reduces else ("begin", "begins")
        yield (
            f"{collective.name} is said to {verb} on chip {home}, but {verbs} on {_listed(homes)}"
        )
    if not reduces:
        yield from _wholes(program, collective, stages)
    children = hops if reduces else [(taker, giver) for giver, taker in hops]
    yield from check_spread(
        Spread(collective.name, collective.kind, collective.algorithm, home, children)
    )


def _crossings(
    program: Program, collective: Collective, passed: _Passed
) -> Iterator[tuple[int, int]]:
    """The chips of a collective that pages hop between.

    A product's sums may pass other chips on a hop. What is only moved takes a hop with each link.
    """
    if program.graph.redistribution is None:
        given = passed.sums | passed.copies
        yield from _hops(pair for name in collective.stages for pair in given.get(name, ()))
        return
    for edge in program.edges:
        ends = [_chip(program.stage_by_name[name]) for name in (edge.source, edge.destination)]
        if ends[0] != ends[1] and {*ends} <= {*collective.chips}:
            yield ends[0], ends[1]


def _hops(pairs: Iterable[Pair]) -> Iterator[tuple[int, int]]:
    """The chips that pages cross between."""
    return ((_chip(one), _chip(other)) for one, other in pairs if one.chip != other.chip)


def _joined(
    program: Program, collective: Collective, stages: list[Stage], hops: list[tuple[int, int]]
) -> Iterator[str]:
    """The chips that are joined are those that are stated, and those of a group of the mesh."""
    joined = {_chip(stage) for stage in stages if not _is_way(program, stage)}
    joined.update(chip for hop in hops for chip in hop)
    if {*collective.chips} != joined or len(collective.chips) != len(joined):
        yield (
            f"{collective.name} is said to join chips {_listed(collective.chips)}, but joins "
            f"{_listed(joined)}"
        )
    yield from _group(program, collective)


def _receives(program: Program, collective: Collective) -> Iterator[str]:
    """A receive belongs to what it receives for: sums to their fold, the whole to its copies."""
    members = {*collective.stages}
    for name in collective.stages:
        stage = program.stage_by_name[name]
        if not isinstance(stage.kind, Recv) or _is_way(program, stage):
            continue
        for edge in program.edges_by_source.get(name, ()):
            taker = program.stage_by_name[edge.destination]
            if isinstance(taker.kind, Fold | Copy) and taker.name not in members:
                yield f"{name} is in {collective.name}, but {taker.name}, which it feeds, is not"
            if collective.kind == "reduce" and not isinstance(taker.kind, Fold):
                yield f"{name} is in {collective.name}, but feeds {taker.name}, which adds nothing"


def _group(program: Program, collective: Collective) -> Iterator[str]:
    """The chips are all that differ along the axis alone."""
    mesh = program.mesh
    member = min(collective.chips, default=-1) if collective.home is None else collective.home
    if not 0 <= member < mesh.chip_count:
        return
    axis, home = mesh.index(collective.axis), mesh.coordinates(member)
    group = [
        mesh.chip((*home[:axis], along, *home[axis + 1 :]))
        for along in range(mesh.size(collective.axis))
    ]
    if sorted(collective.chips) != group:
        yield (
            f"{collective.name} is said to join chips {_listed(collective.chips)}, but along "
            f"{collective.axis} stand {_listed(group)}"
        )


def _wholes(program: Program, collective: Collective, stages: list[Stage]) -> Iterator[str]:
    """What is broadcast is no partial sum."""
    for stage in stages:
        for name in stage.outs:
            held = program.buffer_by_name[name].holds
            if not all(map(is_whole_sum, held)):
                yield f"{collective.name} passes on a partial sum in {name}"


def _chip(stage: Stage) -> int:
    assert stage.chip is not None
    return stage.chip


def _listed(chips: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(chips))) or "none"
