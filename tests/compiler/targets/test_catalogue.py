"""Targets by name, and from a file of the user's."""

import re
from dataclasses import asdict, fields, replace
from pathlib import Path

import pytest

from compiler import targets
from compiler.errors import TargetError, TargetValueError, UnknownTargetError
from compiler.pipeline import compile, shard
from compiler.shard_plan import ShardPlan
from compiler.targets import LinkKind, Target
from compiler.workload import MatmulSpec

NAMES = sorted(field.name for field in fields(Target))
FIELDS = sorted({*NAMES} - {"link_kinds"} | {"links"})
"""What a file has: a table for each further kind of links."""
OPTIONAL = {"link_flit_cycles": 1, "link_kinds": ()}

TOML = """
name = "mine"
description = "a small machine"
tile = 4
handoffs = ["Fifo", "Semaphore"]
link_ports = 2
link_width_bits = 32
link_latency_cycles = 3
compute_engines = 2
movement_engines = 3
memory_bytes = 65_536
"""


@pytest.fixture
def written(tmp_path):
    """Writes a target file, and says where it is."""

    def write(text: str | bytes) -> Path:
        path = tmp_path / "mine.toml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def without(name: str) -> str:
    return "".join(line for line in TOML.splitlines(True) if not line.startswith(f"{name} ="))


def test_built_in_targets_are_listed_in_order():
    assert {"local-only", "semaphore-mesh", "token-mesh"} <= set(targets.names())
    assert list(targets.names()) == sorted(targets.names())


@pytest.mark.parametrize("name", targets.names())
def test_a_target_has_the_name_under_which_it_is_found(name):
    target = targets.get(name)
    assert target.name == name
    assert target.description
    assert target.local_handoff


@pytest.mark.parametrize("name", targets.names())
def test_a_built_in_target_shards_if_it_can_cross(name):
    target = targets.get(name)
    program = compile(MatmulSpec(8, 8, 16), target)
    if target.crossing_handoff:
        program = shard(program, ShardPlan(2), target)
    assert program.chip_count == (2 if target.crossing_handoff else 1)


def test_fields_can_be_changed():
    target = targets.get("token-mesh", tile=4, link_width_bits=64)
    assert target == replace(targets.get("token-mesh"), tile=4, link_width_bits=64)


def test_an_unknown_target_is_refused_with_those_that_there_are():
    with pytest.raises(UnknownTargetError) as refusal:
        targets.get("torus")
    assert (refusal.value.name, refusal.value.known) == ("torus", targets.names())
    assert str(refusal.value) == (
        f"no target is named 'torus'; the targets are {', '.join(targets.names())}; a target of "
        f"your own is a file whose name ends in .toml"
    )


@pytest.mark.parametrize("name", ["", "token-mesh.toml", "../targets/token-mesh"])
def test_paths_are_no_names(name):
    with pytest.raises(UnknownTargetError, match=re.escape(repr(name))):
        targets.get(name)


def test_an_unknown_field_cannot_be_changed(written):
    text = f"colour must be one of {', '.join(NAMES)}, not 'red'"
    for change in (
        lambda: targets.get("token-mesh", colour="red"),
        lambda: targets.load(written(TOML), colour="red"),
    ):
        with pytest.raises(TargetValueError, match=re.escape(text)) as refusal:
            change()
        assert (refusal.value.field, refusal.value.value) == ("colour", "red")


def test_a_field_cannot_be_changed_out_of_its_range():
    with pytest.raises(TargetValueError, match="tile must be an integer of at least 1, not 0"):
        targets.get("token-mesh", tile=0)


def test_a_file_of_the_users_describes_a_target(written):
    expected = {
        "name": "mine",
        "description": "a small machine",
        "tile": 4,
        "handoffs": ("Fifo", "Semaphore"),
        "link_ports": 2,
        "link_width_bits": 32,
        "link_latency_cycles": 3,
        "compute_engines": 2,
        "movement_engines": 3,
        "memory_bytes": 65536,
    }
    path = written(TOML)
    assert asdict(targets.load(path)) == expected | OPTIONAL
    assert asdict(targets.load(str(path), tile=2)) == expected | OPTIONAL | {"tile": 2}
    slow = written(TOML + "link_flit_cycles = 3\n")
    assert targets.load(slow).link_flit_cycles == 3


def test_a_file_may_say_that_it_is_not_for_planning(written):
    path = written(TOML + "planning_only = false\n")
    for find in (targets.load, lambda path: targets.find_any(str(path))):
        assert asdict(find(path)) == asdict(targets.load(written(TOML)))
        path = written(TOML + "planning_only = false\n")


