"""A planning target is published figures, each with its source, and nothing is compiled for it."""

import re
from dataclasses import replace

import pytest

from compiler import targets
from compiler.errors import (
    PlanningOnlyError,
    TargetError,
    TargetValueError,
    UnknownTargetError,
    UnsourcedFigureError,
)
from compiler.pipeline import compile
from compiler.targets import MemoryTier, PlanningTarget, Target, planning
from compiler.workload import MatmulSpec

TOML = """
name = "paper"
description = "a machine on paper"
planning_only = true
max_chips = 4
link_bytes_per_second = 50

[peak_operations_per_second]
bf16 = 1000

[[memory]]
name = "S"
capacity_bytes = 100

[[memory]]
name = "H"
capacity_bytes = 2000
bytes_per_second = 30

[sources]
max_chips = "page 1"
link_bytes_per_second = "page 2"
"peak_operations_per_second.bf16" = "page 3"
"memory.S.capacity_bytes" = "page 4"
"memory.S.bytes_per_second" = "unknown"
"memory.H.capacity_bytes" = "page 5"
"memory.H.bytes_per_second" = "page 6"
"""

PAPER = PlanningTarget(
    name="paper",
    description="a machine on paper",
    memory=(MemoryTier("S", 100), MemoryTier("H", 2000, 30)),
    peak_operations_per_second=(("bf16", 1000),),
    link_bytes_per_second=50,
    max_chips=4,
    sources=(
        ("max_chips", "page 1"),
        ("link_bytes_per_second", "page 2"),
        ("peak_operations_per_second.bf16", "page 3"),
        ("memory.S.capacity_bytes", "page 4"),
        ("memory.S.bytes_per_second", "unknown"),
        ("memory.H.capacity_bytes", "page 5"),
        ("memory.H.bytes_per_second", "page 6"),
    ),
)

EXECUTABLE = ", ".join(targets.names())
KNOWN = (
    "description, link_bytes_per_second, max_chips, memory, name, peak_operations_per_second, "
    "planning_only, sources"
)


@pytest.fixture
def written(tmp_path):
    def write(text: str):
        path = tmp_path / "paper.toml"
        path.write_text(text)
        return path

    return write


def test_a_file_describes_a_planning_target(written):
    assert planning.load(written(TOML)) == PAPER
    assert targets.find_any(str(written(TOML))) == PAPER


def test_figures_are_named_as_their_sources_are():
    assert PAPER.figures() == {
        "max_chips": 4,
        "link_bytes_per_second": 50,
        "peak_operations_per_second.bf16": 1000,
        "memory.S.capacity_bytes": 100,
        "memory.S.bytes_per_second": None,
        "memory.H.capacity_bytes": 2000,
        "memory.H.bytes_per_second": 30,
    }
    assert (PAPER.peak("bf16"), PAPER.peak("int8")) == (1000, None)


def test_a_link_of_unknown_rate_still_has_a_source(written):
    path = written(TOML.replace("link_bytes_per_second = 50\n", ""))
    assert planning.load(path) == replace(PAPER, link_bytes_per_second=None)


@pytest.mark.parametrize("name", planning.names())
def test_every_built_in_figure_has_a_source(name):
    target = planning.get(name)
    sources = dict(target.sources)
    assert target.name == name
    assert target.planning_only
    assert set(sources) == set(target.figures())
    for figure, value in target.figures().items():
        if value is None:
            assert sources[figure].startswith("unknown: ")
        else:
            assert "https://" in sources[figure] or "Hot Chips 2026" in sources[figure]


def test_the_figures_of_sn50_are_those_published():
    assert planning.get("sn50").figures() == {
        "max_chips": 256,
        "link_bytes_per_second": 10 * 800 * 10**9 // 8,
        "peak_operations_per_second.fp8": 3200 * 10**12,
        "peak_operations_per_second.bf16": 25_600 * 10**12 // 16,
        "memory.SRAM.capacity_bytes": 432 * 10**6,
        "memory.SRAM.bytes_per_second": None,
        "memory.HBM2E.capacity_bytes": 64 * 10**9,
        "memory.HBM2E.bytes_per_second": 18 * 10**11,
        "memory.DDR5.capacity_bytes": 2 * 10**12,
        "memory.DDR5.bytes_per_second": None,
    }


