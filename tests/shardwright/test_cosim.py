"""``shardwright cosim``: the same report as ``run``, from the emitted Verilog."""

import json
import re

import numpy as np
import pytest

from sim import reference
from sim.cosim import runner
from tests.cosim.tools import needs
from tests.shardwright.command import invoke, last_line, spawn

PRODUCT = "--m 4 --n 6 --k 16 --chips 2 --tile 2 --link-width 40"


@pytest.mark.cosim
def test_prints_what_run_prints(tmp_path):
    needs("icarus")
    arguments = f"{PRODUCT} --reduce star --seed 3 --json -o"
    ran = invoke(f"run {arguments}", tmp_path / "simulated.npy")
    cosimulated = invoke(f"cosim {arguments}", tmp_path / "cosimulated.npy")
    assert (cosimulated.exit_code, cosimulated.output) == (0, ran.output)
    first, second = (np.load(tmp_path / f"{name}.npy") for name in ("simulated", "cosimulated"))
    assert np.array_equal(first, second)


@pytest.mark.cosim
def test_takes_files_and_keeps_its_folder(tmp_path):
    needs("icarus")
    rng = np.random.default_rng(0)
    np.save(tmp_path / "a.npy", rng.integers(-128, 128, (3, 5)).astype(np.int8))
    np.save(tmp_path / "b.npy", rng.integers(-128, 128, (5, 2)).astype(np.int8))
    ran = spawn("cosim a.npy b.npy --chips 2 --tile 2 --pad-k --all --keep kept", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert re.fullmatch(
        r"3x2x5 on 2 chips: \d+ cycles, utilisation \d+\.\d%, 46\.9% of multiplications count, "
        r"exact\n",
        ran.stdout,
    )
    assert "TESTS=4 PASS=4" in (tmp_path / "kept" / "run.log").read_text()


@pytest.mark.cosim
def test_a_wrong_product_fails_and_is_not_written(tmp_path, monkeypatch):
    needs("icarus")
    claimed = reference.claimed
    monkeypatch.setattr(
        reference,
        "claimed",
        lambda *given: {name: c + np.int32(1) for name, c in claimed(*given).items()},
    )
    path = tmp_path / "c.npy"
    result = invoke(f"cosim {PRODUCT} --json -o", path)
    assert result.exit_code == 1
    assert json.loads(result.stdout)["exact"] is False
    assert len(json.loads(result.stdout)["differences"]) == 5
    assert not path.exists()


@pytest.mark.cosim
def test_a_bench_that_fails_is_an_error_after_the_end_of_its_log(monkeypatch):
    needs("icarus")
    monkeypatch.setattr("sim.cosim.cosimulate.PRODUCT_TEST", "not_there")
    result = invoke(f"cosim {PRODUCT}")
    assert result.exit_code == 1
    assert last_line(result).startswith("error: the bench failed on icarus: ")
    assert "cocotb" in result.output


def test_a_missing_simulator_is_one_line(monkeypatch):
    pytest.importorskip("find_libpython")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(runner, "find_spec", lambda _: True)
    result = invoke(f"cosim {PRODUCT}")
    assert result.exit_code == 1
    assert result.output == (
        "error: co-simulation on icarus needs iverilog, which is not installed; "
        "get it by: apt-get install iverilog\n"
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (f"{PRODUCT} -o absent/c.npy", "there is no folder 'absent'"),
        (f"{PRODUCT} --keep a_file", "it is a file, not a folder"),
    ],
)
def test_refuses_an_output_before_anything_is_built(tmp_path, monkeypatch, arguments, text):
    needs("icarus")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a_file").touch()
    result = invoke(f"cosim {arguments}")
    assert result.exit_code == 1
    assert text in last_line(result)


def test_knows_two_simulators():
    result = invoke(f"cosim {PRODUCT} --simulator other")
    assert result.exit_code == 2
    assert "'other' is not one of 'icarus', 'verilator'" in last_line(result)
