"""The check: all obligations in order, each with its evidence, and refusals that say why."""

import os
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace

import pytest

from compiler.check import OBLIGATIONS, certified, check, require
from compiler.errors import ShardwrightError, UncertifiedProgramError
from compiler.ir.buffer import Depth
from compiler.ir.certificate import Certificate, Obligation
from tests.compiler.programs import changed, compiled, lowered, partitioned, sharded, without
from tests.mutation.certified import PLANS, certified_program

NAMES = (
    "well formed",
    "landing",
    "hand-offs",
    "partition",
    "reduced once",
    "layout",
    "counting",
    "no deadlock",
    "range",
    "capacity",
    "order",
    "schedule",
)
ONE, FOUR = compiled(), sharded(4)
UNFORMED = without(FOUR, "c1.matmul->c0.recv_0")
UNLANDED = changed(FOUR, "c1.matmul", site=None)
MISHANDED = changed(FOUR, "c1.matmul->c0.recv_0", handoff=None)
SHALLOW = changed(FOUR, "c1.partial", depth=Depth(1))
WHY = "4 result pages take 138 cycles, but 104 with unbounded buffers; room was waited for in c1.p"


def verdicts(certificate: Certificate) -> dict[str, bool]:
    return {obligation.name: obligation.holds for obligation in certificate.obligations}


@pytest.mark.parametrize("name", PLANS)
def test_obligations_come_in_their_order_with_statement_and_figures(name):
    certificate = check(certified_program(name))
    assert tuple(obligation.name for obligation in certificate.obligations) == OBLIGATIONS == NAMES
    for obligation in certificate.obligations:
        assert obligation.holds
        assert obligation.statement.endswith(".")
        assert obligation.evidence
        assert any(any(c.isdigit() for c in str(figure)) for _, figure in obligation.evidence)
        assert all(name and str(figure) for name, figure in obligation.evidence)


def test_every_obligation_says_something_else():
    statements = [obligation.statement for obligation in check(ONE).obligations]
    assert len(set(statements)) == len(NAMES)


@pytest.mark.parametrize("program", [ONE, FOUR, SHALLOW, UNFORMED])
def test_equal_programs_get_equal_certificates(program):
    assert check(program) == check(deepcopy(program))


def test_the_certificate_that_is_carried_does_not_matter():
    for carried in (None, Certificate(()), check(SHALLOW)):
        assert check(replace(FOUR, certificate=carried)) == check(FOUR)


SCRIPT = """
from tests.mutation.certified import certified_program
from tests.mutation.mutations import MUTATIONS
from compiler.check import check
program = certified_program("4 chips, tree, semaphores, padded")
print([check(broken) for m in MUTATIONS if (broken := m.apply(program))])
"""


def test_certificates_do_not_depend_on_the_order_of_sets():
    printed = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(printed) == 1


@pytest.mark.parametrize(
    ("program", "broken", "shown"),
    [
        (UNFORMED, "well formed", 0),
        (UNLANDED, "landing", 1),
        (MISHANDED, "hand-offs", 2),
    ],
)
def test_what_cannot_be_asked_counts_as_violated_and_says_so(program, broken, shown):
    """A graph is needed for all else; sites and hand-offs for all but each other."""
    certificate = check(program)
    asked = {"well formed"} if broken == "well formed" else {"well formed", "landing", "hand-offs"}
    assert not certificate.holds
    for index, obligation in enumerate(certificate.obligations):
        if obligation.name not in asked:
            assert obligation.violations == (f"not shown, since {broken!r} is violated",)
            assert not obligation.holds
        else:
            assert obligation.holds == (index != shown)


def test_the_violated_obligations_are_listed():
    certificate = check(SHALLOW)
    assert [name for name, holds in verdicts(certificate).items() if not holds] == [
        "no deadlock",
        "schedule",
    ]
    assert [obligation.name for obligation in certificate.violated] == ["no deadlock", "schedule"]
    assert not certificate.holds
    assert check(FOUR).violated == ()


@pytest.mark.parametrize("program", [lowered(), partitioned(4)])
def test_an_unfinished_program_is_checked_and_refused(program):
    assert not check(program).holds


@pytest.mark.parametrize("program", [ONE, FOUR], ids=lambda p: p.name)
def test_a_certified_program_carries_what_the_check_says(program):
    bare = replace(program, certificate=None)
    assert certified(bare) == replace(bare, certificate=check(bare)) == program
    assert require(program) is None


def refusal_of(ask, program) -> UncertifiedProgramError:
    with pytest.raises(UncertifiedProgramError) as refusal:
        ask(program)
    assert isinstance(refusal.value, ShardwrightError)
    assert refusal.value.program == program.name
    return refusal.value


@pytest.mark.parametrize("ask", [certified, require])
def test_a_violated_obligation_refuses_a_program_by_its_name(ask):
    refusal = refusal_of(ask, SHALLOW)
    assert [name for name, _ in refusal.violations] == ["no deadlock", "schedule"]
    assert refusal.violations[0][1].startswith(WHY)
    assert str(refusal).startswith(
        f"program 'matmul_16x16x64_tree4' is not certified: no deadlock: {WHY}"
    )


@pytest.mark.parametrize("ask", [certified, require])
def test_the_first_violation_of_each_obligation_is_said_and_nothing_of_what_was_not_asked(ask):
    for program in (UNFORMED, UNLANDED, MISHANDED):
        refusal = refusal_of(ask, program)
        (violated,) = [o for o in check(program).violated if "not shown" not in o.violations[0]]
        assert refusal.violations == ((violated.name, violated.violations[0]),)


def test_a_program_without_a_certificate_is_refused():
    refusal = refusal_of(require, replace(FOUR, certificate=None))
    assert str(refusal) == (
        "program 'matmul_16x16x64_tree4' is not certified: certificate: the program carries none; "
        "compile the program anew"
    )


@pytest.mark.parametrize(
    "carried",
    [
        Certificate(()),
        check(ONE),
        Certificate(check(FOUR).obligations[:-1]),
        Certificate((*check(FOUR).obligations, Obligation("beauty", "It is beautiful."))),
    ],
    ids=["empty", "of another program", "one too few", "one too many"],
)
def test_a_certificate_that_says_something_else_is_refused(carried):
    refusal = refusal_of(require, replace(FOUR, certificate=carried))
    assert refusal.violations == (
        (
            "certificate",
            "it says something else than what was recomputed; compile the program anew",
        ),
    )
    assert str(refusal) == (
        "program 'matmul_16x16x64_tree4' is not certified: certificate: it says something else "
        "than what was recomputed; compile the program anew"
    )


def test_a_certificate_in_other_words_is_the_same():
    """So a program that was saved before an obligation was put more clearly still runs."""
    obligations = tuple(replace(o, statement="As ever.") for o in FOUR.certificate.obligations)
    assert require(replace(FOUR, certificate=Certificate(obligations))) is None


def test_a_certificate_is_stale_once_anything_of_which_it_speaks_is_changed():
    deeper = changed(FOUR, "c0.landing_0", depth=Depth(4))
    memory = tuple(
        replace(place, size_bytes=2 * place.size_bytes, address=place.address + 2**20)
        if place.owner == "c0.landing_0"
        else place
        for place in FOUR.memory
    )
    deeper = replace(deeper, memory=memory)
    assert check(deeper).holds
    refusal = refusal_of(require, deeper)
    assert [name for name, _ in refusal.violations] == ["certificate"]
    assert require(certified(deeper)) is None
