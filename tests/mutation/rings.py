"""Rings of chips: pages in turns, sums and wholes on one link, and what is said of all that."""

from dataclasses import replace

from compiler.ir.body import Operand
from compiler.ir.edge import Edge
from compiler.ir.graph import with_layouts
from compiler.ir.layout import Partial, Replicate, Shard
from compiler.ir.program import Collective, Program
from compiler.ir.stage import Copy, Fold, Merge, Recv, Split, Stage
from tests.compiler.programs import changed, without
from tests.mutation.mutation import breaks
from tests.mutation.parts import (
    axis_of,
    crossings,
    exchanged_chips,
    feeding,
    is_ring,
    of_kind,
    placed,
    product_of,
)


def collective_of(program: Program) -> Collective | None:
    """The first ring."""
    return next((c for c in program.collectives if c.algorithm == "ring"), None)


def said(program: Program, **changes: object) -> Program | None:
    """``program`` with other things said of its first ring."""
    collective = collective_of(program)
    return changed(program, collective.name, **changes) if collective else None


def link_merges(program: Program) -> list[Stage]:
    """What puts sums and wholes on the link to the next chip."""
    if not is_ring(program):
        return []
    edges = [program.edge_by_buffer[stage.outs[0]] for stage in of_kind(program, Merge)]
    return [program.stage_by_name[edge.source] for edge in edges if program.crosses(edge)]


def link_splits(program: Program) -> list[Stage]:
    """What deals out the pages that come from the chip before."""
    return [
        stage
        for stage in of_kind(program, Split)
        if is_ring(program)
        and isinstance(program.stage_by_name[feeding(program, stage).source].kind, Recv)
    ]


def in_other_turns(program: Program, stage: Stage, turns: tuple[int, ...]) -> Program:
    assert isinstance(stage.kind, Merge | Split)
    assert turns != stage.kind.turns
    return changed(program, stage.name, kind=replace(stage.kind, turns=turns))


def exchanged(turns: tuple[int, ...]) -> tuple[int, ...]:
    """Turns of which the first two that differ are exchanged."""
    at = next(index for index, turn in enumerate(turns) if turn != turns[0])
    return (*turns[: at - 1], turns[at], turns[at - 1], *turns[at + 1 :])


def turned(program: Program, stages: list[Stage]) -> Program | None:
    """``program`` in which the first of some stages takes its first two turns the other way."""
    if not stages:
        return None
    assert isinstance(stages[0].kind, Merge | Split)
    return in_other_turns(program, stages[0], exchanged(stages[0].kind.turns))


@breaks("layout: ")
def a_page_takes_the_turn_of_another_on_a_link(program: Program) -> Program | None:
    """The two ends of the link have them in different orders."""
    return turned(program, link_merges(program))


@breaks("layout: ")
def a_page_that_comes_is_dealt_out_in_the_turn_of_another(program: Program) -> Program | None:
    return turned(program, link_splits(program))


@breaks("layout: ")
def a_page_of_a_product_goes_where_another_one_belongs(program: Program) -> Program | None:
    """One that is to be added is sent on, and one that is to be sent on is added."""
    products = [
        stage
        for stage in of_kind(program, Split)
        if is_ring(program) and not isinstance(feeder(program, stage).kind, Recv | Fold)
    ]
    return turned(program, products)


def feeder(program: Program, stage: Stage) -> Stage:
    return program.stage_by_name[feeding(program, stage).source]


@breaks("reduced once: feed each other in a circle", "layout: Cycle", "no deadlock: in a circle")
def every_chip_waits_for_a_whole_before_it_sends_what_that_is_made_of(
    program: Program,
) -> Program | None:
    """What is passed on as it comes has the first turns at every chip."""
    merges = link_merges(program)
    for merge in merges:
        assert isinstance(merge.kind, Merge)
        own = {
            index
            for index, name in enumerate(merge.ins)
            if isinstance(origin(program, name).kind, Recv)
        }
        turns = tuple(sorted(merge.kind.turns, key=lambda turn: (turn not in own, turn)))
        if not own or turns == merge.kind.turns:
            return None
        program = in_other_turns(program, merge, turns)
    return program if merges else None


def origin(program: Program, buffer: str) -> Stage:
    """What fills a buffer, or what that deals out or copies."""
    stage = next(stage for stage in program.stages if buffer in stage.outs)
    return origin(program, stage.ins[0]) if isinstance(stage.kind, Split | Copy) else stage


@breaks("well formed: FoldOperandUnused")
def a_chip_passes_on_what_comes_and_adds_nothing(program: Program) -> Program | None:
    """Of a sum that it is to add to; the page of its product is taken and forgotten."""
    folds = of_kind(program, Fold)
    if not is_ring(program):
        return None
    arriving = [
        index
        for index, name in enumerate(folds[-1].ins)
        if isinstance(origin(program, name).kind, Recv)
    ]
    return changed(program, folds[-1].name, kind=Fold(Operand(arriving[0])))


