"""The choice of an engine, from Python and from the command line."""

import json
import shutil

import pytest

from sim.compiled.errors import UnknownEngineError, WavesEngineError
from sim.simulate import simulate
from tests.programs import program_for, random_operands
from tests.shardwright.command import invoke, last_line
from tests.sim.compiled.needs import BUILDS_MODELS


def test_an_unknown_engine_is_refused():
    with pytest.raises(UnknownEngineError) as error:
        simulate(program_for(4, 4, 4), engine="steam")
    assert str(error.value) == "engine must be one of amaranth, compiled, not 'steam'"


def test_the_compiled_engine_writes_no_waves(tmp_path):
    program = program_for(4, 4, 4)
    with pytest.raises(WavesEngineError) as error:
        simulate(program, *random_operands(program, 1), engine="compiled", waves=tmp_path / "w.vcd")
    assert str(error.value) == (
        "the compiled engine writes no waves; use the amaranth engine for them"
    )
    assert not list(tmp_path.iterdir())


def test_the_command_line_says_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "which", lambda tool: None)
    result = invoke("run --m 4 --n 4 --k 4 --tile 4 --engine compiled")
    assert result.exit_code == 1
    assert "needs g++, which is not on PATH" in last_line(result)


class TestCommand:
    pytestmark = BUILDS_MODELS

    def test_both_engines_print_the_same_record(self, models, monkeypatch):
        monkeypatch.setattr("sim.compiled.cache.cache_folder", lambda: models)
        command = "run --m 1 --n 1 --k 1 --tile 1 --json --seed 3 --engine"
        records = [json.loads(invoke(command, name).output) for name in ("amaranth", "compiled")]
        assert records[0] == records[1]
        assert records[0]["exact"]
