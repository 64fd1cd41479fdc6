"""Nothing depends on the order of a list that has none."""

import random
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import pytest

from compiler.check import certified, check, require
from compiler.errors import ValidationError
from compiler.ir.canonical import natural
from compiler.ir.program import Program
from compiler.pipeline import compile, run_passes
from compiler.serialize import from_json, to_json
from compiler.shard_plan import ShardPlan
from compiler.targets import LinkKind, get
from compiler.text import to_text
from compiler.validate import validate
from compiler.workload import MatmulSpec
from hw.chip_registers import chip_register_map
from hw.program_digest import program_digest
from hw.verilog.design import design
from report.run import record
from sim.binding import bind
from sim.cosim.package import write_package
from sim.interpreter import interpret
from sim.parts import assembled
from sim.simulate import simulate
from tests.mutation.certified import PLANS, answer, certified_program, operands
from tests.mutation.mutations import MUTATIONS
from tests.permuted import ORDERED, UNORDERED, permuted
from tests.tiers import chosen

WIDE = get("token-mesh", tile=1, link_ports=16, link_kinds=(LinkKind("slow", 8, 30, 2),))
MANY = {
    "11 chips, star": (MatmulSpec(1, 2, 11), ShardPlan(11, "star"), WIDE),
    "12 chips, tree": (MatmulSpec(2, 1, 12), ShardPlan(12), WIDE),
    "2 chips, tree": (MatmulSpec(2, 1, 2), ShardPlan(2), WIDE),
    "3 chips, star, barrier": (
        MatmulSpec(2, 2, 3),
        ShardPlan(3, "star"),
        get("barrier-mesh", tile=1),
    ),
}
NAMES = (*PLANS, *MANY)
SIMULATED = (
    "1 chip, map",
    "2 chips, tree",
    "3 chips, star, barrier",
    "3 chips, star, map, semaphores",
    "2 x 2 chips, rows and contraction",
    "3 chips, star, a shared link",
)
"""The quickest of every kind, which are simulated in every run."""
SEEDS = range(3)
each_program = pytest.mark.parametrize("name", NAMES)
each_seed = pytest.mark.parametrize("seed", SEEDS)


@cache
def program_of(name: str) -> Program:
    if name in PLANS:
        return certified_program(name)
    spec, plan, target = MANY[name]
    return compile(spec, target, plan)


def operands_of(name: str) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray]:
    """Operands as ``simulate`` takes them, and the right answer."""
    if name in MANY:
        rng, claim = np.random.default_rng(3), program_of(name).claim
        a = rng.integers(-128, 128, (claim.m, claim.k))
        b = rng.integers(-128, 128, (claim.k, claim.n))
        return a, b, a @ b
    a, b = operands(name)
    right = answer(name, a, b)
    return (None, None, right) if "values" in name else (a, b, right)


@each_program
def test_the_compiler_writes_the_canonical_order(name):
    program = program_of(name)
    assert program.canonical is program


@pytest.mark.covers("values")
@each_seed
@each_program
def test_every_order_has_one_canonical_form(name, seed):
    program = program_of(name)
    other = permuted(program, seed)
    assert other != program
    assert replace(other.canonical, target=program.target) == program
    assert from_json(to_json(other)) == other


@pytest.mark.covers("values")
@each_seed
@each_program
def test_the_verdicts_do_not_depend_on_the_order(name, seed):
    program = program_of(name)
    other = permuted(program, seed)
    assert check(other) == program.certificate
    require(other)
    assert certified(replace(other, certificate=None)) == other
    validate(other, other.target)
    assert to_text(other) == to_text(program)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_what_is_broken_is_refused_alike_in_any_order(mutation):
    broken = [mutation.apply(certified_program(name)) for name in PLANS]
    applied = [program for program in broken if program is not None]
    for program in (applied[0], applied[-1]):
        assert check(permuted(program, 1)).violated == check(program).violated, program.name


@pytest.mark.covers("values")
@each_seed
@each_program
def test_the_interpreter_gives_the_product_in_any_order(name, seed):
    a, b, right = operands_of(name)
    assert np.array_equal(interpret(permuted(program_of(name), seed), a, b).c, right)


@pytest.mark.parametrize("name", chosen(NAMES, SIMULATED))
def test_the_simulation_is_exact_and_on_time_in_any_order(name):
    a, b, right = operands_of(name)
    program = program_of(name)
    result = simulate(permuted(program, 0), a, b)
    assert result.exact
    assert np.array_equal(result.c, right)
    assert result.cycles == program.schedule.cycles
    if program.chip_count == 3:
        assert record(result) == record(simulate(program, a, b))


