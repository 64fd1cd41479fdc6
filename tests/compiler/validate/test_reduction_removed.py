"""Taking the reduction out by hand: no step on the way to a smaller sum gets through.

Each step repairs what the step before is refused for.
"""

from dataclasses import replace

import pytest

from compiler.errors import ValidationError
from compiler.ir.body import left_fold
from compiler.ir.buffer import Buffer
from compiler.ir.layout import Partial, Replicate
from compiler.ir.mesh import mesh_of
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Site
from compiler.passes.algorithms import star, tree
from compiler.validate import validate
from tests.compiler.programs import (
    MANY_PORTS,
    changed,
    cut_off,
    names_on_chip,
    partitioned,
    sharded,
    without,
)
from tests.compiler.validate.mutants import Mutant, assert_refused, parametrize

TWO = sharded(2)
FOUR = sharded(4)
REDUCTIONS = {"star": star, "tree": tree}


def relabelled(program: Program, chips: tuple[int, ...]) -> Program:
    """``program`` whose ``chips`` claim to hold all contributions that there are.

    They move to the first places of a smaller mesh; what they hold of A and B stays what it was.
    """
    place = {chip: index for index, chip in enumerate(chips)}

    def sited(site: Site | None) -> Site | None:
        return None if site is None else replace(site, chip=place[site.chip])

    def buffer(buffer: Buffer) -> Buffer:
        ((held,),) = buffer.holds
        if isinstance(held, Partial):
            indices = tuple(place[index] for index in held.of)
            held = Replicate() if len(indices) == len(chips) else Partial(indices)
        return replace(buffer, holds=((held,),), site=sited(buffer.site))

    return replace(
        program,
        mesh=mesh_of(len(chips)),
        tensors=tuple(replace(t, chip=place[t.chip]) for t in program.tensors),
        stages=tuple(replace(s, site=sited(s.site)) for s in program.stages),
        buffers=tuple(map(buffer, program.buffers)),
        links=tuple(
            replace(
                link,
                source_chip=place[link.source_chip],
                destination_chip=place[link.destination_chip],
            )
            for link in program.links
        ),
        memory=(),
    )


DROPPED = without(FOUR, "c0.recv_0")
UNWIRED = without(DROPPED, "c1.matmul->c0.recv_0", "c0.recv_0->c0.fold")
UNLANDED = without(UNWIRED, "c0.landing_0")
UNREAD = changed(UNLANDED, "c0.fold", ins=("c0.partial", "c0.landing_1"))
UNADDED = changed(UNREAD, "c0.fold", kind=Fold(left_fold(2)))
ALONE = without(UNADDED, *names_on_chip(UNADDED, 1))
HONEST = cut_off(FOUR, 1)

STEPS = (
    Mutant("a receive is dropped", DROPPED, "UnknownName", "c0.recv_0", "names stage 'c0.recv_0'"),
    Mutant(
        "and its edges",
        UNWIRED,
        "BufferProducerCount",
        "c0.landing_0",
        "has 0 producing stages",
    ),
    Mutant(
        "and its landing buffer",
        UNLANDED,
        "UnknownName",
        "c0.landing_0",
        "stage 'c0.fold' names buffer 'c0.landing_0'",
    ),
    Mutant(
        "and the input of the fold",
        UNREAD,
        "FoldOperandMissing",
        "c0.fold",
        "reads op2, but has only 2 inputs",
    ),
    Mutant(
        "and the operand",
        UNADDED,
        "BufferConsumerCount",
        "c1.partial",
        "has 0 consuming edges",
    ),
    Mutant(
        "and the chip that sent it",
        ALONE,
        "LayoutMismatch",
        "c0.reduced",
        "is declared as whole, but 'c0.fold' makes it a partial sum of {0,2,3}",
    ),
    Mutant(
        "and the claim that the sum is whole",
        HONEST,
        "PartialStored",
        "c0.store_c",
        "would store a partial sum of {0,2,3}: the contributions of slices 1 are missing",
    ),
    Mutant(
        "and three slices claim to be all",
        relabelled(HONEST, (0, 2, 3)),
        "Parts",
        "a",
        "elements 16 to 31 of a's contraction are in no slice",
    ),
    Mutant(
        "the fold of two chips is bypassed",
        cut_off(TWO, 1),
        "PartialStored",
        "c0.store_c",
        "would store a partial sum of {0}: the contributions of slices 1 are missing",
    ),
    Mutant(
        "the only chip claims to be all",
        relabelled(cut_off(TWO, 1), (0,)),
        "Parts",
        "a",
        "the slices of a end at 16 of 32",
    ),
)


@parametrize(STEPS)
def test_no_step_towards_a_smaller_sum_gets_through(mutant):
    assert_refused(mutant)


@pytest.mark.parametrize("chips", [2, 3, 5, 6, 8, 16])
@pytest.mark.parametrize("reduce", sorted(REDUCTIONS))
def test_missing_slices_are_named_whichever_chip_is_cut_off(chips, reduce):
    program = partitioned(chips, reduce, target=MANY_PORTS)
    validate(program, MANY_PORTS)
    senders = set(range(1, chips)) - set(REDUCTIONS[reduce](chips).parent)
    assert senders
    for chip in senders:
        with pytest.raises(ValidationError) as refusal:
            validate(cut_off(program, chip), MANY_PORTS)
        assert refusal.value.rule == "PartialStored"
        assert str(refusal.value).endswith(f"the contributions of slices {chip} are missing")


def test_all_missing_slices_are_named():
    with pytest.raises(ValidationError, match="contributions of slices 1, 3 are missing"):
        validate(cut_off(cut_off(partitioned(4), 1), 3), MANY_PORTS)