@breaks("well formed: FoldOperandUnused")
def a_chip_adds_what_comes_twice(program: Program) -> Program | None:
    """In place of what it has made itself, which lacks."""
    folds = of_kind(program, Fold)
    if not is_ring(program):
        return None
    (arriving,) = (
        index
        for index, name in enumerate(folds[-1].ins)
        if isinstance(origin(program, name).kind, Recv)
    )
    body = folds[-1].kind.body
    twice = replace(body, left=Operand(arriving), right=Operand(arriving))
    return changed(program, folds[-1].name, kind=Fold(twice))


@breaks("landing: RecvSource")
def a_chip_sends_to_the_one_behind_its_neighbour(program: Program) -> Program | None:
    """Which would send to itself."""
    if not is_ring(program):
        return None
    one, other = crossings(program)[:2]
    return with_ends_exchanged(program, one, other)


@breaks("hand-offs: LinkMismatch")
def two_chips_send_to_each_others_neighbours(program: Program) -> Program | None:
    """Across the ring, or to the ring beside."""
    if not is_ring(program):
        return None
    one, *others = crossings(program)
    ends = ends_of(program, one)
    other = next((edge for edge in others if ends.isdisjoint(ends_of(program, edge))), None)
    return other and with_ends_exchanged(program, one, other)


def ends_of(program: Program, edge: Edge) -> set[int | None]:
    """The chips that an edge joins."""
    return {program.stage_by_name[name].chip for name in (edge.source, edge.destination)}


def with_ends_exchanged(program: Program, one: Edge, other: Edge) -> Program:
    program = changed(program, one.name, destination=other.destination)
    return changed(program, other.name, destination=one.destination)


@breaks("order: is said to be a ring along", "partition: ")
def two_chips_stand_in_each_others_place(program: Program) -> Program | None:
    """In a ring the other way round, or across."""
    collective = collective_of(program)
    if collective is None:
        return None
    *_, one, other = collective.chips
    return exchanged_chips(program, one, other)


@breaks("well formed: Turns")
def a_whole_is_not_passed_on(program: Program) -> Program | None:
    """What is copied for the next chip has no turn on the link."""
    for merge in link_merges(program):
        for index, name in enumerate(merge.ins):
            filler = next(stage for stage in program.stages if name in stage.outs)
            if isinstance(filler.kind, Copy):
                turns = tuple(turn for turn in merge.kind.turns if turn != index)
                return in_other_turns(program, merge, turns)
    return None


@breaks("counting: ", "layout: ")
def a_forward_of_wholes_is_left_out(program: Program) -> Program | None:
    """Of what comes and is copied, all goes to the store alone; the next chip waits for it."""
    for merge in link_merges(program):
        for index, name in enumerate(merge.ins):
            copy = next(stage for stage in program.stages if name in stage.outs)
            if isinstance(copy.kind, Copy) and isinstance(origin(program, name).kind, Recv):
                return stored_alone(program, merge, index, copy)
    return None


def stored_alone(program: Program, merge: Stage, index: int, copy: Stage) -> Program:
    """``program`` without a copy: what it took goes straight to its other output's reader."""
    sent = merge.ins[index]
    (kept,) = (name for name in copy.outs if name != sent)
    entering, leaving = feeding(program, copy), program.edge_by_buffer[kept]
    reader = program.stage_by_name[leaving.destination]
    program = without(
        program, copy.name, sent, kept, program.edge_by_buffer[sent].name, leaving.name
    )
    program = changed(program, entering.name, destination=reader.name)
    ins = tuple(entering.buffer if name == kept else name for name in reader.ins)
    program = changed(program, reader.name, ins=ins)
    turns = tuple(turn - (turn > index) for turn in merge.kind.turns if turn != index)
    ins = (*merge.ins[:index], *merge.ins[index + 1 :])
    return changed(program, merge.name, ins=ins, kind=Merge(turns))


def scattered_pair(program: Program) -> list[str]:
    """Two parts of one shape of a result that is scattered, on chips that sum together."""
    collective = collective_of(program)
    if collective is None or collective.kind != "reduce_scatter":
        return []
    parts = [t for t in program.tensors_of[program.claim.output] if t.chip in collective.chips]
    one, other = parts[-2:]
    return [one.name, other.name] if (one.rows, one.cols) == (other.rows, other.cols) else []


@breaks("reduced once: writes output tile", "partition: ")
def two_chips_own_each_others_pages(program: Program) -> Program | None:
    """So it is said of the tensors; the pages go where they went."""
    names = scattered_pair(program)
    if not names:
        return None
    parts = [program.tensor_by_name[name].part for name in names]
    for name, part in zip(names, reversed(parts), strict=True):
        program = changed(program, name, part=part)
    return program


