from itertools import pairwise

import pytest
from vcd.reader import TokenKind, tokenize

from hw import system
from hw.names import local_name, module_name
from sim.amaranth_engine import AmaranthEngine
from sim.errors import OutputFileError, SimulationHangError
from tests.programs import program_for
from tests.sim.broken import CutChannel


def read(path) -> tuple[set[tuple[str, ...]], list[int]]:
    """Signals by their scopes and name, and the times at which something changed."""
    scopes, signals, times = [], set(), []
    with path.open("rb") as file:
        for token in tokenize(file):
            if token.kind is TokenKind.SCOPE:
                scopes.append(token.scope.ident)
            elif token.kind is TokenKind.UPSCOPE:
                scopes.pop()
            elif token.kind is TokenKind.VAR:
                signals.add((*scopes, token.var.reference))
            elif token.kind is TokenKind.CHANGE_TIME:
                times.append(token.time_change)
    return signals, times


@pytest.mark.parametrize("target", ["token-mesh", "semaphore-mesh"])
def test_waves_have_a_scope_for_every_stage_buffer_and_link(tmp_path, target):
    program = program_for(4, 4, 16, chips=3, reduce="star", target=target, k_pad=8)
    AmaranthEngine(program).run({}, max_cycles=1000, waves=tmp_path / "run.vcd")
    signals, _ = read(tmp_path / "run.vcd")
    scopes = {signal[2:-1] for signal in signals}  # within the simulator's bench and its top
    for record in (*program.stages, *program.buffers):
        assert (f"c{record.site.chip}", local_name(record.name)) in scopes
    for link in program.links:
        assert (module_name(link.name),) in scopes


def test_every_signal_has_a_name(tmp_path):
    AmaranthEngine(program_for(4, 4, 8)).run({}, max_cycles=1000, waves=tmp_path / "run.vcd")
    signals, _ = read(tmp_path / "run.vcd")
    names = {signal[-1] for signal in signals}
    assert {"clk", "rst", "start", "done", "o__valid", "o__ready"} <= names
    assert not any(name.startswith(("$", "signal")) for name in names)


def test_waves_run_from_reset_to_the_end(tmp_path):
    program = program_for(4, 4, 8)
    run = AmaranthEngine(program).run({}, max_cycles=1000, waves=tmp_path / "run.vcd")
    _, times = read(tmp_path / "run.vcd")
    assert all(before < after for before, after in pairwise(times))
    period = min(after - before for before, after in pairwise(times)) * 2
    assert times[-1] // period == pytest.approx(run.cycles, abs=3)


def test_waves_of_a_hang_are_kept_to_look_at(tmp_path, monkeypatch):
    monkeypatch.setattr(system, "LinkChannel", CutChannel)
    engine = AmaranthEngine(program_for(4, 4, 8, chips=2))
    with pytest.raises(SimulationHangError):
        engine.run({}, max_cycles=200, waves=tmp_path / "run.vcd")
    signals, times = read(tmp_path / "run.vcd")
    assert signals
    assert times


@pytest.mark.parametrize("before", [None, b"of another run"])
@pytest.mark.parametrize("failure", [KeyboardInterrupt, ValueError])
def test_waves_of_a_run_that_is_broken_off_are_not_left_half_written(tmp_path, before, failure):
    path = tmp_path / "run.vcd"
    if before is not None:
        path.write_bytes(before)

    def fails(cycles):
        if cycles:
            raise failure

    with pytest.raises(failure):
        AmaranthEngine(program_for(8, 8, 32)).run({}, max_cycles=1000, progress=fails, waves=path)
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == (
        {} if before is None else {"run.vcd": before}
    )


def test_waves_that_cannot_be_written_are_an_error_of_one_line(tmp_path):
    path = tmp_path / "absent" / "run.vcd"
    with pytest.raises(OutputFileError, match="there is no folder"):
        AmaranthEngine(program_for(4, 4, 4)).run({}, max_cycles=1000, waves=path)


def test_no_waves_are_written_unless_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    AmaranthEngine(program_for(4, 4, 4)).run({}, max_cycles=1000)
    assert list(tmp_path.iterdir()) == []
