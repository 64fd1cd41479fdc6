"""What follows from a program is found once for all that ask."""

import gc
from dataclasses import replace

import pytest

from compiler.flow.errors import FlowError
from compiler.flow.once import Once
from compiler.ir.program import Program
from tests.compiler.programs import compiled, lowered


class Finding:
    """A function of programs that counts how often it is asked."""

    def __init__(self, error: FlowError | None = None):
        self.error = error
        self.asked: list[str] = []

    def __call__(self, program: Program) -> list[str]:
        self.asked.append(program.name)
        if self.error is not None:
            raise self.error
        return [stage.name for stage in program.stages]


def test_what_is_found_is_found_once():
    find, program = Finding(), compiled()
    once = Once(find)
    assert once(program) is once(program)
    assert find.asked == [program.name]


def test_each_program_has_its_own():
    find = Finding()
    once = Once(find)
    other = replace(compiled(), name="other")
    once(compiled())
    assert once(other) == once(compiled())
    assert once(lowered()) is not once(compiled())
    assert find.asked == [compiled().name, "other", lowered().name]


def test_it_is_found_of_the_canonical_form():
    """In whatever order records stand."""
    seen: list[Program] = []
    turned = replace(compiled(), stages=compiled().stages[::-1])
    Once(seen.append)(turned)
    assert seen == [turned.canonical]


def test_what_is_refused_once_is_refused_again_without_being_looked_at():
    find = Finding(FlowError("Rule", "stage", "it cannot be"))
    once = Once(find)
    errors: list[FlowError] = []
    for _ in range(2):
        with pytest.raises(FlowError, match=r"^it cannot be$") as refusal:
            once(compiled())
        errors.append(refusal.value)
    assert [(error.rule, error.subject) for error in errors] == [("Rule", "stage")] * 2
    assert errors[0] is not errors[1]
    assert len(find.asked) == 1


def test_it_keeps_no_program_and_nothing_of_those_that_are_gone():
    find = Finding()
    once = Once(find)
    for index in range(5):
        once(replace(compiled(), name=f"number {index}"))
    gc.collect()
    again = replace(compiled(), name="number 0")
    once(again)
    assert find.asked == [*(f"number {index}" for index in range(5)), "number 0"]
