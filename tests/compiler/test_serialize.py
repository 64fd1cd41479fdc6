"""Programs are saved and loaded with nothing lost, and what does not fit is refused by name."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from compiler.errors import ProgramFormatError, ShardwrightError
from compiler.ir.body import Add, Literal, Max, Operand
from compiler.ir.buffer import Depth
from compiler.ir.graph import LoopOrder
from compiler.ir.init import (
    Const,
    ConstFloat,
    External,
    FloatValues,
    Pattern,
    RandomBf16,
    Values,
    Zero,
)
from compiler.ir.mesh import Mesh
from compiler.ir.program import Program
from compiler.ir.tensor import ValueRange
from compiler.passes.undecided import undecided
from compiler.pipeline import compile, run_passes, shard
from compiler.program_schema import schema
from compiler.serialize import from_json, to_json
from compiler.shard_plan import ShardPlan
from compiler.targets import LinkKind, get
from compiler.workload import MatmulSpec
from tests.collective_programs import collective
from tests.compiler.programs import (
    SEMAPHORE,
    TOKEN,
    changed,
    compiled,
    lowered,
    partitioned,
    sharded,
    spread,
)

ROOT = Path(__file__).parents[2]
ROOMY = get("token-mesh", compute_engines=3)
BARRIER = get("token-mesh", handoffs=("ValidReady", "Barrier"))
RELU = Max(Operand(0), Literal(0))
SHIFTED = Add(Max(Add(Operand(0), Literal(-9)), Literal(0)), Literal(1))
INITS = (
    Zero(),
    Const(-3),
    Pattern(13, 6),
    Values(tuple(range(-8, 8))),
    ConstFloat(0.1),
    ConstFloat(-0.0),
    FloatValues((1.5, -1e-45, 3.4028234663852886e38, 1 / 3)),
    RandomBf16(7),
    External(),
)


def ordered(program: Program, loops: str) -> Program:
    """The program with a loop order that somebody chose."""
    (product,) = program.graph.operations
    graph = replace(program.graph, operations=(replace(product, order=LoopOrder(loops)),))
    return replace(program, graph=graph)


def told_its_way() -> Program:
    """A star of four in which the last chip's sum is to pass the first two."""
    return changed(partitioned(4, "star"), "c3.matmul->c0.recv_2", via=(2, 1))


PROGRAMS = {
    "undecided": lowered(),
    "one chip": compiled(),
    "no certificate": replace(compiled(), certificate=None),
    "tree of 4": sharded(4),
    "star of 5": sharded(5, "star"),
    "tree of 16": sharded(16),
    "FIFOs and semaphores": sharded(3, target=SEMAPHORE),
    "barriers": sharded(4, target=BARRIER),
    "map": shard(compile(MatmulSpec(16, 16, 64, map=RELU), ROOMY), ShardPlan(2), ROOMY),
    "two maps in one": compile(MatmulSpec(9, 7, 5, map=SHIFTED), TOKEN),
    "padded": shard(compile(MatmulSpec(5, 6, 13).padded_k(24), TOKEN), ShardPlan(3), TOKEN),
    "narrow": compile(
        MatmulSpec(8, 8, 8, a_range=ValueRange(-1, 1), b_range=ValueRange(0, 9), sum_bits=8), TOKEN
    ),
    "own values": shard(
        compile(MatmulSpec(8, 8, 16, a=Pattern(11, 5), b=Const(3)), TOKEN), ShardPlan(2), TOKEN
    ),
    "loops the other way round": run_passes(ordered(lowered(), "nm"), TOKEN),
    "undecided on four chips": partitioned(4),
    "told its way": told_its_way(),
    "over shared links": run_passes(told_its_way(), TOKEN),
    "sum on every chip": spread(mesh=Mesh(tp=4), result="all"),
    "grid": spread(mesh=Mesh(row=2, col=2), shard=(("k", "col"), ("m", "row")), result="all"),
    "uneven grid": spread(
        37, 20, 50, mesh=Mesh(row=2, col=3), shard=(("k", "col"), ("n", "row")), uneven=True
    ),
    "cuts without sums": spread(mesh=Mesh(row=2, col=2), shard=(("m", "row"), ("n", "col"))),
    "an axis that cuts nothing": spread(mesh=Mesh(row=2, col=2), shard=(("k", "row"),)),
    "sums of slices on every chip": collective("all_reduce", "ring", 3, rows=8),
    "rows dealt out as columns": collective("all_to_all", "ring-both-ways", 3, rows=12),
    "the greatest of slices, along an axis": collective(
        "reduce", "chain", Mesh(row=2, col=2), axis="col", home=1, combine="max"
    ),
    "further kinds of links": compiled(
        target=get("token-mesh", link_kinds=(LinkKind("cable", 8, 40, 2), LinkKind("bus", 64, 1)))
    ),
    **{f"{type(i).__name__} {n}": changed(lowered(), "a", init=i) for n, i in enumerate(INITS)},
}


