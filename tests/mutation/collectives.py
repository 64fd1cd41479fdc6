"""Collectives by themselves: certified programs of every kind, and ways to break them."""

from collections.abc import Sequence
from dataclasses import replace

from compiler.ir.body import Add, Body, Max, Operand
from compiler.ir.collective import Collective
from compiler.ir.graph import Redistribute
from compiler.ir.layout import At
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Copy, Fold, Load, Merge, Split, Stage, Store
from compiler.ir.tensor import Tensor, ValueRange
from compiler.ir.walk import Loop, Walk
from tests.collective_programs import collective
from tests.compiler.programs import changed, without
from tests.mutation.mutation import breaks
from tests.mutation.parts import crossings, of_kind

PLANS: dict[str, Program] = {
    "all-reduce, ring of 3": collective("all_reduce", "ring", 3),
    "all-reduce, ring both ways of 4": collective("all_reduce", "ring-both-ways", 4, rows=4),
    "all-reduce, star of 3, max": collective("all_reduce", "star", 3, combine="max"),
    "all-reduce, rings of 3 along an axis": collective(
        "all_reduce", "ring", Mesh(row=2, col=3), axis="col"
    ),
    "reduce, chain of 4 to the third": collective("reduce", "chain", 4, home=2),
    "reduce, star of 3, max": collective("reduce", "star", 3, combine="max"),
    "reduce-scatter, tree of 4": collective("reduce_scatter", "tree", 4, cols=8),
    "reduce-scatter, ring of 3": collective("reduce_scatter", "ring", 3, cols=12),
    "all-gather, ring of 3": collective("all_gather", "ring", 3, cols=12),
    "all-gather, star of 4": collective("all_gather", "star", 4, cols=8),
    "gather, chain of 4": collective("gather", "chain", 4, rows=4, home=1),
    "broadcast, tree of 4": collective("broadcast", "tree", 4, home=1),
    "broadcast, chains of 2 along an axis": collective(
        "broadcast", "chain", Mesh(row=2, col=3), axis="row"
    ),
    "scatter, chain of 4": collective("scatter", "chain", 4, cols=16),
    "scatter, star of 3": collective("scatter", "star", 3, rows=4, cols=12),
    "all-to-all, ring of 3": collective("all_to_all", "ring", 3, rows=12, cols=12),
    "all-to-all, ring both ways of 4": collective("all_to_all", "ring-both-ways", 4, cols=8),
}


# --- Which pages a chip brings in, and where it stores them ---------------------------------------


def listed(program: Program, kind: type[Load] | type[Store]) -> Stage | None:
    """The last load or store that goes through a list of at least two pages."""
    stages = of_kind(program, kind)
    return next((s for s in reversed(stages) if len(s.kind.walk.order) > 1), None)


def walked(program: Program, stage: Stage | None, order: Sequence[int] = ()) -> Program | None:
    if stage is None:
        return None
    walk = replace(stage.kind.walk, order=tuple(order))
    return changed(program, stage.name, kind=replace(stage.kind, walk=walk))


def order_of(stage: Stage | None) -> tuple[int, ...]:
    return stage.kind.walk.order if stage else ()


@breaks("counting: pages, but 'c", "reduced once: pages")
def a_page_is_left_out(program: Program) -> Program | None:
    stage = listed(program, Load)
    return walked(program, stage, order_of(stage)[:-1])


@breaks("counting: pages, but 'c", "reduced once: pages")
def a_page_is_brought_in_twice(program: Program) -> Program | None:
    stage = listed(program, Load)
    return walked(program, stage, (*order_of(stage), *order_of(stage)[-1:]))


@breaks("reduced once: output", "layout: of the output and")
def a_page_is_brought_in_in_place_of_another(program: Program) -> Program | None:
    stage = listed(program, Load)
    return walked(program, stage, (*order_of(stage)[:-1], *order_of(stage)[:1]))


@breaks("reduced once: output", "layout: of the output and")
def two_pages_are_brought_in_in_each_others_turn(program: Program) -> Program | None:
    stage = listed(program, Load)
    first, *rest, last = order_of(stage) or (0, 0)
    return walked(program, stage, (last, *rest, first))


@breaks("counting: .store_y' takes", "reduced once: output tiles in")
def a_page_is_not_stored(program: Program) -> Program | None:
    stage = listed(program, Store)
    return walked(program, stage, order_of(stage)[:-1])


