"""Tools that make nothing, in no time: they write the files that the real ones would."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from bitstream import builder
from compiler.ir.program import Program
from compiler.pipeline import compile
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from constraints.board import Board
from constraints.target import board_target
from tests.bitstream.netlists import CHIP, report
from tests.hw.board.designs import Blinker

YOSYS = """\
import json, sys
if "--version" in sys.argv:
    sys.exit("Yosys 0.70 (git sha1 28ba3cb92, Release)")
open("top.json", "w").write(json.dumps({"modules": {"top": json.loads(NETLIST)}}))
open(sys.argv[sys.argv.index("-l") + 1], "w").write("synthesised\\n")
"""
NEXTPNR = """\
import json, subprocess, sys, time
if "--version" in sys.argv:
    sys.exit('"nextpnr" -- Next Generation Place and Route (Version nextpnr-0.11.1)')
def option(name):
    return sys.argv[sys.argv.index(name) + 1]
seed = option("--seed")
behaviour = json.loads(BEHAVIOURS).get(seed + "_" + option("--router"), "ends")
if behaviour != "ends":
    print("Info: Routing 5012 arcs.")
    print("Info:    IterCnt |  w/ripup   wo/ripup |  w/r  wo/r |      arcs| batch(sec) total(sec)|")
    print("Info:       1000 |       13        986 |   13   986 |      4050|       0.10       0.10|")
if behaviour == "hangs":
    # A child of its own, as the wheels have threads and the system's tools may have.
    child = subprocess.Popen(["sleep", "600"])
    open(PIDS, "a").write(f"{child.pid}\\n")
    print("Info:       2000 |       13        986 |   13   986 |        12|       0.10       0.10|")
    sys.stdout.flush()
    time.sleep(600)
while behaviour == "stalls":
    print("Info:       3000 |       13        986 |   13   986 |         7|       0.10       0.10|")
reports = json.loads(REPORTS)
assert "--timing-allow-fail" in sys.argv
open(option("--log"), "w").write("routed\\n")
if seed not in reports:
    print("ERROR: no cell is left for seed " + seed)
    sys.exit(1)
if "--report" in sys.argv:
    open(option("--report"), "w").write(json.dumps(reports[seed]))
routed = option("--asc") if "--asc" in sys.argv else option("--textcfg")
open(routed, "w").write("routed from seed " + seed + " by " + option("--router"))
"""
PACKER = """\
import sys
source = [word for word in sys.argv if word.endswith((".asc", ".config"))][0]
target = [word for word in sys.argv if word.endswith((".bin", ".bit"))][0]
open(target, "w").write(open(source).read() + ", packed")
"""


@dataclass
class Tools:
    """Tools of both families on PATH.

    Parameters
    ----------
    reached_mhz : dict
        Frequency that place and route reaches from each seed; it fails from others.
    wanted_mhz : float
        Frequency that it is to reach.
    behaviours : dict
        By seed and router, as ``"1_router1"``: whether it ``hangs`` (with a child, whose number it
        leaves in the file ``pids``), ``stalls``, writing the same row again and again, or ends but
        ``tells`` how far it is.
    """

    folder: Path
    reached_mhz: dict[int, float] = field(default_factory=lambda: {1: 90.0})
    wanted_mhz: float = 80.0
    behaviours: dict[str, str] = field(default_factory=dict)

    @property
    def pids(self) -> Path:
        """File of the children of tools that hang."""
        return self.folder / "pids"

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Put the tools on PATH, before all others."""
        reports = {
            str(seed): report(mhz, wanted_mhz=self.wanted_mhz)
            for seed, mhz in self.reached_mhz.items()
        }
        known = f"NETLIST = {json.dumps(CHIP)!r}\nREPORTS = {json.dumps(reports)!r}\n"
        known += f"BEHAVIOURS = {json.dumps(self.behaviours)!r}\nPIDS = {str(self.pids)!r}\n"
        self.folder.mkdir()
        for name, body in {
            "yosys": YOSYS,
            "nextpnr-ice40": NEXTPNR,
            "nextpnr-ecp5": NEXTPNR,
            "icepack": PACKER,
            "ecppack": PACKER,
        }.items():
            path = self.folder / name
            path.write_text(f"#!{sys.executable}\n{known}{body}")
            path.chmod(0o755)
        monkeypatch.setenv("PATH", str(self.folder), prepend=":")


@cache
def small_program(board: Board, *, chips: int = 2) -> Program:
    """A product of 2 x 2 tiles for boards of a kind."""
    spec = MatmulSpec(m=4, n=4, k=8 * chips)
    return compile(spec, board_target(board, tile=2), ShardPlan(chips, "tree"))


def blink(
    monkeypatch: pytest.MonkeyPatch, *, differ: Callable[[int], object] = lambda _: 0
) -> None:
    """Build a small design in place of each chip; chips for which ``differ`` is equal are equal."""

    def top(program: Program, chip: int, cabling, platform) -> Blinker:
        return Blinker(cabling.boards[chip], name=f"toggle_{differ(chip)}")

    monkeypatch.setattr(builder, "platform_top", top)