def document(program: Program = PROGRAMS["tree of 4"]) -> dict:
    return json.loads(to_json(program))


def refusal_of(text: object) -> ProgramFormatError:
    with pytest.raises(ProgramFormatError) as refusal:
        from_json(text if isinstance(text, str) else json.dumps(text))
    return refusal.value


# --- Nothing is lost ------------------------------------------------------------------------------


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_comes_back_as_it_was(program):
    again = from_json(to_json(program))
    assert again == program
    assert to_json(again) == to_json(program)
    assert repr(again) == repr(program)


def test_the_programs_hold_every_kind_of_record():
    """So the round trip is one of every kind that a program can be made of."""
    held: set[str] = set()
    whole = schema()

    def collect(value: object, described: dict) -> None:
        if "$ref" in described:
            name = described["$ref"].removeprefix("#/$defs/")
            held.add(name)
            described = whole["$defs"][name]
        for each in described.get("anyOf", ()):
            if not complaints(value, each, whole):
                collect(value, each)
        if isinstance(value, dict):
            for name, entry in value.items():
                collect(entry, described.get("properties", {}).get(name, {}))
        if isinstance(value, list):
            for entry, item in zip(value, items_of(described, len(value)), strict=True):
                collect(entry, item)

    for program in PROGRAMS.values():
        collect(document(program), whole)
    assert held == set(whole["$defs"])


def test_equal_numbers_give_equal_text_whatever_their_type():
    with_floats = changed(lowered(), "a", init=ConstFloat(1.0))
    assert to_json(changed(lowered(), "a", init=ConstFloat(1))) == to_json(with_floats)
    values = Values(tuple(np.arange(-3, 3)))
    plain = Values(tuple(range(-3, 3)))
    assert to_json(changed(lowered(), "a", init=values)) == to_json(
        changed(lowered(), "a", init=plain)
    )


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_floats_that_json_does_not_have_are_not_saved(value):
    with pytest.raises(ProgramFormatError, match="program file: program: it cannot be saved: "):
        to_json(changed(lowered(), "a", init=ConstFloat(value)))


def test_values_of_a_foreign_type_are_not_saved():
    with pytest.raises(ProgramFormatError, match="program file: program: it cannot be saved: "):
        to_json(replace(lowered(), name=b"bytes"))


# --- Equal programs give equal text under any hash seed -----------------------------------------

PRINTED = """
import sys
from compiler.serialize import to_json
from compiler.text import to_text
from tests.compiler.test_serialize import PROGRAMS
for program in PROGRAMS.values():
    sys.stdout.write(to_json(program) + to_text(program))
"""