@breaks("layout: of them different, into tensor 'c", "reduced once: .store_y writes output tile")
def a_page_is_stored_over_another(program: Program) -> Program | None:
    stage = listed(program, Store)
    return walked(program, stage, (*order_of(stage)[:-1], *order_of(stage)[:1]))


@breaks("reduced once: to the place of tile", "layout: writes it to the place of tile")
def two_pages_are_stored_in_each_others_place(program: Program) -> Program | None:
    stage = listed(program, Store)
    first, *rest, last = order_of(stage) or (0, 0)
    return walked(program, stage, (last, *rest, first))


@breaks("counting: pages, but 'c", "reduced once: pages")
def a_load_goes_over_its_rounds_twice(program: Program) -> Program | None:
    stage = of_kind(program, Load)[0]
    walk = Walk((Loop(2, 0), *stage.kind.walk.loops), stage.kind.walk.order)
    return changed(program, stage.name, kind=replace(stage.kind, walk=walk))


# --- Who has which slice --------------------------------------------------------------------------


def parts_of(program: Program, value: str) -> list[Tensor]:
    """Tensors of a value on chips of one group, each with a part of its own."""
    tensors = {t.part: t for t in program.tensors_of[value]}
    return list(tensors.values())


def exchanged(program: Program, value: str) -> Program | None:
    """Two chips are said to have each other's parts of a value, which are as large."""
    first, *others = parts_of(program, value)
    other = next((t for t in others if (t.rows, t.cols) == (first.rows, first.cols)), None)
    if other is None:
        return None
    swapped = changed(program, first.name, part=other.part)
    return changed(swapped, other.name, part=first.part)


@breaks("partition: of x a")
def a_chip_is_given_the_slice_of_another(program: Program) -> Program | None:
    return exchanged(program, "x")


@breaks(
    "partition: the slices of y are not in the order of their chips",
    "reduced once: to the place of tile",
)
def a_chip_is_said_to_end_up_with_the_slice_of_another(program: Program) -> Program | None:
    return exchanged(program, "y")


@breaks("partition: .x holds elements ", "reduced once: output tile")
def two_chips_are_given_the_same_slice(program: Program) -> Program | None:
    first, *others = parts_of(program, "x")
    other = next((t for t in others if (t.rows, t.cols) == (first.rows, first.cols)), None)
    return None if other is None else changed(program, other.name, part=first.part)


@breaks("partition: holds no part of y, which it must")
def what_is_made_is_said_to_be_at_another_chip(program: Program) -> Program | None:
    return at_another(program, "y")


@breaks("partition: holds no part of x, which it must")
def what_is_given_is_said_to_be_at_another_chip(program: Program) -> Program | None:
    return at_another(program, "x")


def at_another(program: Program, name: str) -> Program | None:
    value = program.graph.value_by_name[name]
    layout = tuple(At(1 - p.index % 2) if isinstance(p, At) else p for p in value.layout)
    if layout == value.layout:
        return None
    values = (replace(v, layout=layout) if v is value else v for v in program.graph.values)
    return replace(program, graph=replace(program.graph, values=tuple(values)))


# --- Turns, and who is sent what ------------------------------------------------------------------


def turned(program: Program, kind: type[Merge] | type[Split]) -> Program | None:
    """Two turns that are unlike, exchanged at one switch alone."""
    for stage in reversed(of_kind(program, kind)):
        turns = list(stage.kind.turns)
        other = next((i for i, turn in enumerate(turns) if turn != turns[0]), None)
        if other is not None:
            turns[0], turns[other] = turns[other], turns[0]
            return changed(program, stage.name, kind=replace(stage.kind, turns=tuple(turns)))
    return None


@breaks("reduced once: output", "layout: ")
def the_turns_of_a_sender_are_exchanged(program: Program) -> Program | None:
    return turned(program, Merge)


@breaks("reduced once: output", "layout: of the output and")
def the_turns_of_a_receiver_are_exchanged(program: Program) -> Program | None:
    return turned(program, Split)


@breaks("counting: pages", "layout: CountingImbalance")
def a_page_is_passed_on_to_another_than_it_is_for(program: Program) -> Program | None:
    """A split deals one page out to the wrong place."""
    for stage in of_kind(program, Split):
        first, *rest = stage.kind.turns
        turns = (1 - first % 2, *rest)
        if {*turns} == {*stage.kind.turns}:
            return changed(program, stage.name, kind=Split(turns))
    return None


