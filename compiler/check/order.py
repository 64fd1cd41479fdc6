"""Obligation ``order``: every reduction is the one that its collective states."""

from collections import Counter
from collections.abc import Iterator

from compiler.ir.certificate import Obligation
from compiler.ir.program import Collective, Program
from compiler.ir.stage import Fold, Recv, Stage

STATEMENT = (
    "The order of every reduction is stated: its stages, its chips, its home and its algorithm are "
    "those of one collective. Sums of integers are the same in any order."
)


def order(program: Program) -> Obligation:
    """Compare what the collectives state with the stages that receive and fold."""
    bodies = [(s.name, str(s.kind.body)) for s in program.stages if isinstance(s.kind, Fold)]
    return Obligation(
        name="order",
        statement=STATEMENT,
        evidence=(
            ("sums are", program.numerics.total.kind),
            ("collectives", len(program.collectives)),
            *bodies,
        ),
        violations=(*_membership(program), *_collectives(program)),
    )


def _membership(program: Program) -> Iterator[str]:
    named = Counter(name for collective in program.collectives for name in collective.stages)
    for stage in program.stages:
        times = 1 if isinstance(stage.kind, Fold | Recv) else 0
        if named[stage.name] != times:
            yield f"{stage.name} is in {named[stage.name]} collectives, not in {times}"


def _collectives(program: Program) -> Iterator[str]:
    for collective in program.collectives:
        stages = [program.stage_by_name[name] for name in collective.stages]
        sender_of = {stage.name: _senders(program, stage) for stage in stages}
        joined = {_chip(stage) for stage in stages}.union(*sender_of.values())
        homes = {
            _chip(stage)
            for stage in stages
            for edge in program.edges_by_source.get(stage.name, ())
            if edge.destination not in collective.stages
        }
        if collective.kind != "reduce":
            yield f"{collective.name} is a {collective.kind!r}, but its stages reduce"
        if sorted(collective.chips) != sorted(joined):
            yield (
                f"{collective.name} is said to join chips {_listed(collective.chips)}, but joins "
                f"{_listed(joined)}"
            )
        if homes != {collective.home}:
            yield (
                f"{collective.name} is said to end on chip {collective.home}, but ends on "
                f"{_listed(homes)}"
            )
        hops = [
            (sender, _chip(program.stage_by_name[name]))
            for name, senders in sender_of.items()
            for sender in senders
        ]
        yield from _tree(collective, hops)
        yield from _algorithm(collective, dict(hops))


def _tree(collective: Collective, hops: list[tuple[int, int]]) -> Iterator[str]:
    """Whether every chip but the home sends once, and every sum comes to the home."""
    sent = Counter(sender for sender, _ in hops)
    for chip, count in sorted(sent.items()):
        most = 0 if chip == collective.home else 1
        if count > most:
            yield f"{collective.name}: chip {chip} sends {count} sums, and may send {most}"
    reached, parent = {collective.home}, dict(hops)
    for chip in parent:
        way: list[int] = []
        while chip in parent and chip not in reached and chip not in way:
            way.append(chip)
            chip = parent[chip]
        if chip not in reached:
            yield (
                f"{collective.name}: the sums of chips {_listed({*way})} do not come to chip "
                f"{collective.home}"
            )
            return
        reached.update(way)


def _algorithm(collective: Collective, parent: dict[int, int]) -> Iterator[str]:
    """Whether sums go from chip to chip, from each to its ``parent``, as the algorithm says."""
    most = max(Counter(parent.values()).values(), default=0)
    furthest = max((_hops(chip, parent) for chip in parent), default=0)
    levels = (len(parent)).bit_length()
    match collective.algorithm:
        case "star":
            fits = furthest <= 1
        case "tree":
            fits = most <= levels and furthest <= levels
        case _:
            yield f"{collective.name} reduces by {collective.algorithm!r}, which is not known"
            return
    if not fits:
        yield (
            f"{collective.name} is said to be a {collective.algorithm} of {len(parent) + 1} chips, "
            f"but a chip receives {most} sums, and a sum passes {furthest} links"
        )


def _senders(program: Program, stage: Stage) -> set[int]:
    """Chips whose sums a receive takes."""
    if not isinstance(stage.kind, Recv):
        return set()
    edges = program.edges_by_destination.get(stage.name, ())
    return {_chip(program.stage_by_name[edge.source]) for edge in edges}


def _hops(chip: int, parent: dict[int, int]) -> int:
    """Links between a chip and the home, at most as many as there are chips."""
    hops = 0
    while chip in parent and hops < len(parent):
        chip, hops = parent[chip], hops + 1
    return hops


def _chip(stage: Stage) -> int:
    assert stage.site is not None
    return stage.site.chip


def _listed(chips: tuple[int, ...] | set[int]) -> str:
    return ", ".join(map(str, sorted(chips))) or "none"
