"""Bounds: no number and no list is larger than what it counts can be."""

from dataclasses import fields, is_dataclass, replace
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

from compiler.errors import MeshError, ValidationError
from compiler.ir import limits
from compiler.ir.body import Add, Body, Literal, Max, Operand
from compiler.ir.buffer import Depth
from compiler.ir.layout import At, Partial, Replicate
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.stage import Load, Map, Merge, Store
from compiler.ir.tensor import Part
from compiler.ir.walk import Loop, Walk
from compiler.validate import check_structure
from compiler.validate.bounds import ELSEWHERE, LIMITS
from tests.compiler.programs import changed, compiled, sharded
from tests.compiler.validate.mutants import (
    Mutant,
    assert_every_rule_has_a_mutant,
    assert_refused,
    parametrize,
)

ONE = compiled()
FOUR = sharded(4)


def walked(program: Program, name: str, *loops: Loop) -> Program:
    kind = program.stage_by_name[name].kind
    assert isinstance(kind, Load | Store)
    return changed(program, name, kind=replace(kind, walk=Walk(loops)))


def listed(program: Program, name: str, *order: int) -> Program:
    kind = program.stage_by_name[name].kind
    assert isinstance(kind, Load | Store)
    return changed(program, name, kind=replace(kind, walk=Walk((), order)))


def nested(depth: int) -> Body:
    body: Body = Operand(0)
    for _ in range(depth):
        body = Max(body, Literal(0))
    return body


def grown(body: Body, times: int) -> Body:
    return body if times == 0 else Add(grown(body, times - 1), grown(body, times - 1))


def valued(name: str, **changes: Any) -> Program:
    """``ONE`` with a value changed."""
    values = (replace(v, **changes) if v.name == name else v for v in ONE.graph.values)
    return replace(ONE, graph=replace(ONE.graph, values=tuple(values)))


def mapped(body: Body) -> Program:
    (product,) = ONE.graph.operations
    return replace(ONE, graph=replace(ONE.graph, operations=(replace(product, map=body),)))


def fused(turns: tuple[int, ...], program: Program = FOUR) -> Program:
    """A fold that is a merge: what it merges does not matter to bounds."""
    return changed(program, "c0.fold", kind=Merge(turns))


MUTANTS = (
    Mutant(
        "a loop of 2^41",
        walked(ONE, "load_a", Loop(2**41, 1)),
        "NumberBound",
        "load_a",
        f"kind.walk.loops[0].count of 'load_a' is {2**41}; it may be at most {2**40}",
    ),
    Mutant(
        "a stride of 2^63",
        walked(ONE, "load_a", Loop(2, 2**63)),
        "NumberBound",
        "load_a",
        "kind.walk.loops[0].stride of 'load_a' is a number of over 64 bits",
    ),
    Mutant(
        "a page far beyond all",
        listed(ONE, "load_a", 0, 10**18),
        "NumberBound",
        "load_a",
        f"kind.walk.order of 'load_a' is {10**18}; it may be at most {limits.EXTENT}",
    ),
    Mutant(
        "a list of pages without end",
        listed(ONE, "store_c", *range(limits.TURNS + 1)),
        "ListLength",
        "store_c",
        f"kind.walk.order of 'store_c' has {limits.TURNS + 1} items, over {limits.TURNS}",
    ),
    Mutant(
        "a contraction of 10^18",
        valued("a", cols=10**18),
        "NumberBound",
        "a",
        f"cols of 'a' is 1000000000000000000; it may be at most {limits.EXTENT}",
    ),
    Mutant(
        "less than nothing of it",
        valued("b", pad=(-(10**18), 0)),
        "NumberBound",
        "b",
        "pad of 'b' is -1000000000000000000",
    ),
    Mutant(
        "a part that begins at row 10^13",
        changed(FOUR, "c1.a", part=Part("a", 10**13, 0)),
        "NumberBound",
        "c1.a",
        "part.row of 'c1.a' is 10000000000000",
    ),
    Mutant(
        "contributions of chip 10^12",
        changed(FOUR, "c0.landing_0", holds=((Partial((1, 10**12)),),)),
        "NumberBound",
        "c0.landing_0",
        "holds[0][0].of of 'c0.landing_0' is 1000000000000",
    ),
    Mutant(
        "an output at chip 10^12",
        valued("c", layout=(At(10**12),)),
        "NumberBound",
        "c",
        "layout[0].index of 'c' is 1000000000000",
    ),
    Mutant(
        "a buffer of 10^9 pages",
        changed(FOUR, "c1.partial", depth=Depth(10**9)),
        "NumberBound",
        "c1.partial",
        "depth.pages of 'c1.partial' is 1000000000; it may be at most 65536",
    ),
    Mutant(
        "a way over chip 10^9",
        changed(FOUR, "c1.matmul->c0.recv_0", via=(2, 10**9)),
        "NumberBound",
        "c1.matmul->c0.recv_0",
        "via of 'c1.matmul->c0.recv_0' is 1000000000",
    ),
    Mutant(
        "a turn of input 10^9",
        fused((0, 10**9)),
        "NumberBound",
        "c0.fold",
        f"kind.turns of 'c0.fold' is 1000000000; it may be at most {limits.LINK_PORTS}",
    ),
    Mutant(
        "turns without end",
        fused((0,) * (limits.TURNS + 1)),
        "ListLength",
        "c0.fold",
        f"kind.turns of 'c0.fold' has {limits.TURNS + 1} items, over {limits.TURNS}",
    ),
    Mutant(
        "a buffer that holds more by turns than turns there are",
        changed(FOUR, "c0.landing_0", holds=((Replicate(),),) * (limits.TURNS + 1)),
        "ListLength",
        "c0.landing_0",
        f"holds of 'c0.landing_0' has {limits.TURNS + 1} items, over {limits.TURNS}",
    ),
    Mutant(
        "a literal of 2^64 deep in an expression",
        mapped(Max(Add(Operand(0), Literal(2**64)), Literal(0))),
        "NumberBound",
        ONE.name,
        "graph.operations[0].map.value of",
    ),
    Mutant(
        "nine loops",
        walked(ONE, "store_c", *[Loop(1, 0)] * 9),
        "ListLength",
        "store_c",
        "kind.walk.loops of 'store_c' has 9 items, over 8",
    ),
    Mutant(
        "a deep expression",
        mapped(nested(limits.BODY_DEPTH + 1)),
        "BodySize",
        "c",
        "it may have 1024 operations one within the other, and 4096 parts",
    ),
    Mutant(
        "a wide expression",
        changed(FOUR, "c0.fold", kind=Map(grown(Operand(0), 12))),
        "BodySize",
        "c0.fold",
        "the expression of 'c0.fold' is too large",
    ),
    Mutant(
        "more chips than stages",
        replace(FOUR, mesh=Mesh(tp=len(FOUR.stages) + 1)),
        "ChipCount",
        FOUR.name,
        f"{len(FOUR.stages) + 1} chips have {len(FOUR.stages)} stages",
    ),
    Mutant(
        "a walk of many short loops",
        walked(ONE, "load_b", Loop(2**23, 0), Loop(2**18, 0)),
        "WorkBound",
        "load_b",
        f"stage 'load_b' moves {2**41} pages; it may move at most {limits.WALK_PAGES}",
    ),
)


