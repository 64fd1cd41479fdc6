"""What is built, and what is found built."""

import shutil
from dataclasses import replace

import pytest

from sim.compiled import build as module
from sim.compiled.build import build
from sim.compiled.cache import ModelCache
from sim.compiled.engine import CompiledEngine
from tests.hw.hand_built import relay
from tests.programs import program_for
from tests.sim.compiled.needs import BUILDS_MODELS

OPTIONS = {"tile": 2, "link_width_bits": 64}


@pytest.fixture
def compiled(monkeypatch) -> list[str]:
    """Names of what is compiled, which is nothing but an empty file each."""
    names = []

    def compile_library(source, library, name, tools):
        names.append(name)
        library.write_bytes(source.read_bytes())

    monkeypatch.setattr(module, "tool_versions", lambda: ("tools",))
    monkeypatch.setattr(module, "compile_library", compile_library)
    monkeypatch.setattr(module, "model_rtlil", lambda program, chip: f"chip {chip}")
    monkeypatch.setattr(module, "model_source", lambda rtlil, ports, tools: rtlil)
    return names


def test_equal_chips_share_a_library(compiled, tmp_path):
    _, libraries = build(program_for(4, 4, 32, chips=8, **OPTIONS), ModelCache(tmp_path))
    # A tree over eight chips: who receives thrice, once, twice or never.
    assert sorted(compiled) == ["chip 0", "chip 1", "chip 2", "chip 4", "the driver"]
    assert libraries[1] == libraries[3] == libraries[5] == libraries[7]
    assert libraries[2] == libraries[6]
    assert len({*libraries.values()}) == 4


def test_what_is_built_is_not_built_again(compiled, tmp_path):
    program = program_for(4, 4, 16, chips=4, **OPTIONS)
    first = build(program, ModelCache(tmp_path))
    assert len(compiled) == 4
    assert build(program, ModelCache(tmp_path)) == first
    assert len(compiled) == 4


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((4, 4, 32), {}),  # other walks
        ((4, 8, 16), {}),  # more results
        ((4, 4, 16), {"link_width_bits": 32}),
        ((4, 4, 16), {"tile": 4}),
        ((4, 4, 16), {"target": "semaphore-mesh"}),
    ],
)
def test_other_chips_have_libraries_of_their_own(compiled, tmp_path, shape, options):
    _, before = build(program_for(4, 4, 16, chips=2, **OPTIONS), ModelCache(tmp_path))
    _, after = build(program_for(*shape, chips=2, **{**OPTIONS, **options}), ModelCache(tmp_path))
    assert not {*before.values()} & {*after.values()}


def test_chips_that_differ_in_the_amount_of_work_alone_have_libraries_of_their_own(
    compiled, tmp_path
):
    # A chip that only passes pages on is done when it has passed on all of them.
    _, before = build(relay(8), ModelCache(tmp_path))
    _, after = build(relay(16), ModelCache(tmp_path))
    assert before[1] != after[1]


def test_links_of_another_latency_take_the_same_libraries(compiled, tmp_path):
    program = program_for(4, 4, 16, chips=2, **OPTIONS)
    slower = replace(
        program, links=tuple(replace(link, latency_cycles=50) for link in program.links)
    )
    assert build(program, ModelCache(tmp_path)) == build(slower, ModelCache(tmp_path))
    assert len(compiled) == 3


@pytest.mark.parametrize("changed", ["tool_versions", "_sources"])
def test_other_tools_and_other_sources_build_anew(compiled, tmp_path, monkeypatch, changed):
    program = program_for(4, 4, 16, chips=2, **OPTIONS)
    _, before = build(program, ModelCache(tmp_path))
    monkeypatch.setattr(module, changed, lambda: ("others",))
    _, after = build(program, ModelCache(tmp_path))
    assert not {*before.values()} & {*after.values()}


def test_every_source_that_shapes_a_chip_counts():
    names = {path.name for path in module._source_files()}
    assert {"chip.py", "tile_unit.py", "convert.py", "walk.py"} <= names
    assert {"model.cc", "driver.cc", "values.h", "lanes.h", "glue.py", "cxxrtl.h"} <= names


class TestDamage:
    """A library that is not what was built."""

    pytestmark = BUILDS_MODELS

    @pytest.mark.parametrize(
        "damage",
        [
            lambda content: b"",
            lambda content: content[: len(content) // 2],
            lambda content: content[:5000] + bytes([content[5000] ^ 1]) + content[5001:],
            lambda content: b"not a library",
        ],
        ids=["empty", "cut off", "one bit", "something else"],
    )
    def test_is_built_again(self, models, tmp_path, damage):
        program = program_for(1, 1, 1, tile=1, link_width_bits=8, link_latency_cycles=1)
        expected = CompiledEngine(program, cache=models).run({}, max_cycles=100)
        driver, libraries = build(program, ModelCache(models))
        shutil.copy(libraries[0], tmp_path)
        (tmp_path / driver.name).write_bytes(damage(driver.read_bytes()))
        assert not ModelCache(tmp_path).has(driver.stem)
        assert CompiledEngine(program, cache=tmp_path).run({}, max_cycles=100) == expected
        assert ModelCache(tmp_path).has(driver.stem)