def printed(hash_seed: str) -> bytes:
    """JSON and text of all programs, compiled and printed by a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", PRINTED],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        check=True,
        capture_output=True,
        timeout=300,
    ).stdout


def test_json_and_text_do_not_depend_on_the_hash_seed():
    first = printed("0")
    assert first.count(b"shardwright program") == len(PROGRAMS)
    assert printed("1") == first
    assert printed("4294967295") == first


# --- What does not fit is refused by name -------------------------------------------------------


@pytest.mark.parametrize("value", ["", "{", "nope", '{"format": }', "[1, 2", '"\\x"'])
def test_text_that_is_no_json_is_refused(value):
    error = refusal_of(value)
    assert error.place == "the file"
    assert str(error).startswith("program file: the file: it is no JSON: ")


def test_numbers_that_python_does_not_read_are_refused():
    error = refusal_of(to_json(lowered()).replace('"tile": 8', f'"tile": {"9" * 5000}', 1))
    assert str(error).startswith("program file: the file: it is no JSON: ")


def test_nesting_without_end_is_refused():
    assert str(refusal_of("[" * 100_000)) == "program file: the file: it is nested too deeply"


@pytest.mark.parametrize("value", [[], 3, None, "text", {}, {"format": "other"}, {"format": None}])
def test_another_format_is_refused(value):
    text = json.dumps(value)
    assert str(refusal_of(text)) == "program file: format: it must be 'shardwright program'"


@pytest.mark.parametrize(
    ("version", "shown"),
    [(0, "0"), (4, "4"), ("3", '"3"'), (3.0, "3.0"), (True, "true"), (None, "null")],
)
def test_an_unknown_version_is_refused(version, shown):
    assert str(refusal_of(document() | {"version": version})) == (
        f"program file: version: it is {shown}, but only version 3 is known here"
    )


@pytest.mark.parametrize(
    ("version", "why"),
    [(1, "knew of no meshes, layouts and parts"), (2, "knew of no operation but the product")],
)
def test_a_file_of_an_older_version_is_refused_with_the_way_out(version, why):
    """Whatever it holds: nothing of it is looked at."""
    for program in ({}, None, document()["program"]):
        older = {"format": "shardwright program", "version": version, "program": program}
        assert str(refusal_of(older)) == (
            f"program file: version: it is {version}, but only version 3 is known here; version "
            f"{version} {why}: compile the product anew"
        )


def test_a_document_without_a_program_is_refused():
    rest = {name: value for name, value in document().items() if name != "program"}
    assert str(refusal_of(rest)) == "program file: program: it is missing"
    assert str(refusal_of({**rest, "programme": 1})) == (
        "program file: programme: there is no such field"
    )


def test_a_field_that_stands_twice_is_refused():
    text = to_json(lowered()).replace('"tile": 8,', '"tile": 8, "tile": 9,', 1)
    assert str(refusal_of(text)) == "program file: tile: it stands twice in one record"


def at(value: dict, *path: str | int):
    for step in path:
        value = value[step]
    return value


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ((), "speed"),
        (("target",), "clock"),
        (("graph",), "type"),
        (("graph", "values", 1), "type"),
        (("mesh", "axes", 0), "type"),
        (("stages", 3), "priority"),
        (("stages", 0, "kind", "walk", "loops", 1), "stop"),
        (("buffers", 2, "page"), "rows"),
        (("certificate", "obligations", 0), "holds"),
    ],
)
def test_an_unknown_field_is_refused_where_it_stands(path, name):
    damaged = document()
    at(damaged["program"], *path)[name] = 1
    assert (
        str(refusal_of(damaged)) == f"program file: {dotted(path)}.{name}: there is no such field"
    )


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ((), "graph"),
        (("mesh",), "axes"),
        (("graph", "operations", 0), "map"),
        (("buffers", 2), "holds"),
        ((), "certificate"),
        (("target",), "tile"),
        (("tensors", 8, "value_range"), "low"),
        (("tensors", 0, "part"), "of"),
        (("edges", 4), "handoff"),
        (("schedule", "timings", 5), "first_beat"),
    ],
)
def test_a_missing_field_is_refused_where_it_should_be(path, name):
    damaged = document()
    del at(damaged["program"], *path)[name]
    assert str(refusal_of(damaged)) == f"program file: {dotted(path)}.{name}: it is missing"


LINE = "it must be one line of at most 4096 printable characters, not {}"


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        (("tile",), "8", 'it must be an integer, not "8"'),
        (("tile",), 8.0, "it must be an integer, not 8.0"),
        (("tile",), True, "it must be an integer, not true"),
        (("tile",), None, "it must be an integer, not null"),
        (("name",), 3, "it must be a string, not 3"),
        (("tile",), 2**63, "it must be an integer of at most 64 bits"),
        (("graph", "values", 0, "cols"), -(10**4000), "it must be an integer of at most 64 bits"),
        (("name",), "a\nexact", LINE.format(r"'a\nexact'")),
        (("target", "description"), "\ud800", LINE.format(r"'\ud800'")),
        (("stages", 0, "name"), "a\x00", LINE.format(r"'a\x00'")),
        (("schedule", "bound"), "n" * 4097, LINE.format("'" + "n" * 56 + "...")),
        (("stages",), {}, "it must be a list, not {}"),
        (("links",), "", 'it must be a list, not ""'),
        (("links", 0), [], "it must be a record (Link), not []"),
        (("graph",), None, "it must be a record (Graph), not null"),
        (("schedule",), 4, "it must be a record (Schedule) or null, not 4"),
        (("tensors", 0, "role"), "in", 'it must be one of input, output, not "in"'),
        (("graph", "values", 0, "pad"), [1], "it must have 2 items, not 1"),
        (("graph", "values", 0, "pad", 1), "0", 'it must be an integer, not "0"'),
        (
            ("stages", 0, "engine", "kind"),
            "wheel",
            'it must be one of compute, movement, link, switch, not "wheel"',
        ),
        (
            ("certificate", "obligations", 0, "evidence", 0, 1),
            1.5,
            "it must be an integer or a string, not 1.5",
        ),
        (
            ("edges", 0, "handoff"),
            "ValidReady" * 10,
            "it must be a record (Fifo, ValidReady, Token, Semaphore, Barrier) or null, not "
            '"ValidReadyValidReadyValidReadyValidReadyValidReadyValidR...',
        ),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_where_it_stands(path, value, why):
    damaged = document()
    at(damaged["program"], *path[:-1])[path[-1]] = value
    assert str(refusal_of(damaged)) == f"program file: {dotted(path)}: {why}"


@pytest.mark.parametrize("value", ["1", True, "NaN", None])
def test_what_is_no_finite_number_is_refused_as_a_float(value):
    damaged = document(PROGRAMS["ConstFloat 4"])
    damaged["program"]["tensors"][0]["init"]["value"] = value
    assert str(refusal_of(damaged)) == (
        f"program file: program.tensors[0].init.value: it must be a finite number, not "
        f"{json.dumps(value)}"
    )


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "1" + 400 * "0"])
def test_numbers_that_a_float_does_not_hold_are_refused(number):
    text = to_json(PROGRAMS["ConstFloat 4"]).replace('"value": 0.1', f'"value": {number}')
    error = refusal_of(text)
    assert error.place == "program.tensors[0].init.value"
    assert error.why.startswith("it must be a finite number, not ")


@pytest.mark.parametrize("tag", ["Scan", "load", None, 3, ["Load"]])
def test_an_unknown_kind_of_record_is_refused(tag):
    damaged = document()
    damaged["program"]["stages"][0]["kind"]["type"] = tag
    assert str(refusal_of(damaged)) == (
        "program file: program.stages[0].kind.type: it must be one of Load, MatmulTiles, Recv, "
        f"Fold, Map, Copy, Merge, Split, Store, not {json.dumps(tag)}"
    )


def test_a_record_that_does_not_say_its_kind_is_refused():
    damaged = document()
    del damaged["program"]["buffers"][1]["holds"][0][0]["type"]
    assert str(refusal_of(damaged)) == (
        "program file: program.buffers[1].holds[0][0].type: it must be one of Replicate, Shard, "
        "Partial, At, not null"
    )


def test_what_a_record_itself_refuses_is_refused_where_it_stands():
    damaged = document()
    damaged["program"]["tensors"][2]["value_range"] = {"low": 3, "high": 2}
    assert str(refusal_of(damaged)) == (
        "program file: program.tensors[2].value_range: a range must have low <= high, not low 3 "
        "and high 2"
    )


@pytest.mark.parametrize(
    ("axes", "why"),
    [
        ([], "mesh: mesh must be axes with sizes, as tp=4, not ''"),
        ([{"name": "tp", "size": 0}], "mesh: tp must be a positive integer, not 0"),
        (
            [{"name": "tp", "size": 2}, {"name": "tp", "size": 2}],
            "mesh: an axis must be named once, not 'tp'",
        ),
        (
            [{"name": "tp", "size": 10**6}],
            "mesh: mesh must be of at most 4096 chips, not 'tp=1000000'",
        ),
    ],
)
def test_a_mesh_that_is_none_is_refused_where_it_stands(axes, why):
    damaged = document()
    damaged["program"]["mesh"]["axes"] = axes
    assert str(refusal_of(damaged)) == f"program file: program.mesh: {why}"


# --- Expressions and choices ----------------------------------------------------------------------


def test_expressions_are_saved_as_they_are_printed():
    saved = document(PROGRAMS["map"])["program"]
    assert saved["graph"]["operations"][0]["map"] == "max(op0, 0)"
    kinds = {stage["name"]: stage["kind"] for stage in saved["stages"]}
    assert kinds["c0.fold"] == {"type": "Fold", "body": "(op0 + op1)"}
    assert kinds["c0.map"] == {"type": "Map", "body": "max(op0, 0)"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "EXPRESSION"),
        ("op0 +", "EXPRESSION"),
        ("(op0 + op1", "EXPRESSION"),
        ("min(op0, 1)", "EXPRESSION"),
        ("__import__('os')", "EXPRESSION"),
        ("(" * 100_000, "EXPRESSION"),
        (3, "it must be an expression, as (op0 + op1), not 3"),
        (None, "it must be an expression, as (op0 + op1), not null"),
        (
            {"type": "Operand", "index": 0},
            'it must be an expression, as (op0 + op1), not {"type": "Operand", "index": 0}',
        ),
    ],
)
def test_what_is_no_expression_is_refused_where_it_stands(text, why):
    damaged = document()
    place = next(i for i, s in enumerate(damaged["program"]["stages"]) if s["name"] == "c0.fold")
    damaged["program"]["stages"][place]["kind"]["body"] = text
    error = refusal_of(damaged)
    assert error.place == f"program.stages[{place}].kind.body"
    assert len(str(error)) < 300
    if why != "EXPRESSION":
        assert error.why == why


def test_who_chose_is_saved_where_it_was_not_by_hand():
    chosen = run_passes(changed(lowered(), "partial", depth=Depth(7)), TOKEN)
    saved = document(chosen)["program"]
    depths = {buffer["name"]: buffer["depth"] for buffer in saved["buffers"]}
    assert depths["partial"] == {"pages": 7}
    assert depths["a_pages"] == {"pages": 2, "by": "compiler"}
    assert {stage["engine"]["by"] for stage in saved["stages"]} == {"compiler"}
    assert {edge["handoff"]["by"] for edge in saved["edges"]} == {"compiler"}
    assert saved["graph"]["operations"][0]["order"] == {"loops": "mn", "by": "compiler"}
    again = from_json(json.dumps(document(chosen)))
    assert repr(again.buffers) == repr(chosen.buffers)


@pytest.mark.parametrize("by", ["nobody", "", None, 1])
def test_who_chose_is_hand_or_compiler(by):
    damaged = document()
    damaged["program"]["buffers"][0]["depth"]["by"] = by
    assert str(refusal_of(damaged)) == (
        f"program file: program.buffers[0].depth.by: it must be one of hand, compiler, not "
        f"{json.dumps(by)}"
    )


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_file_goes_on_where_the_program_stood(program):
    """Passes decide on it as on the program itself: what is by hand stays, and nothing else."""

    def decided(start: Program) -> str:
        try:
            return to_json(run_passes(undecided(start), start.target))
        except ShardwrightError as error:
            return str(error)

    assert decided(from_json(to_json(program))) == decided(program)


def dotted(path: tuple[str | int, ...]) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "program" + "".join(steps)


# --- Random damage ------------------------------------------------------------------------------

JSON_VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-3, 3),
        st.integers(),
        st.floats(),
        st.sampled_from(["Load", "Token", "Partial", "input", "c0.partial", ""]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["type", "value", "left"]), inner, max_size=3),
    ),
    max_leaves=4,
)
SMALL = ("one chip", "map", "FIFOs and semaphores", "barriers", "FloatValues 6", "Values 3")


def places(value: object, path: tuple = ()) -> list[tuple]:
    """Paths to all that a document holds."""
    steps = ()
    if isinstance(value, dict):
        steps = tuple(value)
    elif isinstance(value, list):
        steps = range(len(value))
    return [path, *(p for step in steps for p in places(value[step], (*path, step)))]


@given(data=st.data())
def test_damage_is_refused_or_gives_a_program_that_can_be_saved(data):
    damaged = document(PROGRAMS[data.draw(st.sampled_from(SMALL))])
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places(damaged)))
        assume(path)
        holder = at(damaged, *path[:-1])
        if data.draw(st.booleans()):
            del holder[path[-1]]
        else:
            holder[path[-1]] = data.draw(JSON_VALUES)
    assert_refused_or_whole(json.dumps(damaged))


@given(position=st.floats(0, 1), length=st.integers(0, 30), put=st.text(max_size=3))
@example(position=0, length=0, put="\ufeff")
@example(position=0.5, length=10**6, put="")
def test_damaged_text_is_refused_or_gives_a_program_that_can_be_saved(position, length, put):
    text = to_json(PROGRAMS["FIFOs and semaphores"])
    begin = int(position * len(text))
    assert_refused_or_whole(text[:begin] + put + text[begin + length :])


def assert_refused_or_whole(text: str) -> None:
    try:
        program = from_json(text)
    except ShardwrightError:
        return
    assert isinstance(program, Program)
    assert from_json(to_json(program)) == program
    assert complaints(json.loads(to_json(program)), schema()) == []


# --- The schema ---------------------------------------------------------------------------------

TYPES = {
    "null": type(None),
    "boolean": bool,
    "integer": int,
    "number": int | float,
    "string": str,
    "array": list,
    "object": dict,
}


def items_of(described: dict, length: int) -> list[dict]:
    prefix = described.get("prefixItems", [])
    return prefix or [described.get("items", {})] * length


def complaints(value: object, described: dict, root: dict | None = None) -> list[str]:
    """What a JSON schema, in the few words that ours uses, has against a value."""
    root = root or schema()
    known = {"$schema", "$defs", "title", "description", "$ref", "anyOf", "const", "enum", "type"}
    known |= {"properties", "required", "additionalProperties", "items", "prefixItems", "minItems"}
    assert described.keys() <= known
    found: list[str] = []
    if "$ref" in described:
        target = root["$defs"][described["$ref"].removeprefix("#/$defs/")]
        found += complaints(value, target, root)
    if "anyOf" in described and all(complaints(value, each, root) for each in described["anyOf"]):
        found.append(f"{value!r} is none of these")
    if "const" in described and value != described["const"]:
        found.append(f"{value!r} is not {described['const']!r}")
    if "enum" in described and value not in described["enum"]:
        found.append(f"{value!r} is not one of {described['enum']}")
    kind = described.get("type", "")
    if kind:
        fits = isinstance(value, TYPES[kind])
        if isinstance(value, bool) and kind != "boolean":
            fits = False
        if not fits:
            return [*found, f"{value!r} is no {kind}"]
    if kind == "object":
        found += [f"{name} is missing" for name in described["required"] if name not in value]
        for name, entry in value.items():
            if name in described["properties"]:
                found += complaints(entry, described["properties"][name], root)
            else:
                found.append(f"{name} is unknown")
    if kind == "array":
        items = items_of(described, len(value))
        if len(items) != len(value):
            found.append(f"{len(value)} items")
        for entry, item in zip(value, items, strict=False):
            found += complaints(entry, item, root)
    return found


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_the_schema_describes_what_is_saved(program):
    assert complaints(document(program), schema()) == []


@pytest.mark.parametrize(
    "path", [("program", "tile"), ("program", "stages", 0, "kind"), ("version",)], ids=str
)
def test_the_schema_has_something_against_what_does_not_fit(path):
    damaged = document()
    at(damaged, *path[:-1])[path[-1]] = "x"
    assert complaints(damaged, schema())
    del at(damaged, *path[:-1])[path[-1]]
    assert complaints(damaged, schema())


def test_every_record_of_the_schema_is_described():
    for name, definition in schema()["$defs"].items():
        assert definition["description"].endswith("."), name
        assert definition["additionalProperties"] is False


def test_the_published_schema_is_the_one_that_holds():
    published = (ROOT / "docs" / "program.schema.json").read_text(encoding="utf-8")
    assert published == json.dumps(schema(), indent=1) + "\n"
