"""Partial sums: dropped, repeated, re-routed, taken for the whole; and reductions misstated."""

from dataclasses import replace

from compiler.ir.distribution import Partial, Replicated

from compiler.ir.buffer import BufferKind
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Site
from tests.compiler.programs import changed, cut_off, without
from tests.mutation.certified import completed
from tests.mutation.mutation import breaks
from tests.mutation.parts import (
    crossings,
    home_fold,
    last_product,
    leaf_edges,
    of_kind,
    store,
)


def collective_changed(program: Program, **changes: object) -> Program:
    (collective,) = program.collectives
    return changed(program, collective.name, **changes)


@breaks("partition: exist", "reduced once: ", "distribution: Partial")
def the_last_chip_is_left_out(program: Program) -> Program | None:
    """All others say truly what they hold."""
    chip = program.chip_count - 1
    if chip < 2:
        return None
    program = replace(cut_off(program, chip), chip_count=chip)
    return completed(collective_changed(program, chips=tuple(range(chip))))


@breaks("reduced once: ", "distribution: Partial")
def the_reduction_is_left_out(program: Program) -> Program | None:
    """The home chip stores its own partial sum, of the whole shape and fully written."""
    if program.chip_count == 1:
        return None
    for chip in reversed(range(1, program.chip_count)):
        program = cut_off(program, chip)
    return completed(replace(program, chip_count=1, collectives=()))


@breaks("reduced once: ", "distribution: is declared as whole")
def a_partial_sum_is_said_to_be_whole(program: Program) -> Program | None:
    if program.chip_count == 1:
        return None
    for chip in reversed(range(1, program.chip_count)):
        program = cut_off(program, chip)
    for buffer in program.buffers:
        if isinstance(buffer.distribution, Partial):
            program = changed(program, buffer.name, distribution=Replicated())
    return completed(replace(program, chip_count=1, collectives=()))


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


@breaks("distribution: DistributionMismatch")
def two_partial_sums_are_exchanged_on_the_way(program: Program) -> Program | None:
    """The links follow them, but the buffers in which they land expect the other ones."""
    edges = leaf_edges(program)
    if len(edges) < 2:
        return None
    for edge, other in (edges[:2], edges[1::-1]):
        site = program.stage_by_name[other.destination].site
        assert edge.route
        assert site
        program = changed(program, edge.name, destination=other.destination)
        program = changed(program, edge.route[0], destination_chip=site.chip)
    return program


@breaks("well formed: RecvSource")
def two_partial_sums_land_in_one_buffer(program: Program) -> Program | None:
    edges = leaf_edges(program)
    if len(edges) < 2:
        return None
    return changed(program, edges[1].name, destination=edges[0].destination)


@breaks("reduced once: takes operand pages", "no deadlock: takes pages of an operand")
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
    program = changed(program, program.claim.output, chip=1)
    return changed(program, store(program).name, site=Site(1))


@breaks("capacity: RemoteTensor")
def the_output_lies_in_the_memory_of_another_chip(program: Program) -> Program | None:
    if program.chip_count == 1:
        return None
    return changed(program, program.claim.output, chip=1)


@breaks("order: is said to end on chip 1, but ends on 0")
def the_reduction_names_another_home(program: Program) -> Program | None:
    return collective_changed(program, home=1) if program.collectives else None


@breaks("order: is said to join chips")
def the_reduction_forgets_a_chip(program: Program) -> Program | None:
    chips = tuple(range(1, program.chip_count))
    return collective_changed(program, chips=chips) if program.collectives else None


@breaks("order: is in 0 collectives, not in 1")
def the_reduction_forgets_a_stage(program: Program) -> Program | None:
    if not program.collectives:
        return None
    return collective_changed(program, stages=program.collectives[0].stages[:-1])


@breaks("order: is in 1 collectives, not in 0")
def the_reduction_names_a_product(program: Program) -> Program | None:
    if not program.collectives:
        return None
    stages = (*program.collectives[0].stages, last_product(program).name)
    return collective_changed(program, stages=stages)


@breaks("order: is in 0 collectives, not in 1")
def no_collective_is_stated(program: Program) -> Program | None:
    return replace(program, collectives=()) if of_kind(program, Fold) else None


@breaks("order: is said to be a")
def a_star_is_said_to_be_a_tree_or_the_reverse(program: Program) -> Program | None:
    """Of up to three chips they are the same."""
    if program.chip_count < 4:
        return None
    other = {"star": "tree", "tree": "star"}[program.collectives[0].algorithm]
    return collective_changed(program, algorithm=other)


@breaks("order: which is not known")
def the_algorithm_is_unknown(program: Program) -> Program | None:
    return collective_changed(program, algorithm="snake") if program.collectives else None


@breaks("order: is a 'broadcast', but its stages reduce")
def the_reduction_is_said_to_be_a_broadcast(program: Program) -> Program | None:
    return collective_changed(program, kind="broadcast") if program.collectives else None


@breaks("hand-offs: RouteMismatch")
def a_partial_sum_takes_the_link_of_another(program: Program) -> Program | None:
    edges = crossings(program)
    if len(edges) < 2:
        return None
    first, second = edges[0], edges[1]
    return changed(changed(program, first.name, route=second.route), second.name, route=first.route)