@breaks("counting: pages", "layout: CountingImbalance")
def a_page_is_not_passed_on(program: Program) -> Program | None:
    """A merge has one turn less of what it sends on."""
    for stage in of_kind(program, Merge):
        *rest, last = stage.kind.turns
        if last in rest:
            return changed(program, stage.name, kind=Merge(tuple(rest)))
    return None


@breaks("reduced once: ", "layout: ")
def two_chips_are_sent_each_others_pages(program: Program) -> Program | None:
    """What leaves a chip for two others goes each to where the other should, over its link."""
    edges = crossings(program)
    for one in edges:
        for other in edges:
            first, second = (program.stage_by_name[e.source] for e in (one, other))
            alike = first is second and isinstance(first.kind, Copy)
            if one is not other and first.chip == second.chip and not alike:
                swapped = changed(program, one.name, source=other.source, buffer=other.buffer)
                return changed(swapped, other.name, source=one.source, buffer=one.buffer)
    return None


@breaks("hand-offs: LinkMismatch")
def a_page_takes_the_link_of_another(program: Program) -> Program | None:
    edges = crossings(program)
    if len(edges) < 2:
        return None
    one, other = edges[0], edges[1]
    return changed(changed(program, one.name, link=other.link), other.name, link=one.link)


@breaks("well formed: has 0 consuming edges; it must have one")
def a_chip_is_left_out(program: Program) -> Program | None:
    """Nothing is sent to the one that receives last, and it has nothing."""
    edges = [e for e in crossings(program) if program.landing(e).name in leads_to_store(program)]
    if not edges:
        return None
    end = program.stage_by_name[edges[-1].destination]
    chip = f"c{end.chip}."
    if any(program.crosses(e) and e.source.startswith(chip) for e in program.edges):
        return None
    names = [
        r.name
        for g in ("tensors", "stages", "buffers", "edges")
        for r in getattr(program, g)
        if r.name.startswith(chip)
    ]
    return without(program, *names, edges[-1].name, str(edges[-1].link))


def leads_to_store(program: Program) -> set[str]:
    return {name for stage in of_kind(program, Store) for name in stage.ins}


# --- How slices are combined ----------------------------------------------------------------------


def folded(program: Program, body: Body) -> Program | None:
    folds = of_kind(program, Fold)
    return changed(program, folds[-1].name, kind=Fold(body)) if folds else None


def combined(program: Program) -> str | None:
    (moved,) = program.graph.operations
    assert isinstance(moved, Redistribute)
    return moved.combine


def everything(program: Program, by: type[Add] | type[Max]) -> Body | None:
    folds = of_kind(program, Fold)
    if not folds:
        return None
    body: Body = Operand(0)
    for index in range(1, len(folds[-1].ins)):
        body = by(body, Operand(index))
    return body


@breaks(
    "reduced once: combines partial sums by max(",
    "layout: takes the maximum of partial sums, which is no sum",
    "range: combines partial sums by max(",
)
def the_greatest_is_taken_in_place_of_the_sum(program: Program) -> Program | None:
    return folded(program, everything(program, Max)) if combined(program) == "sum" else None


@breaks(
    "reduced once: combines partial maxima by ((",
    "layout: adds partial maxima, which is no maximum",
)
def the_sum_is_taken_in_place_of_the_greatest(program: Program) -> Program | None:
    return folded(program, everything(program, Add)) if combined(program) == "max" else None


@breaks("well formed: each input counts exactly once")
def a_contribution_is_counted_twice(program: Program) -> Program | None:
    body = everything(program, Add if combined(program) == "sum" else Max)
    if body is None:
        return None
    return folded(
        program, Add(body, Operand(0)) if combined(program) == "sum" else Max(body, Operand(0))
    )


@breaks("well formed: 0 times in op0; each input counts exactly once")
def a_contribution_is_left_out(program: Program) -> Program | None:
    return folded(program, Operand(0))


def moved_by(program: Program, **changes: object) -> Program:
    (moved,) = program.graph.operations
    return replace(program, graph=replace(program.graph, operations=(replace(moved, **changes),)))


@breaks("reduced once: combines partial", "layout: OfPartials")
def a_sum_is_claimed_to_be_the_greatest_or_the_reverse(program: Program) -> Program | None:
    other = {"sum": "max", "max": "sum"}.get(str(combined(program)))
    return moved_by(program, combine=other) if other else None


@breaks("range: which need 33 bits, but has 32")
def sums_may_leave_their_type(program: Program) -> Program | None:
    if combined(program) != "sum":
        return None
    whole = ValueRange(-(2**31), 2**31 - 1)
    tensors = (replace(t, value_range=whole) if t.value == "x" else t for t in program.tensors)
    return replace(program, tensors=tuple(tensors))


