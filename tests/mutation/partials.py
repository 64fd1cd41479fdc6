"""Partial sums: dropped, repeated, re-routed, taken for the whole; and reductions misstated."""

from dataclasses import replace

from compiler.ir.buffer import Buffer, BufferKind
from compiler.ir.layout import Layout, Partial, Replicate
from compiler.ir.mesh import mesh_of
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Site
from tests.compiler.programs import changed, cut_off, without
from tests.mutation.certified import completed
from tests.mutation.mutation import breaks
from tests.mutation.parts import (
    axis_of,
    crossings,
    home_fold,
    is_plain,
    last_product,
    leaf_edges,
    of_kind,
    placed,
    reader,
    reduction,
    store,
)


def reduction_changed(program: Program, **changes: object) -> Program | None:
    collective = reduction(program)
    return changed(program, collective.name, **changes) if collective else None


def said_whole(program: Program, buffer: Buffer) -> Program:
    """``program`` with a buffer that is said to hold no partial sum."""

    def whole(layout: Layout) -> Layout:
        return tuple(Replicate() if isinstance(p, Partial) else p for p in layout)

    return changed(program, buffer.name, holds=tuple(map(whole, buffer.holds)))


def partials(program: Program) -> list[Buffer]:
    """Buffers that are said to hold a partial sum."""
    return [
        buffer
        for buffer in program.buffers
        if any(isinstance(placement, Partial) for held in buffer.holds for placement in held)
    ]


def left_alone(program: Program, chips: int) -> Program:
    """``program`` on its first chips only, the others cut off; sums say truly what they hold."""
    for chip in reversed(range(chips, program.chip_count)):
        program = cut_off(program, chip)
    program = replace(program, mesh=mesh_of(chips))
    if chips == 1:
        return replace(program, collectives=())
    return reduction_changed(program, chips=tuple(range(chips))) or program


@breaks("partition: end at", "reduced once: ", "layout: LayoutMismatch")
def the_last_chip_is_left_out(program: Program) -> Program | None:
    """All others say truly what they hold, of as many contributions as there were."""
    chip = program.chip_count - 1
    return completed(left_alone(program, chip)) if chip > 1 and is_plain(program) else None


@breaks("partition: end at", "reduced once: ")
def the_last_chip_is_left_out_and_nobody_misses_it(program: Program) -> Program | None:
    """What all the others add is said to be the whole sum, as it is of all that there are."""
    chip = program.chip_count - 1
    if chip < 2 or not is_plain(program):
        return None
    program = left_alone(program, chip)
    for buffer in partials(program):
        if buffer.holds == ((Partial(tuple(range(chip))),),):
            program = said_whole(program, buffer)
    return completed(program)


@breaks("partition: end at", "reduced once: ", "layout: LayoutMismatch")
def the_reduction_is_left_out(program: Program) -> Program | None:
    """The home chip stores its own partial sum, of the whole shape and fully written."""
    if program.chip_count == 1 or not is_plain(program):
        return None
    return completed(left_alone(program, 1))


@breaks("partition: end at", "reduced once: ")
def a_partial_sum_is_said_to_be_whole(program: Program) -> Program | None:
    """The home chip stores its own, and says of it that nothing is missing."""
    if program.chip_count == 1 or not is_plain(program):
        return None
    program = left_alone(program, 1)
    for buffer in partials(program):
        program = said_whole(program, buffer)
    return completed(program)


@breaks("layout: LayoutMismatch")
def a_partial_sum_is_said_to_be_whole_on_its_way(program: Program) -> Program | None:
    held = partials(program)
    return said_whole(program, held[-1]) if held else None


@breaks("layout: LayoutMismatch")
def all_partial_sums_are_said_to_be_whole(program: Program) -> Program | None:
    """From the product to the fold, so that no two of them disagree."""
    held = partials(program)
    for buffer in held:
        program = said_whole(program, buffer)
    return program if held else None


