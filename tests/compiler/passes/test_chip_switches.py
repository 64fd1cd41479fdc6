"""Switches of a chip: every page that comes gets to the places where it is to be, and no other."""

from collections import Counter, defaultdict, deque

import pytest

from compiler.ir.body import Literal, Max, Operand
from compiler.ir.layout import Partial, Replicate
from compiler.ir.stage import Copy, Fold, Map, Merge, Recv, Split
from compiler.passes.chip_switches import ChipSwitches
from compiler.passes.page_turns import Pace, turns_of_products
from compiler.passes.page_ways import PageWay, page_way


def ring(count: int, owner: int, *, to_all: bool) -> PageWay:
    receivers = range(count) if to_all else (owner,)
    return page_way("ring", count, owner, receivers, summed=True)


RECTIFIER = Map(Max(Operand(0), Literal(0)))
OWNERS = {
    "in turn": lambda count: [page % count for page in range(2 * count)],
    "unevenly": lambda count: [0, *range(count)],
    "at home": lambda _: [0] * 4,
    "by the last": lambda count: [count - 1],
}
CASES = [
    pytest.param(
        [ring(count, owner, to_all=to_all) for owner in owners(count)],
        maps,
        id=f"{count} {name}, {'to all' if to_all else 'owned'}, {len(maps)} maps",
    )
    for count in (2, 3, 5)
    for name, owners in OWNERS.items()
    for to_all in (False, True)
    for maps in ((), (RECTIFIER,), (RECTIFIER, RECTIFIER))
]
each_case = pytest.mark.parametrize(("ways", "maps"), CASES)

Page = tuple[int, frozenset[int], int]
"""A page: its number, whose contributions it has, and how many maps have been applied."""


def chips_of(ways: list[PageWay], maps: tuple[Map, ...]) -> list[ChipSwitches]:
    count = len(ways[0].sends_to)
    turns = turns_of_products(ways, Pace(8, 6, 4))
    chips = range(10, 10 + count)
    return [ChipSwitches(index, chips, ways, turns, "partial", maps) for index in range(count)]


def run(switches: list[ChipSwitches], rounds: int) -> list[dict[str, list[Page]]]:
    """By chip and stream, all pages that pass, each stage going on as long as it can."""
    count, pages = len(switches), len(switches[0].ways)
    seen = [defaultdict[str, list[Page]](list) for _ in range(count)]
    queues = [defaultdict[str, deque[Page]](deque) for _ in range(count)]
    turn = Counter[tuple[int, str]]()

    def put(chip: int, stream: str, page: Page) -> None:
        seen[chip][stream].append(page)
        for to, name in switches[chip].leaving.items():
            if name == stream:
                put(to, f"landing_c{switches[chip].chips[chip]}", page)
        queues[chip][stream].append(page)

    for chip in range(count):
        for number in range(rounds * pages):
            put(chip, "partial", (number % pages, frozenset({chip}), 0))
    moved = True
    while moved:
        moved = False
        for chip, one in enumerate(switches):
            for joint in one.joints:
                while joint.ins:
                    step = turn[chip, joint.name]
                    ins, outs = joint.ins, joint.outs
                    if isinstance(joint.kind, Merge):
                        ins = (ins[joint.kind.turns[step % len(joint.kind.turns)]],)
                    if isinstance(joint.kind, Split):
                        outs = (outs[joint.kind.turns[step % len(joint.kind.turns)]],)
                    if not all(queues[chip][name] for name in ins):
                        break
                    taken = [queues[chip][name].popleft() for name in ins]
                    for out in outs:
                        put(chip, out, made(joint.kind, taken))
                    turn[chip, joint.name] += 1
                    moved = True
    for chip, one in enumerate(switches):
        kept = {one.stored, *one.leaving.values()}
        assert not [name for name, left in queues[chip].items() if left and name not in kept]
    return [dict(streams) for streams in seen]


def made(kind: object, taken: list[Page]) -> Page:
    """What becomes of pages; those that are added are of one number and share no contribution."""
    ((number, mapped),) = {(number, mapped) for number, _, mapped in taken}
    held = Counter(chip for _, added, _ in taken for chip in added)
    assert set(held.values()) == {1}
    assert len(taken) == 1 or isinstance(kind, Fold)
    return number, frozenset(held), mapped + isinstance(kind, Map)


@each_case
def test_each_chip_stores_the_whole_mapped_pages_that_it_keeps_in_their_order(ways, maps):
    switches = chips_of(ways, maps)
    everything = frozenset(range(len(switches)))
    streams = run(switches, rounds=3)
    for chip, one in enumerate(switches):
        kept = [number for number, way in enumerate(ways) if way.keeps[chip]]
        assert bool(one.stored) == bool(kept)
        if kept:
            expected = [(number, everything, len(maps)) for number in kept]
            assert streams[chip][one.stored] == expected * 3


@each_case
def test_what_leaves_is_what_the_turns_of_the_link_say(ways, maps):
    switches = chips_of(ways, maps)
    streams = run(switches, rounds=2)
    turns = turns_of_products(ways, Pace(8, 6, 4)).links
    assert {(i, to) for i, one in enumerate(switches) for to in one.leaving} == turns.keys()
    for (source, to), sent in turns.items():
        passed = streams[source][switches[source].leaving[to]]
        assert [number for number, _, _ in passed] == [each.page for each in sent] * 2
        for (_, added, mapped), each in zip(passed, sent * 2, strict=True):
            assert (len(added) == len(switches)) is each.whole
            assert mapped == (len(maps) if each.whole else 0)


@each_case
def test_streams_hold_what_is_said_of_them(ways, maps):
    """Each placement once, in the order in which pages with it first come."""
    switches = chips_of(ways, maps)
    for one, streams in zip(switches, run(switches, rounds=1), strict=True):
        assert streams.keys() == one.streams.keys()
        for name, stream in one.streams.items():
            pages = streams[name]
            assert [number for number, _, _ in pages] == [page.page for page in stream.pages]
            placements = (
                Replicate() if len(added) == len(switches) else Partial(tuple(sorted(added)))
                for _, added, _ in pages
            )
            assert stream.holds == tuple(dict.fromkeys(placements)), name


@each_case
def test_no_stage_is_there_for_nothing(ways, maps):
    """Splits and copies have several outputs, merges and folds several inputs, and all are used."""
    for one in chips_of(ways, maps):
        taken = Counter(name for joint in one.joints for name in joint.ins)
        taken.update([*one.leaving.values(), *filter(None, [one.stored])])
        assert taken == dict.fromkeys(one.streams, 1)
        made_by = Counter(name for joint in one.joints for name in joint.outs)
        assert made_by == dict.fromkeys(one.streams.keys() - {"partial"}, 1)
        for joint in one.joints:
            several = {Split: joint.outs, Copy: joint.outs, Merge: joint.ins, Fold: joint.ins}
            assert len(several.get(type(joint.kind), (1, 2))) > 1
            if isinstance(joint.kind, Recv):
                assert joint.ins == ()
            if isinstance(joint.kind, Merge | Split):
                turns, several_of = joint.kind.turns, several[type(joint.kind)]
                assert {*turns} == {*range(len(several_of))}
                halves = [size for size in range(1, len(turns)) if len(turns) % size == 0]
                assert all(turns[:size] * (len(turns) // size) != turns for size in halves)
