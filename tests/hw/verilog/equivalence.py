"""Proof that emitted Verilog and Amaranth's netlist of a component are the same machine."""

from collections.abc import Callable
from pathlib import Path

from amaranth.lib import wiring

from hw.verilog.convert import to_rtlil, to_verilog
from tests.hw.verilog.tools import written_to, yosys_messages

READ = """
{read}
hierarchy -check -top top
proc
flatten
memory_map
opt_clean
rename top {side}
design -stash {side}
"""
PROVE = """
design -copy-from gold -as gold gold
design -copy-from gate -as gate gate
equiv_make gold gate equiv
hierarchy -top equiv
opt_clean
equiv_simple
equiv_induct
equiv_status -assert
design -reset
"""


def prove_equal(folder: Path, *builds: Callable[[], wiring.Component]) -> None:
    """Prove that each component's Verilog is its netlist: outputs, and every register.

    Registers are paired by their names, and memories word by word; each is shown to take the same
    next value on both sides. Fails if Yosys cannot show it.
    """
    script = []
    for index, build in enumerate(builds):
        netlist, verilog = to_rtlil(build(), "top"), to_verilog(build(), "top")
        written_to(folder, [(f"{index}.il", netlist), (f"{index}.v", verilog)])
        script += [
            READ.format(read=f"read_rtlil {index}.il", side="gold"),
            READ.format(read=f"read_verilog {index}.v", side="gate"),
            PROVE,
        ]
    (folder / "prove.ys").write_text("".join(script), encoding="utf-8")
    assert yosys_messages(folder, "script prove.ys") == ""
