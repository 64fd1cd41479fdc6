"""Every way to break a certified program is refused, by the obligation that it breaks."""

from collections import Counter

import pytest

from compiler.check import OBLIGATIONS, certified, check
from compiler.errors import UncertifiedProgramError
from tests.mutation.certified import PLANS, certified_program
from tests.mutation.mutations import BY_NAME, GROUPS, MUTATIONS

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
    for name in PLANS:
        program = mutation.apply(certified_program(name))
        if program is None:
            continue
        with pytest.raises(UncertifiedProgramError) as refusal:
            certified(program)
        named = {obligation for obligation, _ in refusal.value.violations}
        assert named >= {obligation for obligation, _ in mutation.expected}


@each_mutation
def test_a_mutation_is_pure(mutation):
    for name in PLANS:
        program = certified_program(name)
        once, again = mutation.apply(program), mutation.apply(program)
        assert once == again
        assert once != program
        assert check(program).holds


def test_there_are_more_than_forty_over_more_than_six_programs():
    assert len(MUTATIONS) == len(BY_NAME) >= 45
    assert len(PLANS) >= 6
    assert {certified_program(name).chip_count for name in PLANS} >= {1, 2, 3, 4, 8}


def test_every_group_has_several():
    counts = Counter(mutation.group for mutation in MUTATIONS)
    assert len(counts) == len(GROUPS)
    assert min(counts.values()) >= 10


def test_every_obligation_is_broken_by_some():
    assert {name for mutation in MUTATIONS for name, _ in mutation.expected} == {*OBLIGATIONS}