@breaks("layout: LayoutMismatch")
def a_partial_sum_is_said_to_be_of_another_chip(program: Program) -> Program | None:
    axis = axis_of(program, "k")
    held = partials(program)
    if axis is None or not held:
        return None
    buffer = held[-1]
    size = program.mesh.axes[axis].size

    def of_another(layout: Layout) -> Layout:
        placement = layout[axis]
        if not isinstance(placement, Partial):
            return layout
        return placed(layout, axis, Partial(tuple((i + 1) % size for i in placement.of)))

    return changed(program, buffer.name, holds=tuple(map(of_another, buffer.holds)))


@breaks("well formed: BufferConsumerCount")
def a_partial_sum_goes_nowhere(program: Program) -> Program | None:
    edges = leaf_edges(program)
    return without(program, edges[0].name) if edges else None


@breaks("well formed: BufferConsumerCount")
def a_partial_sum_goes_two_ways(program: Program) -> Program | None:
    edges = leaf_edges(program)
    again = [replace(edge, name="again") for edge in edges[:1]]
    return replace(program, edges=(*program.edges, *again)) if edges else None


@breaks("well formed: BufferReadTwice")
def a_partial_sum_is_added_twice(program: Program) -> Program | None:
    fold = home_fold(program)
    if fold is None:
        return None
    return changed(program, fold.name, ins=(fold.ins[1], *fold.ins[1:]))


