"""The validator as a whole."""

from dataclasses import replace
from pathlib import Path

import pytest

from compiler.errors import ValidationError
from compiler.validate import check_meaning, check_structure, validate
from tests.compiler.programs import (
    LOCAL_ONLY,
    MANY_PORTS,
    SEMAPHORE,
    TOKEN,
    changed,
    compiled,
    lowered,
    partitioned,
    sharded,
)
from tests.compiler.validate.mutants import SOURCES, rules_in

MODULES = sorted(path.stem for path in SOURCES.glob("*.py"))


@pytest.mark.parametrize("target", [TOKEN, SEMAPHORE, LOCAL_ONLY], ids=lambda t: t.name)
def test_one_chip_programs_are_accepted(target):
    validate(lowered(target=target), target)
    validate(compiled(target=target), target)
    validate(compiled(5, 11, 3, target=target), target)


@pytest.mark.parametrize(
    "target", [MANY_PORTS, replace(SEMAPHORE, link_ports=16)], ids=lambda t: t.name
)
@pytest.mark.parametrize("reduce", ["star", "tree"])
@pytest.mark.parametrize("chips", [2, 3, 5, 6, 7, 12, 16])
def test_sharded_programs_are_accepted(chips, reduce, target):
    validate(partitioned(chips, reduce, target=target), target)
    validate(sharded(chips, reduce, target=target), target)


@pytest.mark.parametrize("module", [m for m in MODULES if rules_in(m)])
def test_every_module_with_rules_has_a_table_of_mutants(module):
    tests = Path(__file__).with_name(f"test_{module}.py").read_text(encoding="utf-8")
    compared = f'assert_every_rule_has_a_mutant("{module}", MUTANTS)', f'== rules_in("{module}")'
    counted_in = f'rules = rules_in("{module}")'
    assert any(text in tests for text in (*compared, counted_in))


def test_a_validation_error_carries_what_it_names():
    with pytest.raises(ValidationError) as refusal:
        validate(changed(compiled(), "load_a", outs=("nowhere",)), TOKEN)
    error = refusal.value
    assert (error.rule, error.subject, error.after_pass) == ("UnknownName", "nowhere", None)
    assert str(error) == (
        "UnknownName: stage 'load_a' names buffer 'nowhere', which does not exist"
    )
    error.after_pass = "place"
    assert str(error).endswith("which does not exist (after pass place)")


def test_meaning_needs_no_target():
    program = sharded(4)
    check_structure(program)
    check_meaning(program)