@parametrize(MUTANTS)
def test_what_is_larger_than_it_can_be_is_refused(mutant):
    assert_refused(mutant)


def test_every_rule_of_bounds_has_a_mutant():
    assert_every_rule_has_a_mutant("bounds", MUTANTS)


def test_bounds_come_before_all_that_enumerates(monkeypatch):
    def enumerated(*_: object) -> None:
        raise AssertionError("it was enumerated")

    monkeypatch.setattr(Walk, "pages", enumerated)
    monkeypatch.setattr(Walk, "indices", enumerated)
    for mutant in MUTANTS:
        with pytest.raises(ValidationError):
            check_structure(mutant.program)


def test_what_is_at_its_limit_is_within_it():
    largest = mapped(nested(limits.BODY_DEPTH))
    values = {v.name: v for v in largest.graph.values}
    values |= {name: replace(values[name], rows=limits.EXTENT) for name in ("a", "c")}
    graph = replace(largest.graph, values=tuple(values.values()))
    check_structure(replace(largest, graph=graph))


def test_a_mesh_cannot_be_larger_than_its_bound():
    """So the number of chips is bounded wherever a program is: there is no larger mesh."""
    with pytest.raises(MeshError, match=f"of at most {limits.CHIPS} chips"):
        Mesh(row=limits.CHIPS, col=2)
    assert LIMITS["MeshAxis.size"] == limits.CHIPS


def test_every_integer_of_a_program_has_a_limit():
    """A field that is added to a record is bounded on purpose, or this test says so."""
    found = set(integers(Program, set()))
    assert found == set(LIMITS)


def integers(record: type, seen: set[type]) -> list[str]:
    """Integer fields of a record and of all records in it, by name."""
    if record in seen:
        return []
    seen.add(record)
    hints = get_type_hints(record)
    names: list[str] = []
    for field in fields(record):
        if record is Program and field.name in ELSEWHERE:
            continue
        parts = set(parts_of(hints[field.name]))
        names += [f"{record.__name__}.{field.name}"] if int in parts else []
        for part in parts:
            names += integers(part, seen) if is_dataclass(part) else []
    return names


def parts_of(hint: Any) -> list[Any]:
    if get_origin(hint) in (Union, UnionType, tuple):
        return [part for inner in get_args(hint) for part in parts_of(inner)]
    return [hint]
