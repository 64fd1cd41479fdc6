"""Tables of mutants: programs that break one rule each, and what the validator must say."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import compiler.flow
import compiler.validate
from compiler.errors import ValidationError
from compiler.ir.program import Program
from compiler.targets import Target
from compiler.validate import validate
from tests.compiler.programs import TOKEN

SOURCES = Path(compiler.validate.__file__).parent
FLOW = Path(compiler.flow.__file__).parent
RAISED = ("ValidationError", "FlowError")
"""Errors whose first argument is a rule."""


@dataclass(frozen=True)
class Mutant:
    """``program`` breaks ``rule`` at ``subject``; ``text`` is a part of what must be said of it."""

    what: str
    program: Program
    rule: str
    subject: str
    text: str
    target: Target = TOKEN


def parametrize(mutants: Sequence[Mutant]) -> pytest.MarkDecorator:
    """Run a test once per mutant."""
    return pytest.mark.parametrize(
        "mutant", [pytest.param(m, id=f"{m.rule}: {m.what}") for m in mutants]
    )


def assert_refused(mutant: Mutant) -> None:
    """The validator refuses the mutant by its rule, and by no other."""
    with pytest.raises(ValidationError) as refusal:
        validate(mutant.program, mutant.target)
    assert (refusal.value.rule, refusal.value.subject) == (mutant.rule, mutant.subject)
    assert str(refusal.value).startswith(f"{mutant.rule}: ")
    assert mutant.text in str(refusal.value)


def assert_every_rule_has_a_mutant(module: str, mutants: Sequence[Mutant]) -> None:
    """The rules that ``compiler/validate/<module>.py`` can raise are those of the mutants.

    Mutants may also break what the flow of pages finds, which a module asks.
    """
    rules, own = {mutant.rule for mutant in mutants}, rules_in(module)
    found = set[str]().union(*(rules_in(f"../flow/{path.stem}") for path in FLOW.glob("*.py")))
    assert own <= rules <= own | found


def rules_in(module: str) -> set[str]:
    """Rule names that ``compiler/validate/<module>.py`` can raise, read from its source."""
    tree = ast.parse((SOURCES / f"{module}.py").read_text(encoding="utf-8"))
    rules: set[str] = set()
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in RAISED:
            rule = call.args[0]
            rules |= _strings(rule)
            if isinstance(rule, ast.Name):
                rules |= _assigned(tree, rule.id)
    return rules


def _assigned(tree: ast.AST, name: str) -> set[str]:
    values = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and any(getattr(t, "id", "") == name for t in node.targets)
    ]
    return set[str]().union(*map(_strings, values))


def _strings(node: ast.AST) -> set[str]:
    return {
        leaf.value
        for leaf in ast.walk(node)
        if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str)
    }