@pytest.mark.parametrize("value", ["0", '"no"', "[]"])
def test_whether_it_is_for_planning_is_true_or_false(written, value):
    path = written(TOML + f"planning_only = {value}\n")
    for find in (targets.load, lambda path: targets.find_any(str(path))):
        with pytest.raises(TargetValueError, match="planning_only must be true or false, not "):
            find(path)


def test_a_users_target_compiles_and_shards(written):
    target = targets.load(written(TOML))
    program = shard(compile(MatmulSpec(8, 8, 32), target), ShardPlan(4), target)
    assert program.target == target
    assert {(k.width_bits, k.latency_cycles) for k in program.links} == {(32, 3)}


@pytest.mark.parametrize("name", sorted({*FIELDS} - {*OPTIONAL, "links"}))
def test_a_missing_field_is_named(written, name):
    path = written(without(name))
    with pytest.raises(TargetError) as refusal:
        targets.load(path)
    assert str(refusal.value) == (
        f"target file {str(path)!r}: field {name!r} is missing; the fields are {', '.join(FIELDS)}"
    )


def test_an_unknown_field_is_named(written):
    path = written(TOML + "colour = 'red'\n")
    with pytest.raises(TargetError) as refusal:
        targets.load(path)
    assert str(refusal.value) == (
        f"target file {str(path)!r}: field 'colour' is unknown; the fields are {', '.join(FIELDS)}"
    )


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("tile = 0", "tile must be an integer of at least 1, not 0"),
        ("tile = 8.0", "tile must be an integer of at least 1, not 8.0"),
        ("tile = '8'", "tile must be an integer of at least 1, not '8'"),
        ("handoffs = 'Token'", "handoffs must be a list of hand-offs, not 'Token'"),
        ("handoffs = 5", "handoffs must be a list of hand-offs, not 5"),
        ("handoffs = ['Pigeon']", "handoffs must be of ValidReady, Fifo, Token, Semaphore, Barr"),
        ("handoffs = [['Token']]", "handoffs must be of ValidReady"),
        ("name = 7", "target '7': name must be a string, not 7"),
    ],
)
def test_a_field_out_of_its_range_is_refused(written, line, text):
    name = line.split(" = ")[0]
    with pytest.raises(TargetValueError, match=re.escape(text)) as refusal:
        targets.load(written(f"{without(name)}{line}\n"))
    assert refusal.value.field == name


LINKS = """
[[links]]
name = "cable"
width_bits = 8
latency_cycles = 40
flit_cycles = 2

[[links]]
name = "backplane"
width_bits = 64
latency_cycles = 2
"""


def test_a_target_may_have_several_kinds_of_links(written):
    target = targets.load(written(TOML + LINKS))
    assert target.link_kinds == (LinkKind("cable", 8, 40, 2), LinkKind("backplane", 64, 2))
    assert [str(kind) for kind in target.links] == [
        "32 bits, 3 cycles each way",
        "64 bits, 2 cycles each way",
        "8 bits every 2 cycles, 40 cycles each way",
    ]


@pytest.mark.parametrize(
    ("tables", "text"),
    [
        ("links = 3", "links must be a list of tables, not 3"),
        ("links = [3]", "links must be a list of tables, not of 3"),
        ("[[links]]\nname = 'x'\nwidth_bits = 8", ", links: field 'latency_cycles' is missing"),
        (LINKS + "speed = 1", ", links: field 'speed' is unknown; the fields are flit_cycles, lat"),
        (LINKS.replace("= 40", "= 0"), "links[0].latency_cycles must be an integer of at least 1"),
        (LINKS.replace("= 64", "= 6.4"), "links[1].width_bits must be an integer of at least 1, n"),
        (LINKS.replace("backplane", "cable"), "links[1].name must be of its own, not 'cable'"),
        (LINKS.replace("cable", ""), "links[0].name must be at most 128 letters"),
        (LINKS.replace("cable", "a/b"), "beginning with a letter, in words joined by"),
        (LINKS.replace("= 40", "= 8193"), "links[0].latency_cycles must be at most 8192, not 8193"),
    ],
)
def test_kinds_of_links_that_cannot_be_are_refused(written, tables, text):
    with pytest.raises(TargetError, match=re.escape(text)):
        targets.load(written(f"{TOML}{tables}\n"))


def test_what_is_no_toml_is_refused(written):
    path = written("tile: 8\n")
    with pytest.raises(TargetError) as refusal:
        targets.load(path)
    assert str(refusal.value).startswith(f"target file {str(path)!r} is no TOML: ")
    assert "line 1" in str(refusal.value)


def test_what_is_no_text_is_refused(written):
    path = written(b"\xff\xfe\x00")
    with pytest.raises(TargetError, match=r"cannot be read: .*utf-8"):
        targets.load(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(TargetError) as refusal:
            targets.load(path)
        assert str(refusal.value).startswith(f"target file {str(path)!r} cannot be read: ")
