"""Every way to break a certified program is refused, by the obligation that it breaks."""

from collections import Counter
from functools import cache

import pytest

from compiler.check import OBLIGATIONS, certified, check
from compiler.errors import UncertifiedProgramError
from compiler.ir.layout import At, Replicate, Shard
from compiler.ir.program import Program
from compiler.ir.stage import KINDS
from compiler.serialize import from_json, to_json
from tests.mutation.certified import PLANS, certified_program
from tests.mutation.mutations import BY_NAME, GROUPS, MUTATIONS
from tests.mutation.parts import forwards

each_mutation = pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: m.name)


@pytest.mark.parametrize("name", PLANS)
def test_the_programs_hold_before_they_are_broken(name):
    program = certified_program(name)
    assert check(program).violated == ()
    assert program.certificate == check(program)


@each_mutation
def test_a_mutation_is_refused_by_what_it_breaks(mutation):
    broken = {name: mutation.apply(certified_program(name)) for name in PLANS}
    applied = {name: program for name, program in broken.items() if program is not None}
    assert len(applied) >= 2
    for name, program in applied.items():
        certificate = check(program)
        assert not certificate.holds, name
        assert mutation.missed(certificate) == [], name


@each_mutation
def test_a_mutation_is_never_certified(mutation):
    """What is refused is refused with all that speaks against it, so one program will do."""
    broken = (mutation.apply(certified_program(name)) for name in PLANS)
    program = next(program for program in broken if program is not None)
    with pytest.raises(UncertifiedProgramError) as refusal:
        certified(program)
    named = {obligation for obligation, _ in refusal.value.violations}
    assert named >= {obligation for obligation, _ in mutation.expected}


@each_mutation
def test_a_mutation_is_pure(mutation):
    for name in PLANS:
        program, before = certified_program(name), untouched(name)
        once, again = mutation.apply(program), mutation.apply(program)
        assert once == again
        assert once != program
        assert program == before


@cache
def untouched(name: str) -> Program:
    """A copy of the program of this name that no mutation has seen."""
    return from_json(to_json(certified_program(name)))


def test_there_are_many_over_programs_of_every_kind():
    assert len(MUTATIONS) == len(BY_NAME) >= 290
    programs = [certified_program(name) for name in PLANS]
    assert {program.chip_count for program in programs} >= {1, 2, 3, 4, 6, 8}
    assert {len(program.mesh.axes) for program in programs} == {1, 2}
    kinds = {type(stage.kind) for program in programs for stage in program.stages}
    assert kinds == {*KINDS}
    assert any(forwards(program) for program in programs)
    placements = {
        type(placement)
        for program in programs
        for record in program.graph.values
        for placement in record.layout
    }
    assert placements == {Replicate, Shard, At}


def test_every_group_has_several():
    counts = Counter(mutation.group for mutation in MUTATIONS)
    assert len(counts) == len(GROUPS)
    assert min(counts.values()) >= 10


def test_every_obligation_is_broken_by_some():
    assert {name for mutation in MUTATIONS for name, _ in mutation.expected} == {*OBLIGATIONS}
