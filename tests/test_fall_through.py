"""Beats that fall through buffers: exact and on time on every engine; nothing else changes."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from compiler.check import check
from compiler.check.token_run import TokenRun
from compiler.ir.body import Literal, Max, Operand
from compiler.ir.program import Program
from compiler.ir.stage import Copy, Fold, Map, Merge, Split
from compiler.passes.lower import lower
from compiler.passes.partition import partition
from compiler.pipeline import compile, run_passes
from compiler.serialize import from_json, to_json
from compiler.shard_plan import ShardPlan
from compiler.targets import get
from compiler.text import to_text
from compiler.timing.steady_state import follow
from compiler.workload import MatmulSpec
from hw.chip import Chip
from hw.verilog.convert import to_rtlil
from tests.compiler.programs import changed
from tests.compiler.random_programs import (
    falling_through,
    parts_of,
    random_falling_program,
    with_depths,
)
from tests.cosim.configurations import ENGINES
from tests.cosim.tools import needs
from tests.programs import random_operands
from tests.tiers import chosen

RELU = Max(Operand(0), Literal(0))


def reduced(reduce: str, target: str = "token-mesh") -> Program:
    """Mapped sums of four chips that all of them get."""
    plan = ShardPlan(4, reduce, result="all")
    return compile(MatmulSpec(4, 6, 16, map=RELU), get(target, tile=2, link_ports=16), plan)


def switched(tile: int = 2) -> Program:
    """Chips 2 and 3 send past chip 1, so three edges share the link to the home."""
    target = get("token-mesh", tile=tile, link_ports=16)
    spec = MatmulSpec(2 * tile, 3 * tile, 8 * tile)
    program = partition(lower(spec, target), ShardPlan(4, "star"), target)
    for sender in (2, 3):
        edge = program.edge_by_buffer[f"c{sender}.partial"]
        program = changed(program, edge.name, via=(1,))
    return run_passes(program, target)


PROGRAMS = {
    "star": lambda: reduced("star"),
    "tree": lambda: reduced("tree"),
    "tree with semaphores": lambda: reduced("tree", "semaphore-mesh"),
    "shared link": switched,
    "shared link, tiles of 1": lambda: switched(1),
}
FILLERS = {
    "star": {Fold, Map, Copy},
    "tree": {Fold, Map, Copy},
    "tree with semaphores": {Fold, Map, Copy},
    "shared link": {Fold, Merge, Split},
    "shared link, tiles of 1": {Fold, Merge, Split},
}


@cache
def plain(name: str) -> Program:
    return PROGRAMS[name]()


@cache
def falling(name: str) -> Program:
    return falling_through(plain(name))


each_program = pytest.mark.parametrize("name", PROGRAMS)


@pytest.fixture(autouse=True)
def models(tmp_path_factory, monkeypatch):
    """Models of the compiled engine go where all workers of this run find them."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if base.name.startswith("popen-") else base
    monkeypatch.setattr("sim.compiled.cache.cache_folder", lambda: shared / "models")


def assert_runs(engine: str, program: Program) -> None:
    needs(engine)
    a, b = random_operands(program, seed=3)
    result = ENGINES[engine](program, a, b)
    total = a @ b
    assert np.array_equal(result.c, np.maximum(total, 0) if program.claim.map else total)
    assert result.cycles == program.schedule.cycles


@each_program
def test_it_is_folds_maps_and_switches_whose_buffers_fall_through(name):
    program = falling(name)
    falls = {buffer.name for buffer in program.buffers if buffer.fall_through}
    assert {type(s.kind) for s in program.stages if falls & {*s.outs}} == FILLERS[name]


@each_program
def test_beats_pass_sooner(name):
    assert falling(name).schedule.cycles < plain(name).schedule.cycles


@each_program
def test_amaranth_is_exact_and_takes_the_predicted_cycles(name):
    assert_runs("amaranth", falling(name))


@pytest.mark.cosim
@pytest.mark.parametrize(
    "point",
    chosen(
        [(name, engine) for name in PROGRAMS for engine in ("compiled", "icarus")],
        [("star", "icarus"), ("shared link", "compiled")],
        ids=" ".join,
    ),
)
def test_other_engines_are_exact_and_take_the_predicted_cycles(point):
    name, engine = point
    assert_runs(engine, falling(name))


@pytest.mark.parametrize("seed", chosen(range(9), [0, 4, 8]))
def test_random_programs_take_the_predicted_cycles(seed):
    program = random_falling_program(seed)
    if program.schedule.cycles < 400:
        a, b = random_operands(program, seed)
        result = ENGINES["amaranth"](program, a, b)
        assert result.exact
        assert result.cycles == program.schedule.cycles


@pytest.mark.parametrize("most", [1, 2, 4])
@pytest.mark.parametrize("seed", range(12))
def test_model_and_checker_agree_whatever_the_depths(seed, most):
    program = with_depths(random_falling_program(seed), seed, most)
    for part in parts_of(program):
        run = TokenRun(program, part).run()
        assert not run.stuck
        assert follow(program, part).end == run.end


@pytest.mark.parametrize("kind", [Fold, Map, Copy, Merge, Split])
def test_a_schedule_that_does_not_know_of_it_is_refused(kind):
    """And one that does, if the buffers of a kind of stage do not fall through."""
    name = "star" if kind in FILLERS["star"] else "shared link"
    stages = (s for s in plain(name).stages if isinstance(s.kind, kind))
    filled = {out for stage in stages for out in stage.outs}
    for program, value in ((plain(name), True), (falling(name), False)):
        buffers = tuple(
            replace(b, fall_through=value) if b.name in filled else b for b in program.buffers
        )
        assert "schedule" in [o.name for o in check(replace(program, buffers=buffers)).violated]


@each_program
def test_a_file_says_it_of_those_that_do_and_of_no_others(name):
    saved = json.loads(to_json(falling(name)))["program"]["buffers"]
    for entry in saved:
        falls = falling(name).buffer_by_name[entry["name"]].fall_through
        assert entry.get("fall_through") == (True if falls else None)
    assert from_json(to_json(falling(name))) == falling(name)
    assert "fall_through" not in to_json(plain(name))


def test_the_printed_program_shows_it():
    lines = to_text(falling("star")).splitlines()
    (reduced_line,) = (line for line in lines if line.startswith("    c0.reduced "))
    assert " to fall through " in reduced_line
    assert "to fall through" not in to_text(plain("star"))


@pytest.mark.parametrize("name", chosen(list(PROGRAMS), ["star"]))
def test_only_the_stores_of_such_buffers_are_other_hardware(name):
    for chip in range(4):
        own = falling(name).chips[chip].buffers
        before, after = (
            to_rtlil(Chip(program, chip), "chip")
            for program in (same_depths(plain(name), falling(name)), falling(name))
        )
        assert (before == after) == (not any(buffer.fall_through for buffer in own))


def same_depths(program: Program, other: Program) -> Program:
    """The program with the depths of another one that has the same buffers."""
    buffers = (replace(b, depth=other.buffer_by_name[b.name].depth) for b in program.buffers)
    return replace(program, buffers=tuple(buffers))
