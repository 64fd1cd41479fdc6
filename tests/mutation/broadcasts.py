"""Whole sums on their way to all chips: copies left out, of a partial sum, or misstated."""

from dataclasses import replace

from compiler.ir.buffer import BufferKind
from compiler.ir.edge import Edge
from compiler.ir.layout import Partial
from compiler.ir.program import Program
from compiler.ir.stage import Copy, Engine, EngineKind, Map, MatmulTiles, Recv, Stage, Store
from compiler.ir.tensor import Part
from tests.compiler.programs import changed, without
from tests.mutation.certified import completed
from tests.mutation.mutation import breaks
from tests.mutation.parts import (
    axis_of,
    broadcast,
    feeding,
    home_fold,
    of_kind,
    placed,
    store,
    with_map,
)


def broadcast_changed(program: Program, **changes: object) -> Program | None:
    collective = broadcast(program)
    return changed(program, collective.name, **changes) if collective else None


def copy_of(program: Program) -> Stage | None:
    """The copy at the first home."""
    return next(iter(of_kind(program, Copy)), None)


def copied_away(program: Program) -> list[Edge]:
    """Edges that take copies to other chips that pass none on."""
    return [
        edge
        for edge in program.edges
        if isinstance(program.stage_by_name[edge.source].kind, Copy)
        and program.crosses(edge)
        and isinstance(taker_of(program, edge).kind, Store)
    ]


def taker_of(program: Program, edge: Edge) -> Stage:
    (landed,) = program.edges_by_source[edge.destination]
    return program.stage_by_name[landed.destination]


@breaks("well formed: ")
def a_copy_misses_an_output(program: Program) -> Program | None:
    copy = copy_of(program)
    return changed(program, copy.name, outs=copy.outs[:-1]) if copy else None


@breaks("well formed: ")
def a_copy_fills_one_buffer_twice(program: Program) -> Program | None:
    copy = copy_of(program)
    if copy is None:
        return None
    return changed(program, copy.name, outs=(*copy.outs, copy.outs[0]))


def left_out(program: Program) -> tuple[Program, int] | None:
    """``program`` in which one chip gets no copy and stores nothing; and which chip that is."""
    for edge in copied_away(program):
        copy = program.stage_by_name[edge.source]
        if len(copy.outs) < 3:
            continue
        receive = program.stage_by_name[edge.destination]
        (landed,) = program.edges_by_source[receive.name]
        taker = program.stage_by_name[landed.destination]
        assert isinstance(taker.kind, Store)
        assert edge.link
        assert taker.site
        program = without(
            program,
            *(receive.name, taker.name, landed.name, edge.name, edge.link, edge.buffer),
            *(*receive.outs, taker.kind.tensor),
        )
        outs = tuple(name for name in copy.outs if name != edge.buffer)
        return completed(changed(program, copy.name, outs=outs)), taker.site.chip
    return None


@breaks("partition: holds no part of", "order: is said to join chips")
def a_broadcast_leaves_a_chip_out(program: Program) -> Program | None:
    """It gets nothing, and stores nothing."""
    found = left_out(program)
    return found[0] if found else None


@breaks("partition: holds no part of", "order: but along")
def a_broadcast_leaves_a_chip_out_and_does_not_name_it(program: Program) -> Program | None:
    found = left_out(program)
    if found is None:
        return None
    program, chip = found
    collectives = tuple(
        replace(c, chips=tuple(other for other in c.chips if other != chip))
        if c.kind == "broadcast"
        else c
        for c in program.collectives
    )
    return replace(program, collectives=collectives)


def copied_before(program: Program) -> Program | None:
    """``program`` whose home copies its own partial sum to all, and adds the others' to that.

    What is in no buffer any more says so: every copy is that of a partial sum.
    """
    copy, fold = copy_of(program), home_fold(program)
    if copy is None or fold is None or feeding(program, copy).source != fold.name:
        return None
    (total,) = fold.outs
    kept = copy.outs[0]
    (to_fold,) = (e for e in program.edges if e.buffer == fold.ins[0])
    from_fold, from_copy = (program.edge_by_buffer[name] for name in (total, kept))
    last = from_copy.destination
    program = changed(program, copy.name, ins=(fold.ins[0],))
    program = changed(program, fold.name, ins=(kept, *fold.ins[1:]))
    program = changed(program, last, ins=(total,))
    program = changed(program, to_fold.name, destination=copy.name)
    program = changed(program, from_copy.name, destination=fold.name)
    return changed(program, from_fold.name, destination=last)


@breaks("layout: BroadcastOfPartial", "reduced once: lacks")
def a_partial_sum_is_broadcast(program: Program) -> Program | None:
    """The home copies its own partial sum, and adds those of the others to it afterwards."""
    broken = copied_before(program)
    return completed(broken) if broken else None