# --- What is stated of a collective ---------------------------------------------------------------


def stated(program: Program, **changes: object) -> Program:
    return changed(program, program.collectives[0].name, **changes)


def first(program: Program) -> Collective:
    return program.collectives[0]


def said_to_be(program: Program, kind: str) -> Program | None:
    return None if first(program).kind == kind else stated(program, kind=kind)


@breaks("order: ")
def it_is_said_to_be_a_reduce(program: Program) -> Program | None:
    return said_to_be(program, "reduce")


@breaks("order: is a 'all_reduce', but")
def it_is_said_to_be_an_all_reduce(program: Program) -> Program | None:
    return said_to_be(program, "all_reduce")


@breaks("order: is a 'reduce_scatter', but")
def it_is_said_to_be_a_reduce_scatter(program: Program) -> Program | None:
    return said_to_be(program, "reduce_scatter")


@breaks("order: is a 'all_gather', but")
def it_is_said_to_be_an_all_gather(program: Program) -> Program | None:
    return said_to_be(program, "all_gather")


@breaks("order: is a 'gather', but")
def it_is_said_to_be_a_gather(program: Program) -> Program | None:
    return said_to_be(program, "gather")


@breaks("order: ")
def it_is_said_to_be_a_broadcast(program: Program) -> Program | None:
    return said_to_be(program, "broadcast")


@breaks("order: is a 'scatter', but")
def it_is_said_to_be_a_scatter(program: Program) -> Program | None:
    return said_to_be(program, "scatter")


@breaks("order: is a 'scan', which is not known")
def it_is_said_to_be_of_an_unknown_kind(program: Program) -> Program | None:
    return said_to_be(program, "scan")


@breaks("order: is said to be a chain along")
def it_is_said_to_go_by_a_chain(program: Program) -> Program | None:
    """Where a link leads further than to the next chip."""
    if first(program).algorithm == "chain" or len(first(program).chips) < 3:
        return None
    return stated(program, algorithm="chain")


@breaks("order: is said to be a ring along tp, but chip")
def it_is_said_to_go_by_a_ring(program: Program) -> Program | None:
    """Where a link leads to another chip than the next."""
    chips = first(program).chips
    ends = {(link.source_chip, link.destination_chip) for link in program.links}
    ring = {*zip(chips, (*chips[1:], chips[0]), strict=True)}
    if first(program).algorithm == "ring" or {e for e in ends if {*e} <= {*chips}} <= ring:
        return None
    return stated(program, algorithm="ring")


@breaks("order: by 'snake', which is not known")
def it_is_said_to_go_by_an_unknown_algorithm(program: Program) -> Program | None:
    return stated(program, algorithm="snake")


@breaks("order: is said to")
def its_home_is_said_to_be_elsewhere(program: Program) -> Program | None:
    chips, home = first(program).chips, first(program).home
    if home is None:
        return None
    return stated(program, home=chips[(chips.index(home) + 1) % len(chips)])


@breaks("order: is said to end on chip 0, but")
def it_is_said_to_have_a_home(program: Program) -> Program | None:
    return stated(program, home=first(program).chips[0]) if first(program).home is None else None


@breaks("order: no")
def it_is_said_to_have_no_home(program: Program) -> Program | None:
    return None if first(program).home is None else stated(program, home=None)


@breaks("order: is said to join chips")
def a_chip_is_not_said_to_take_part(program: Program) -> Program | None:
    return stated(program, chips=first(program).chips[1:])


@breaks("order: but 'y' is redistributed along")
def it_is_said_to_go_along_another_axis(program: Program) -> Program | None:
    other = next((n for n in program.mesh.names if n != first(program).axis), None)
    return stated(program, axis=other) if other else None


@breaks("order: is said to be of x, but is of y")
def it_is_said_to_be_of_what_is_given(program: Program) -> Program | None:
    return stated(program, value="x")


@breaks("order: collective")
def no_collective_is_stated(program: Program) -> Program | None:
    return replace(program, collectives=())


@breaks("order: is in 0 collectives, not in 1")
def a_stage_is_in_no_collective(program: Program) -> Program | None:
    stages = first(program).stages
    return stated(program, stages=stages[1:]) if stages else None


@breaks("order: is in 2 collectives, not in 1")
def it_is_stated_twice(program: Program) -> Program | None:
    if not first(program).stages:
        return None
    again = replace(first(program), name="again")
    return replace(program, collectives=(*program.collectives, again))