@each_program
def test_operands_are_put_together_by_their_parts(name):
    a, b, _ = operands_of(name)
    program = program_of(name)
    other = permuted(program, 1)
    contents, reordered = bind(program, a, b), bind(other, a, b)
    assert list(contents) == list(reordered)
    for whole in program.graph.inputs:
        one, two = assembled(program, contents, whole), assembled(other, reordered, whole)
        assert np.array_equal(one, two)


@each_program
def test_registers_and_windows_stand_where_they_stood(name):
    program = program_of(name)
    for chip in range(program.chip_count):
        one, two = (chip_register_map(p, chip) for p in (program, permuted(program, 2)))
        assert one == two


@pytest.mark.covers("values")
@each_seed
@each_program
def test_boards_know_the_program_again_in_any_order(name, seed):
    program = program_of(name)
    assert program_digest(permuted(program, seed)) == program_digest(program)


@pytest.mark.parametrize("name", chosen(SIMULATED[1:3], SIMULATED[1:2]))
def test_the_verilog_is_the_same(name):
    program = program_of(name)
    one, two = design(program), design(permuted(program, 1))
    assert [(m.name, m.text) for m in (*one.modules, one.top)] == [
        (m.name, m.text) for m in (*two.modules, two.top)
    ]


def test_a_package_is_the_same_but_for_the_program_as_it_was_given(tmp_path):
    a, b, _ = operands_of("2 chips, tree")
    program = program_of("2 chips, tree")
    other = permuted(program, 1)
    write_package(tmp_path / "one", program, a, b)
    write_package(tmp_path / "two", other, a, b)
    names = {path.name for path in (tmp_path / "one").iterdir()}
    assert names == {path.name for path in (tmp_path / "two").iterdir()}
    for file in sorted(names - {"program.json"}):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    assert from_json((tmp_path / "two" / "program.json").read_text()) == other


@pytest.mark.parametrize("name", PLANS)
def test_the_passes_decide_alike_in_any_order(name):
    """Even where nothing is decided yet: engines, depths and places do not go by position."""
    program = program_of(name)
    blank = replace(
        program,
        stages=tuple(replace(stage, engine=None) for stage in program.stages),
        buffers=tuple(replace(buffer, depth=None) for buffer in program.buffers),
        memory=(),
        schedule=None,
        certificate=None,
    )
    target = program.target
    assert run_passes(permuted(blank, 3), target) == run_passes(blank, target)


def test_a_name_that_no_stage_has_does_not_hide_a_fault():
    """Sorting assumes nothing: an unknown name is refused as such."""
    program = permuted(program_of("4 chips, star"), 0)
    edges = (replace(program.edges[0], source="nobody"), *program.edges[1:])
    with pytest.raises(ValidationError, match=r"UnknownName: edge .* names stage 'nobody'"):
        validate(replace(program, edges=edges), program.target)


def test_names_are_sorted_as_people_sort_them():
    names = ["c10.x", "c2.x", "c2.recv_10", "c2.recv_9", "c02.x", "", "9", "x", "x1y"]
    shuffled = random.Random(0).sample(names, len(names))
    assert sorted(shuffled, key=natural) == [
        "",
        "9",
        "c2.recv_9",
        "c2.recv_10",
        "c02.x",
        "c2.x",
        "c10.x",
        "x",
        "x1y",
    ]


def lists_of(record: type, seen: dict[str, set[str]]) -> dict[str, set[str]]:
    """Every field of a record, and of the records in it, that is a list."""
    if record.__name__ in seen:
        return seen
    seen[record.__name__] = set()
    hints = get_type_hints(record)
    for field in fields(record):
        waiting: list[Any] = [hints[field.name]]
        while waiting:
            hint = waiting.pop()
            if get_origin(hint) is tuple:
                seen[record.__name__].add(field.name)
            if is_dataclass(hint):
                lists_of(hint, seen)
            waiting += get_args(hint)
    return seen


def test_every_list_of_a_program_is_known_to_have_an_order_or_none():
    found = {name: lists for name, lists in lists_of(Program, {}).items() if lists}
    known: dict[str, set[str]] = {}
    for name, lists in (*UNORDERED.items(), *ORDERED.items()):
        known.setdefault(name, set()).update(lists)
    assert found == known