@breaks("layout: ")
def two_chips_are_sent_each_others_pages(program: Program) -> Program | None:
    """The pages of all products are dealt out as if two turns were exchanged."""
    if not scattered_pair(program):
        return None
    for split in of_kind(program, Split):
        if not isinstance(feeder(program, split).kind, Recv | Fold):
            program = in_other_turns(program, split, exchanged(split.kind.turns))
    return program


@breaks("partition: ", "order: but 'c' is")
def what_is_scattered_is_said_to_be_everywhere(program: Program) -> Program | None:
    return relaid_sum(program, "reduce_scatter", lambda _: Replicate())


@breaks("partition: ", "order: but 'c' is")
def what_is_everywhere_is_said_to_be_scattered(program: Program) -> Program | None:
    return relaid_sum(program, "all_reduce", Shard)


def relaid_sum(program: Program, kind: str, placement) -> Program | None:
    """``program`` in which the sum is said to be left otherwise than by this kind of ring."""
    collective = collective_of(program)
    axis = axis_of(program, "k")
    if collective is None or collective.kind != kind or axis is None:
        return None
    output = program.graph.value_by_name[product_of(program).output]
    dim = "m" if Shard("n") in output.layout else "n"
    layout = placed(output.layout, axis, placement(dim))
    return replace(program, graph=with_layouts(program.graph, {output.name: layout}))


@breaks("order: is said to join chips")
def a_ring_is_said_to_join_a_chip_too_many(program: Program) -> Program | None:
    collective = collective_of(program)
    return (
        said(program, chips=(*collective.chips, max(collective.chips) + 1)) if collective else None
    )


@breaks("order: is said to join chips")
def a_ring_is_said_to_join_a_chip_too_few(program: Program) -> Program | None:
    collective = collective_of(program)
    return said(program, chips=collective.chips[:-1]) if collective else None


@breaks("order: but 'c' is")
def a_ring_is_said_to_be_of_another_kind(program: Program) -> Program | None:
    """It leaves the sum otherwise than the layout says."""
    collective = collective_of(program)
    if collective is None:
        return None
    kinds = ("all_reduce", "reduce_scatter")
    kind = next(kind for kind in kinds if kind != collective.kind)
    return said(program, kind=kind, home=None)


@breaks("order: is a 'broadcast', but the product leaves contributions")
def a_ring_is_said_to_broadcast(program: Program) -> Program | None:
    return said(program, kind="broadcast")


@breaks("order: ")
def a_ring_is_said_to_be_a_star(program: Program) -> Program | None:
    """Of which three chips or more are none, if sums go on from chip to chip."""
    return said(program, algorithm="star")


@breaks("order: is said to end ")
def a_ring_is_said_to_end_elsewhere(program: Program) -> Program | None:
    """At one chip if it ends at all of them, and at none if it ends at one."""
    collective = collective_of(program)
    if collective is None:
        return None
    return said(program, home=collective.chips[0] if collective.home is None else None)


@breaks("order: is in 0 collectives, not in 1")
def a_fold_is_in_no_ring(program: Program) -> Program | None:
    collective = collective_of(program)
    if collective is None:
        return None
    folds = {stage.name for stage in of_kind(program, Fold)}
    gone = next(name for name in collective.stages if name in folds)
    return said(program, stages=tuple(name for name in collective.stages if name != gone))


@breaks("layout: LayoutMismatch")
def what_lands_in_turns_is_said_to_be_whole(program: Program) -> Program | None:
    """All of it, though some of it is sums of some chips."""
    axis = axis_of(program, "k")
    for stage in of_kind(program, Recv):
        held = program.buffer_by_name[stage.outs[0]].holds
        if is_ring(program) and axis is not None and len(held) > 1:
            return changed(program, stage.outs[0], holds=(placed(held[0], axis, Replicate()),))
    return None


@breaks("layout: LayoutMismatch")
def what_lands_is_said_to_be_of_one_chip_more(program: Program) -> Program | None:
    axis = axis_of(program, "k")
    for stage in of_kind(program, Recv):
        (held, *others) = program.buffer_by_name[stage.outs[0]].holds
        if not is_ring(program) or axis is None or not isinstance(held[axis], Partial):
            continue
        size = program.mesh.axes[axis].size
        left = [index for index in range(size) if index not in held[axis].of]
        more = Partial(tuple(sorted((*held[axis].of, left[0]))))
        return changed(program, stage.outs[0], holds=(placed(held, axis, more), *others))
    return None


@breaks("capacity: FallThrough")
def beats_fall_through_where_they_land(program: Program) -> Program | None:
    """A receive promises room, and has none to offer to what is not kept."""
    if not is_ring(program):
        return None
    return changed(program, of_kind(program, Recv)[0].outs[0], fall_through=True)


@breaks("schedule: ")
def a_joint_buffer_keeps_every_beat_for_a_cycle(program: Program) -> Program | None:
    """The schedule counts on beats that fall through it."""
    through = [buffer for buffer in program.buffers if buffer.fall_through]
    if not through:
        return None
    for buffer in through:
        program = changed(program, buffer.name, fall_through=False)
    return program