@breaks("layout: BroadcastOfPartial", "order: passes on a partial sum", "reduced once: lacks")
def a_partial_sum_is_broadcast_and_said_to_be_one(program: Program) -> Program | None:
    """Every buffer from the copy to the stores says truly what it holds."""
    broken, axis = copied_before(program), axis_of(program, "k")
    if broken is None or axis is None:
        return None
    copy = copy_of(broken)
    assert copy
    passed = [*copy.outs]
    for name in passed:
        buffer = broken.buffer_by_name[name]
        holds = tuple(placed(layout, axis, Partial((0,))) for layout in buffer.holds)
        broken = changed(broken, name, holds=holds)
        taker = broken.stage_by_name[broken.edge_by_buffer[name].destination]
        passed += taker.outs if isinstance(taker.kind, Recv | Copy) else ()
    return completed(broken)


def with_copy_of(
    program: Program, edge: Edge, local: str, taker: Stage | None = None
) -> tuple[Program, str]:
    """``program`` with a copy on the way of an edge, and the name of the second copy's buffer."""
    source = program.stage_by_name[edge.source]
    held = program.buffer_by_name[edge.buffer]
    first, second = f"{edge.buffer}.{local}_0", f"{edge.buffer}.{local}_1"
    busy = [s for s in program.stages if s.site == source.site and s.kind.engine == "switch"]
    copy = Stage(
        f"{edge.buffer}.{local}",
        Copy(),
        (edge.buffer,),
        (first, second),
        source.site,
        Engine(EngineKind.SWITCH, len(busy)),
    )
    here = next(e.handoff for e in program.edges if not program.crosses(e))
    reads = program.stage_by_name[edge.destination]
    program = changed(program, edge.buffer, kind=BufferKind.FIFO)
    program = changed(program, edge.name, source=copy.name, buffer=first)
    if edge.buffer in reads.ins:
        ins = tuple(first if name == edge.buffer else name for name in reads.ins)
        program = changed(program, reads.name, ins=ins)
    return (
        replace(
            program,
            stages=(*program.stages, copy),
            buffers=(
                *program.buffers,
                replace(held, name=first),
                replace(held, name=second, kind=BufferKind.FIFO),
            ),
            edges=(
                *program.edges,
                Edge(f"{edge.buffer}->{copy.name}", edge.source, edge.buffer, copy.name, here),
            ),
        ),
        second,
    )


def stored_too(program: Program, edge: Edge, chip: int) -> Program:
    """``program`` that stores what passes an edge as well, in a tensor of the output on a chip."""
    last = store(program)
    output = program.tensor_by_name[last.kind.tensor]
    source = program.stage_by_name[edge.source]
    here = next(e.handoff for e in program.edges if not program.crosses(e))
    program, second = with_copy_of(program, edge, "too")
    tensor = replace(output, name=f"c{chip}.spare", chip=chip)
    busy = [s for s in program.stages if s.site == source.site and s.kind.engine == "movement"]
    also = Stage(
        f"c{chip}.store_too",
        Store(tensor.name, last.kind.walk),
        (second,),
        (),
        source.site,
        Engine(EngineKind.MOVEMENT, len(busy)),
    )
    edges = (*program.edges, Edge(f"{second}->too", f"{edge.buffer}.too", second, also.name, here))
    target = program.target
    if target.movement_engines <= len(busy):
        target = replace(target, movement_engines=len(busy) + 1)
    return replace(
        program,
        target=target,
        tensors=(*program.tensors, tensor),
        stages=(*program.stages, also),
        edges=edges,
    )


@breaks("partition: is to hold no part of", "layout: BroadcastOfPartial", "reduced once: lacks")
def a_chip_stores_the_partial_sum_that_it_sends(program: Program) -> Program | None:
    """A second store, on a chip that should have none."""
    if len(of_kind(program, Store)) > 1:
        return None
    for product in reversed(of_kind(program, MatmulTiles)):
        (edge,) = program.edges_by_source[product.name]
        if program.crosses(edge):
            assert product.site
            return completed(stored_too(program, edge, product.site.chip))
    return None


@breaks("partition: tensors of")
def a_chip_stores_its_result_twice(program: Program) -> Program | None:
    """In two tensors, both of them whole and right."""
    edge = feeding(program, store(program))
    return completed(stored_too(program, edge, 0))


@breaks("reduced once: both store", "layout: OutputStored", "capacity: TensorUse")
def two_stores_fill_one_tensor(program: Program) -> Program | None:
    """Each writes the same pages to the same places."""
    edge, tensor = feeding(program, store(program)), store(program).kind.tensor
    program = stored_too(program, edge, 0)
    also = program.stage_by_name["c0.store_too"]
    program = changed(program, also.name, kind=replace(also.kind, tensor=tensor))
    return completed(without(program, "c0.spare"))


@breaks("order: is in 1 collectives, not in 0")
def the_broadcast_names_a_product(program: Program) -> Program | None:
    collective = broadcast(program)
    if collective is None:
        return None
    stages = (*collective.stages, of_kind(program, MatmulTiles)[0].name)
    return broadcast_changed(program, stages=stages)


@breaks("order: is in 0 collectives, not in 1")
def the_broadcast_forgets_its_copies(program: Program) -> Program | None:
    collective = broadcast(program)
    if collective is None:
        return None
    kept = (n for n in collective.stages if not isinstance(program.stage_by_name[n].kind, Copy))
    return broadcast_changed(program, stages=tuple(kept))