def test_names_of_planning_and_of_executable_targets_differ():
    assert "sn50" in planning.names()
    assert not set(planning.names()) & set(targets.names())


def test_find_any_finds_both_kinds():
    assert targets.find_any("token-mesh") == targets.get("token-mesh")
    assert targets.find_any("sn50") == planning.get("sn50")
    with pytest.raises(UnknownTargetError) as refusal:
        targets.find_any("torus")
    assert str(refusal.value) == (
        f"no target is named 'torus'; the targets are {EXECUTABLE}, sn50; a target of your own is "
        f"a file whose name ends in .toml"
    )


def test_a_name_that_ends_in_toml_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [
        "name = 'mine'\ndescription = ''\ntile = 4\nhandoffs = ['Fifo']\nlink_ports = 0\n",
        "link_width_bits = 8\nlink_latency_cycles = 1\ncompute_engines = 2\n",
        "movement_engines = 3\nmemory_bytes = 4096\n",
    ]
    (tmp_path / "mine.toml").write_text("".join(lines))
    assert isinstance(targets.find("mine.toml"), Target)
    assert targets.find("mine.toml", tile=2) == replace(targets.find_any("mine.toml"), tile=2)
    assert targets.find("token-mesh") == targets.get("token-mesh")
    for find in (targets.find, targets.find_any):
        with pytest.raises(TargetError, match=r"target file 'token-mesh\.toml' cannot be read"):
            find("token-mesh.toml")


def only_planned(name: str) -> str:
    return (
        f"target {name!r} is for planning only (shardwright fit): it states published figures, "
        f"not a machine that programs run on; those are {EXECUTABLE}"
    )


def test_no_program_is_compiled_for_it(written):
    path = str(written(TOML))
    for name, refused in (
        ("sn50", lambda: targets.get("sn50")),
        ("sn50", lambda: targets.get("sn50", tile=4)),
        ("sn50", lambda: targets.find("sn50")),
        ("sn50", lambda: targets.executable(planning.get("sn50"))),
        ("sn50", lambda: compile(MatmulSpec(8, 8, 8), planning.get("sn50"))),
        (path, lambda: targets.load(path)),
        (path, lambda: targets.find(path)),
    ):
        with pytest.raises(PlanningOnlyError) as refusal:
            refused()
        assert str(refusal.value) == only_planned(name)
        assert refusal.value.executable == targets.names()
    token = targets.get("token-mesh")
    assert targets.executable(token) is token


@pytest.mark.parametrize("figure", PAPER.figures())
def test_a_figure_without_a_source_is_refused(figure):
    sources = tuple(source for source in PAPER.sources if source[0] != figure)
    with pytest.raises(UnsourcedFigureError) as refusal:
        replace(PAPER, sources=sources)
    assert str(refusal.value) == (
        f"target 'paper': figure {figure!r} has no source; every figure, known or unknown, has "
        f"one entry in [sources] that says where it comes from"
    )


def test_a_source_without_a_figure_is_refused():
    with pytest.raises(
        UnsourcedFigureError, match=r"figure 'memory\.X\.capacity_bytes' is not state"
    ):
        replace(PAPER, sources=(*PAPER.sources, ("memory.X.capacity_bytes", "page 9")))


@pytest.mark.parametrize("source", ["", 7, None])
def test_a_source_is_a_text(source):
    changed = (("max_chips", source), *PAPER.sources[1:])
    with pytest.raises(TargetValueError) as refusal:
        replace(PAPER, sources=changed)
    assert str(refusal.value) == (
        f"target 'paper': sources.max_chips must be a text, not {source!r}"
    )


