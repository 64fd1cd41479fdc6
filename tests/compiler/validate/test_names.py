"""Names: one grammar for all, and none that becomes another's."""

import re
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest

from compiler.errors import ValidationError
from compiler.ir.buffer import Buffer
from compiler.ir.dtype import DType
from compiler.ir.edge import Barrier, Semaphore
from compiler.ir.limits import NAME_LENGTH
from compiler.ir.names import GRAMMAR, is_name, quoted
from compiler.ir.program import Program
from compiler.validate import check_structure, validate
from tests.compiler.programs import SEMAPHORE, TOKEN, changed, compiled, renamed, sharded
from tests.compiler.validate.mutants import (
    Mutant,
    assert_every_rule_has_a_mutant,
    assert_refused,
    parametrize,
)

ONE = compiled()
TWO = sharded(2)
FOUR = sharded(4)
PAGED = sharded(2, target=SEMAPHORE)


def collides(what: str, program: Program, subject: str, text: str) -> Mutant:
    return Mutant(what, program, "NameCollision", subject, text)


INJECTION = 'x (j); initial begin $display("INJECTED"); end channel c1_to_c0'

MUTANTS = (
    Mutant(
        "a link that is Verilog",
        renamed(TWO, **{"c1->c0": INJECTION}),
        "NameForm",
        quoted(INJECTION),
        "the link of an edge 'x (j); initial begin",
    ),
    Mutant(
        "a program of two lines",
        replace(ONE, name="x\nholds     well formed"),
        "NameForm",
        r"'x\nholds     well formed'",
        r"the program 'x\nholds     well formed' is no name; it must be at most 128 letters",
    ),
    Mutant(
        "a type of two lines",
        replace(ONE, numerics=replace(ONE.numerics, total=DType("int32\nexact", 32))),
        "TextForm",
        r"'int32\nexact'",
        "the name of a type 'int32\\nexact' must be one line of at most 4096 printable characters",
    ),
    collides(
        "names that differ in a joint",
        renamed(ONE, load_a="up.matmul", load_b="up_matmul"),
        "up_matmul",
        "stage 'up_matmul' and stage 'up.matmul' both become 'up_matmul'; rename one",
    ),
    collides(
        "names that differ in case",
        renamed(ONE, a="X", b="x"),
        "x",
        "value 'x' and value 'X' both become 'x'",
    ),
    collides(
        "a stage like its buffer",
        renamed(ONE, matmul="partial"),
        "partial",
        "buffer 'partial' and stage 'partial' both become 'partial'",
    ),
    collides(
        "a stage like a memory",
        renamed(ONE, matmul="memory_a"),
        "memory_a",
        "stage 'memory_a' and tensor 'a' both become 'memory_a'",
    ),
    collides(
        "a stage like a part of every chip",
        renamed(ONE, matmul="start"),
        "start",
        "stage 'start' and part 'start' both become 'start'",
    ),
    collides(
        "a stage like the port of another",
        renamed(TWO, **{"c0.matmul": "c0.recv_0_link"}),
        "c0.recv_0",
        "stage 'c0.recv_0' and stage 'c0.recv_0_link' both become 'recv_0_link'",
    ),
    collides(
        "links that differ in a joint",
        renamed(FOUR, **{"c1->c0": "c1_to_c0", "c2->c0": "c1-to-c0"}),
        "c1-to-c0",
        "link 'c1-to-c0' and link 'c1_to_c0' both become 'c1_to_c0'",
    ),
)


@parametrize(MUTANTS)
def test_what_is_no_name_or_not_one_of_its_own_is_refused(mutant):
    assert_refused(mutant)


def test_every_rule_of_names_has_a_mutant():
    assert_every_rule_has_a_mutant("names", MUTANTS)


def names_within(value: Any, path: str) -> dict[str, str]:
    """Every text in a value by where it stands."""
    found: list[dict[str, str]] = [{path: value}] if isinstance(value, str) else []
    if isinstance(value, tuple):
        found = [names_within(item, f"{path}[{index}]") for index, item in enumerate(value)]
    if is_dataclass(value):
        found = [names_within(getattr(value, f.name), f"{path}.{f.name}") for f in fields(value)]
    return {where: text for inner in found for where, text in inner.items()}


def texts_at(program: Program, path: str, value: str) -> Program:
    """The program with the text at a path exchanged."""
    steps = re.findall(r"\.(\w+)|\[(\d+)\]", path)

    def put(record: Any, rest: list[tuple[str, str]]) -> Any:
        if not rest:
            return value
        (field, index), *more = rest
        if field:
            return replace(record, **{field: put(getattr(record, field), more)})
        items = list(record)
        items[int(index)] = put(items[int(index)], more)
        return tuple(items)

    return put(program, steps)


def is_held(path: str) -> bool:
    """Whether a text is one that a person or a program chose: not an enumeration's word.

    A mesh refuses by itself what is no name of an axis.
    """
    words = (".role", ".kind", ".engine.kind", ".orientation", ".by", ".handoffs", ".description")
    return not (
        path.startswith((".target", ".certificate", ".mesh"))
        or any(path.endswith(word) for word in words)
    )


@pytest.mark.parametrize("program", [TWO, PAGED], ids=["tokens", "semaphores"])
def test_no_text_of_a_program_may_hold_a_line_end(program):
    """Wherever the name of a thing is stated or used, and wherever there is text."""
    found = {
        re.sub(r"\[\d+\]", "[]", path): path for path in names_within(program, "") if is_held(path)
    }
    assert len(found) > 25
    for path in found.values():
        with pytest.raises(ValidationError) as refusal:
            check_structure(texts_at(program, path, "x\nexact"))
        assert refusal.value.rule in ("NameForm", "TextForm"), path
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "handoff", [Semaphore("a b", "v"), Semaphore("r", "v;"), Barrier("x y")], ids=str
)
def test_names_of_semaphores_and_groups_are_held(handoff):
    program = changed(TWO, "c1.matmul->c0.recv_0", handoff=handoff)
    with pytest.raises(ValidationError, match="NameForm: "):
        check_structure(program)


@pytest.mark.parametrize(
    "name",
    ["a", "c0.load_a->c0.matmul", "c1->c0", "token-mesh", "c0.a_pages.ready", "X9_", "n" * 128],
)
def test_names_of_our_own_form_are_names(name):
    assert is_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("", "9a", "_a", "a b", "a/b", "../a", ".a", "a.", "a..b", "a->", "a>b", "é", "a\n"),
        *("n" * 129, "a\x00", "a\\b", "a$", "a`b", "a;b", "a\u202eb", "\ud800"),
    ],
)
def test_anything_else_is_none(name):
    assert not is_name(name)
    assert NAME_LENGTH == 128
    assert GRAMMAR.fullmatch("a")


def test_names_without_a_chip_are_accepted():
    program = renamed(ONE, load_a="up.load", load_b="down.load", matmul="up.matmul")
    validate(program, TOKEN)
    assert isinstance(program.buffers[0], Buffer)