@breaks("order: is said to join chips")
def the_broadcast_forgets_a_chip(program: Program) -> Program | None:
    collective = broadcast(program)
    return broadcast_changed(program, chips=collective.chips[1:]) if collective else None


@breaks("order: is said to begin on chip")
def the_broadcast_names_another_home(program: Program) -> Program | None:
    collective = broadcast(program)
    return broadcast_changed(program, home=collective.chips[-1]) if collective else None


@breaks("order: but its stage")
def the_broadcast_is_said_to_reduce(program: Program) -> Program | None:
    return broadcast_changed(program, kind="reduce")


@breaks("order: is in 0 collectives, not in 1")
def no_broadcast_is_stated(program: Program) -> Program | None:
    collective = broadcast(program)
    if collective is None:
        return None
    return replace(program, collectives=tuple(c for c in program.collectives if c != collective))


@breaks("order: ")
def reduction_and_broadcast_state_each_others_stages(program: Program) -> Program | None:
    """Each is still of all chips, to or from the same home."""
    away = broadcast(program)
    if away is None:
        return None
    back = next(c for c in program.collectives if c.kind == "reduce" and c.home == away.home)
    program = changed(program, away.name, stages=back.stages)
    return changed(program, back.name, stages=away.stages)


@breaks("order: ")
def a_broadcast_and_a_reduction_are_stated_as_one(program: Program) -> Program | None:
    away = broadcast(program)
    if away is None:
        return None
    back = next(c for c in program.collectives if c.kind == "reduce" and c.home == away.home)
    joint = replace(back, stages=(*back.stages, *away.stages))
    others = tuple(c for c in program.collectives if c not in (away, back))
    return replace(program, collectives=(joint, *others))


@breaks("layout: SliceElsewhere", "reduced once: ")
def two_homes_broadcast_to_each_others_group(program: Program) -> Program | None:
    """The links follow the copies; each chip gets a whole sum, of other rows."""
    edges = copied_away(program)
    pairs = [
        (one, other)
        for one in edges
        for other in edges
        if one.source < other.source and taker_part(program, one) != taker_part(program, other)
    ]
    if not pairs:
        return None
    for edge, other in (pairs[0], pairs[0][::-1]):
        site = program.stage_by_name[other.destination].site
        assert edge.link
        assert site
        program = changed(program, edge.name, destination=other.destination)
        program = changed(program, edge.link, destination_chip=site.chip)
    return program


def taker_part(program: Program, edge: Edge) -> Part:
    """What the chip stores to which an edge takes a copy."""
    kind = taker_of(program, edge).kind
    assert isinstance(kind, Store)
    return program.tensor_by_name[kind.tensor].part


@breaks("reduced once: the sum is mapped by nothing")
def the_map_comes_behind_the_copy(program: Program) -> Program | None:
    """The home maps what it keeps, and all others get and store the sum as it was."""
    copy = copy_of(program)
    if copy is None:
        return None
    entering = feeding(program, copy)
    mapping = program.stage_by_name[entering.source]
    if not isinstance(mapping.kind, Map):
        return None
    ((source,), (mapped,)) = mapping.ins, mapping.outs
    to_map = feeding(program, mapping)
    kept = program.edge_by_buffer[copy.outs[0]]
    last = program.stage_by_name[kept.destination]
    program = changed(program, copy.name, ins=(source,))
    program = changed(program, to_map.name, destination=copy.name)
    program = changed(program, mapping.name, ins=(copy.outs[0],))
    program = changed(program, kept.name, destination=mapping.name)
    program = changed(program, entering.name, destination=last.name)
    return completed(changed(program, last.name, ins=(mapped,)))


@breaks("reduced once: the sum is mapped by max(op0, 0)max(op0, 0)")
def a_chip_maps_again_what_it_receives(program: Program) -> Program | None:
    if not program.claim.map or broadcast(program) is None:
        return None
    receive = next(program.stage_by_name[edge.destination] for edge in copied_away(program))
    (landed,) = program.edges_by_source[receive.name]
    return completed(with_map(program, landed, program.claim.map))


@breaks("reduced once: ", "layout: ")
def a_chip_stores_its_own_partial_sum_and_sends_the_whole_back(program: Program) -> Program | None:
    """What it receives takes the way of what it has made: in a circle over two chips."""
    for edge in copied_away(program):
        taker = taker_of(program, edge)
        receive = program.stage_by_name[edge.destination]
        (landed,) = program.edges_by_source[receive.name]
        products = [s for s in of_kind(program, MatmulTiles) if s.chip == taker.chip]
        (away,) = program.edges_by_source[products[0].name]
        if not program.crosses(away):
            continue
        here, there = program.buffer_by_name[landed.buffer], program.buffer_by_name[away.buffer]
        program = changed(program, here.name, kind=there.kind)
        program = changed(program, there.name, kind=here.kind)
        program = changed(program, taker.name, ins=(there.name,))
        program = changed(program, landed.name, source=products[0].name, buffer=there.name)
        return changed(program, away.name, source=receive.name, buffer=here.name)
    return None
