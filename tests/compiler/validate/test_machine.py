"""The machine: what no hardware, engine or host of this project makes is refused."""

from dataclasses import replace

from compiler.ir.mesh import Mesh
from compiler.ir.program import Allocation, Program
from compiler.ir.stage import Site
from compiler.ir.tensor import Tensor
from tests.compiler.programs import (
    changed,
    compiled,
    names_on_chip,
    sharded,
    spread,
    without,
)
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


def at_two_sites(program: Program) -> Program:
    """Chip 1 of a program multiplies at another coordinate than it loads."""
    for name in ("c1.matmul", "c1.partial"):
        program = changed(program, name, site=Site(1, 1, 0))
    return program


def idle() -> Program:
    """Two of four chips, which did the same as the others, do nothing."""
    program = spread(mesh=Mesh(copy=2, tp=2), shard=(("k", "tp"),))
    gone = {name for chip in (2, 3) for name in names_on_chip(program, chip)}
    kept = tuple(place for place in program.memory if place.owner not in gone)
    collectives = tuple(c for c in program.collectives if c.home == 0)
    return without(replace(program, memory=kept, collectives=collectives), *gone)


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
        with_tensor(ONE, SPARE),
        "TensorUse",
        "spare",
        "tensor 'spare' is loaded or stored by 0 stages; it must be by one",
    ),
    Mutant(
        "two sites on one chip",
        at_two_sites(TWO),
        "SiteCount",
        "c1.matmul",
        "stage 'c1.matmul' is at site (1,1,0) and others of its chip at (1,0,0); a chip has one",
    ),
    Mutant(
        "a chip without a product",
        idle(),
        "IdleChip",
        "chip 2",
        "chip 2 of 4 has no product",
    ),
)


@parametrize(MUTANTS)
def test_what_cannot_be_built_is_refused(mutant):
    assert_refused(mutant)


def test_every_rule_of_the_machine_has_a_mutant():
    assert_every_rule_has_a_mutant("machine", MUTANTS)
