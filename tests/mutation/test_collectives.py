"""Every way to break a collective by itself is refused, by the obligation that it breaks."""

from itertools import islice

import pytest

from compiler.check import OBLIGATIONS, certified, check
from compiler.collective_spec import CHANGES
from compiler.errors import UncertifiedProgramError
from compiler.ir.stage import KINDS, Map, MatmulTiles
from compiler.passes.page_ways import HOPS
from compiler.serialize import from_json, to_json
from tests.mutation import collectives
from tests.mutation.collectives import PLANS
from tests.mutation.mutation import Mutation

MUTATIONS = [value for value in vars(collectives).values() if isinstance(value, Mutation)]
UNTOUCHED = {name: from_json(to_json(program)) for name, program in PLANS.items()}
"""Copies that no mutation has seen."""
OF_EVERY_RUN = 2
"""Programs on which every run tries a mutation; the slow tier tries it on all."""

each_mutation = pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: m.name)


@pytest.mark.parametrize("name", PLANS)
def test_the_programs_hold_before_they_are_broken(name):
    assert check(PLANS[name]).violated == ()


@each_mutation
@pytest.mark.parametrize("count", [OF_EVERY_RUN, pytest.param(len(PLANS), marks=pytest.mark.slow)])
def test_a_mutation_is_refused_by_what_it_breaks(mutation, count):
    broken = ((name, mutation.apply(program)) for name, program in PLANS.items())
    applied = dict(islice(((n, p) for n, p in broken if p is not None), count))
    assert len(applied) >= 2
    for name, program in applied.items():
        certificate = check(program)
        assert not certificate.holds, name
        assert mutation.missed(certificate) == [], name
    with pytest.raises(UncertifiedProgramError) as refusal:
        certified(next(iter(applied.values())))
    assert {name for name, _ in refusal.value.violations} >= {n for n, _ in mutation.expected}


@each_mutation
def test_a_mutation_is_pure(mutation):
    for name, program in PLANS.items():
        once = mutation.apply(program)
        assert once == mutation.apply(program)
        assert once != program
        assert program == UNTOUCHED[name]


def test_the_programs_are_of_every_kind():
    programs = PLANS.values()
    stated = [c for program in programs for c in program.collectives]
    assert {c.kind for c in stated} == {*CHANGES}
    assert {c.algorithm for c in stated} == {*HOPS}
    assert {len(program.mesh.axes) for program in programs} == {1, 2}
    assert {program.graph.redistribution.combine for program in programs} == {None, "sum", "max"}
    kinds = {type(stage.kind) for program in programs for stage in program.stages}
    assert kinds == {*KINDS} - {MatmulTiles, Map}


def test_what_can_be_misstated_or_misled_is():
    """Buffers, links and schedules are those of products, whose mutations break the rest."""
    assert len(MUTATIONS) >= 45
    broken = {name for mutation in MUTATIONS for name, _ in mutation.expected}
    assert broken >= {"partition", "reduced once", "layout", "counting", "order", "range"}
    assert broken <= {*OBLIGATIONS}