@pytest.mark.parametrize("value", [0, -1, 1.5, "4", True])
@pytest.mark.parametrize(
    ("figure", "changed"),
    [
        ("max_chips", lambda value: {"max_chips": value}),
        ("link_bytes_per_second", lambda value: {"link_bytes_per_second": value}),
        (
            "peak_operations_per_second.bf16",
            lambda value: {"peak_operations_per_second": (("bf16", value),)},
        ),
        ("memory.S.capacity_bytes", lambda value: {"memory": (MemoryTier("S", value),)}),
        ("memory.S.bytes_per_second", lambda value: {"memory": (MemoryTier("S", 1, value),)}),
    ],
)
def test_a_figure_out_of_its_range_is_refused(figure, changed, value):
    with pytest.raises(TargetValueError) as refusal:
        replace(PAPER, **changed(value))
    assert str(refusal.value) == (
        f"target 'paper': {figure} must be a positive integer, not {value!r}"
    )


@pytest.mark.parametrize("figure", ["max_chips", "memory.S.capacity_bytes"])
def test_chips_and_capacities_cannot_be_unknown(figure):
    change = {"max_chips": None} if figure == "max_chips" else {"memory": (MemoryTier("S", None),)}
    with pytest.raises(TargetValueError, match=f"{figure} must be a positive integer, not None"):
        replace(PAPER, **change)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"name": 5}, "target '5': name must be a string, not 5"),
        ({"description": None}, "target 'paper': description must be a string, not None"),
        ({"planning_only": False}, "target 'paper': planning_only must be true, not False"),
        (
            {"memory": ()},
            "target 'paper': memory must be a list of at least one [[memory]] table, not ()",
        ),
        (
            {"memory": (MemoryTier("S", 1), MemoryTier("S", 2))},
            "target 'paper': memory must be of different names, not (",
        ),
        ({"memory": (MemoryTier(5, 1),)}, "target 'paper': memory must be of different names"),
    ],
)
def test_other_fields_out_of_their_range_are_refused(change, text):
    with pytest.raises(TargetValueError, match="^" + re.escape(text)):
        replace(PAPER, **change)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("max_chips = 4\n", "", f": field 'max_chips' is missing; the fields are {KNOWN}"),
        ("max_chips = 4\n", "max_chips = 4\ntile = 8\n", ": field 'tile' is unknown; the fields"),
        (
            'name = "S"\n',
            "",
            ", memory: field 'name' is missing; the fields are bytes_per_second, capacity_bytes, n",
        ),
        ('name = "S"\n', 'name = "S"\nports = 2\n', ", memory: field 'ports' is unknown; the fi"),
        (
            "[peak_operations_per_second]\nbf16 = 1000\n",
            "peak_operations_per_second = 1\n",
            ": field 'peak_operations_per_second' must be a table, not 1",
        ),
        (
            TOML[TOML.index("[[memory]]") : TOML.index("[sources]")],
            "[memory]\nS = 1\n",
            ": field 'memory' must be a list of [[memory]] tables, not {'S': 1}",
        ),
    ],
)
def test_a_wrong_field_of_a_file_is_named(written, old, new, fault):
    assert old in TOML
    path = written(TOML.replace(old, new, 1))
    for load in (planning.load, lambda path: targets.find_any(str(path))):
        with pytest.raises(TargetError) as refusal:
            load(path)
        assert str(refusal.value).startswith(f"target file {str(path)!r}{fault}")


def test_a_memory_is_a_table(written):
    text = TOML[: TOML.index("[[memory]]")] + TOML[TOML.index("[sources]") :]
    path = written(text.replace("max_chips = 4\n", "max_chips = 4\nmemory = [3]\n", 1))
    with pytest.raises(TargetError, match=r"memory must be a list of \[\[memory\]\] tables, not 3"):
        planning.load(path)


def test_all_are_errors_of_the_target():
    for error in (PlanningOnlyError, UnsourcedFigureError):
        assert issubclass(error, TargetError)
