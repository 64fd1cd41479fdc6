"""The machine: what no hardware, engine or host of this project makes is refused."""

from dataclasses import replace

from compiler.ir.program import Allocation, Program
from compiler.ir.stage import Site
from compiler.ir.tensor import Tensor
from tests.compiler.programs import compiled, sharded
from tests.compiler.validate.mutants import (
    Mutant,
    assert_every_rule_has_a_mutant,
    assert_refused,
    parametrize,
)

ONE = compiled()
TWO = sharded(2)


def with_tensor(program: Program, tensor: Tensor) -> Program:
    """A tensor more, with a place in memory."""
    place = Allocation(tensor.name, tensor.chip, 2**20, 2**12)
    return replace(program, tensors=(*program.tensors, tensor), memory=(*program.memory, place))


def on_one_chip(program: Program) -> Program:
    """A program of two chips as two sites of one chip."""

    def moved(record):
        return replace(record, site=Site(0, record.site.chip, 0))

    return replace(
        program,
        tensors=tuple(replace(tensor, chip=0) for tensor in program.tensors),
        stages=tuple(map(moved, program.stages)),
        buffers=tuple(map(moved, program.buffers)),
        links=tuple(replace(link, source_chip=0) for link in program.links),
        memory=(),
    )


SPARE = replace(ONE.tensor_by_name["b"], name="spare")

MUTANTS = (
    Mutant(
        "a tensor on chip 7 of 2",
        with_tensor(TWO, replace(TWO.tensor_by_name["c1.b"], name="spare", chip=7)),
        "TensorChip",
        "spare",
        "tensor 'spare' is on chip 7 of 2",
    ),
    Mutant(
        "a tensor that nothing uses",
        with_tensor(ONE, replace(SPARE, slice_of=None)),
        "TensorUse",
        "spare",
        "tensor 'spare' is loaded or stored by 0 stages; it must be by one",
    ),
    Mutant(
        "two sites on one chip",
        on_one_chip(TWO),
        "SiteCount",
        "c1.load_a",
        "stage 'c1.load_a' is at site (0,1,0) and others of its chip at (0,0,0); a chip has one",
    ),
    Mutant(
        "a chip without a product",
        replace(TWO, chip_count=3),
        "IdleChip",
        "chip 2",
        "chip 2 of 3 has no product",
    ),
)


@parametrize(MUTANTS)
def test_what_cannot_be_built_is_refused(mutant):
    assert_refused(mutant)


def test_every_rule_of_the_machine_has_a_mutant():
    assert_every_rule_has_a_mutant("machine", MUTANTS)