def exchanged_on_the_way(program: Program, *, one_home: bool) -> Program | None:
    """Two partial sums take each other's way, and the links follow them."""
    edges = leaf_edges(program)
    pairs = [
        (one, other)
        for one in edges
        for other in edges
        if one.name < other.name
        and one.destination != other.destination
        and (reader(program, one) == reader(program, other)) is one_home
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


@breaks("layout: LayoutMismatch")
def two_partial_sums_are_exchanged_on_the_way(program: Program) -> Program | None:
    """They are added all the same, but the buffers where they land expect the other ones."""
    return exchanged_on_the_way(program, one_home=True)


@breaks("order: is said to join chips")
def two_partial_sums_are_added_at_each_others_home(program: Program) -> Program | None:
    """Of two groups that sum side by side, each adds a sum of the other.

    Where both sum the same, no element is wrong, but the groups are not what is said of them.
    """
    if len(program.mesh.axes) < 2:
        return None
    return exchanged_on_the_way(program, one_home=False)


@breaks("well formed: RecvSource")
def two_partial_sums_land_in_one_buffer(program: Program) -> Program | None:
    edges = leaf_edges(program)
    if len(edges) < 2:
        return None
    return changed(program, edges[1].name, destination=edges[0].destination)


@breaks("reduced once: as if they were sums", "no deadlock: takes pages of an operand")
def a_chip_sends_its_operand_in_place_of_its_sum(program: Program) -> Program | None:
    edges = leaf_edges(program)
    if not edges:
        return None
    edge = edges[-1]
    product = program.stage_by_name[edge.source]
    first, second = product.ins
    feeding = [e for e in program.edges if e.destination == product.name]
    program = without(
        program, product.name, *product.outs, feeding[1].source, second, *(e.name for e in feeding)
    )
    program = changed(program, first, kind=BufferKind.INTERM)
    return changed(program, edge.name, source=feeding[0].source, buffer=first)


@breaks("landing: MissingReceive")
def the_home_of_the_output_is_another_chip(program: Program) -> Program | None:
    if program.chip_count == 1:
        return None
    stage = store(program)
    program = changed(program, stage.kind.tensor, chip=1)
    return changed(program, stage.name, site=Site(1))


@breaks("capacity: RemoteTensor", "partition: ")
def the_output_lies_in_the_memory_of_another_chip(program: Program) -> Program | None:
    if program.chip_count == 1:
        return None
    return changed(program, store(program).kind.tensor, chip=1)


@breaks("order: is said to end on chip 1, but ")
def the_reduction_names_another_home(program: Program) -> Program | None:
    return reduction_changed(program, home=1)


@breaks("order: is said to join chips")
def the_reduction_forgets_a_chip(program: Program) -> Program | None:
    collective = reduction(program)
    return reduction_changed(program, chips=collective.chips[1:]) if collective else None


@breaks("order: is said to join chips")
def the_reduction_names_a_chip_too_many(program: Program) -> Program | None:
    """One of another group, or one that does not exist."""
    collective = reduction(program)
    if collective is None:
        return None
    other = next(c for c in range(program.chip_count + 1) if c not in collective.chips)
    return reduction_changed(program, chips=(*collective.chips, other))


@breaks("order: is said to join chips")
def the_reduction_names_a_chip_twice(program: Program) -> Program | None:
    collective = reduction(program)
    if collective is None:
        return None
    return reduction_changed(program, chips=(*collective.chips, collective.chips[0]))


@breaks("order: is in 0 collectives, not in 1")
def the_reduction_forgets_a_stage(program: Program) -> Program | None:
    collective = reduction(program)
    return reduction_changed(program, stages=collective.stages[:-1]) if collective else None


@breaks("order: is in 1 collectives, not in 0")
def the_reduction_names_a_product(program: Program) -> Program | None:
    collective = reduction(program)
    if collective is None:
        return None
    return reduction_changed(program, stages=(*collective.stages, last_product(program).name))


@breaks("order: is in 0 collectives, not in 1")
def no_collective_is_stated(program: Program) -> Program | None:
    return replace(program, collectives=()) if of_kind(program, Fold) else None


@breaks("order: is said to be a")
def a_star_is_said_to_be_a_tree_or_the_reverse(program: Program) -> Program | None:
    """Of up to three chips they are the same."""
    collective = reduction(program)
    if collective is None or len(collective.chips) < 4:
        return None
    other = {"star": "tree", "tree": "star"}[collective.algorithm]
    return reduction_changed(program, algorithm=other)


@breaks("order: which is not known")
def the_algorithm_is_unknown(program: Program) -> Program | None:
    return reduction_changed(program, algorithm="snake")


@breaks("order: is a 'broadcast'")
def the_reduction_is_said_to_be_a_broadcast(program: Program) -> Program | None:
    return reduction_changed(program, kind="broadcast")


@breaks("order: is a 'scan', which is not known")
def the_reduction_is_said_to_be_something_else(program: Program) -> Program | None:
    return reduction_changed(program, kind="scan")


@breaks("order: is a 'gather', but ")
def the_reduction_is_said_to_be_a_gather(program: Program) -> Program | None:
    return reduction_changed(program, kind="gather")


@breaks("order: but along")
def the_reduction_is_said_to_go_along_another_axis(program: Program) -> Program | None:
    collective = reduction(program)
    if collective is None or len(program.mesh.axes) < 2:
        return None
    axis = next(name for name in program.mesh.names if name != collective.axis)
    return reduction_changed(program, axis=axis)


@breaks("order: ")
def the_reduction_is_said_to_be_of_an_operand(program: Program) -> Program | None:
    return reduction_changed(program, value=program.claim.left)


@breaks("order: ")
def the_stages_of_two_reductions_are_exchanged(program: Program) -> Program | None:
    """Two groups state each other's stages."""
    pair = [c for c in program.collectives if c.kind == "reduce"][:2]
    if len(pair) < 2:
        return None
    for one, other in (pair, pair[::-1]):
        program = changed(program, one.name, stages=other.stages)
    return program


@breaks("order: is in 2 collectives, not in 1")
def one_reduction_is_stated_twice(program: Program) -> Program | None:
    collective = reduction(program)
    if collective is None:
        return None
    again = replace(collective, name=f"{collective.name}_again")
    return replace(program, collectives=(*program.collectives, again))


@breaks("hand-offs: LinkMismatch")
def a_partial_sum_takes_the_link_of_another(program: Program) -> Program | None:
    edges = crossings(program)
    if len(edges) < 2:
        return None
    first, second = edges[0], edges[1]
    return changed(changed(program, first.name, link=second.link), second.name, link=first.link)
