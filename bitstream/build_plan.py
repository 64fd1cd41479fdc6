"""What the tools of a board are given: the design, its pins and clocks, and their commands."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from amaranth.build import Platform
from amaranth.hdl import Elaboratable

from constraints.families import FAMILIES
from hw.verilog.convert import CHECK

NAME = "top"
"""Name of the design, and of each of its files without their suffix."""

NETLIST = f"{NAME}.json"
ROUTED = {"ecp5": f"{NAME}.config", "ice40": f"{NAME}.asc"}
BITSTREAM = {"ecp5": f"{NAME}.bit", "ice40": f"{NAME}.bin"}

OPTIONS = {
    "ecp5": {},
    # Multipliers that the design does not place itself become multiplier blocks too.
    "ice40": {"synth_opts": "-dsp"},
    "xilinx7": {},
}
"""What Amaranth's build is told, by family."""

MODULE = re.compile(r"^module \\(\S+)$", re.MULTILINE)
AFTER_READ = "# (script_after_read placeholder)"
"""Where Amaranth's script for Yosys leaves room behind the reading of the design."""
ORIGIN = "component="
"""What stands before the instance of a component in the ``src`` attribute of its cells.

``src`` is the one attribute that Yosys hands on to the cells that it makes of others.
"""

BIT_LIKE = re.compile(r"(?<=\\)[^\s\[\"]+(?:\[\d+\][^\s\[\"]*)+")
"""A name in RTLIL that looks like a bit of another wire, as those of elements of arrays do."""

CREATED_CLOCK = re.compile(r"^create_clock -name (\S+) -period (\S+) ", re.MULTILINE)

VERILOG_CHECK = re.compile(
    r"^  always @\([^\n]*\) begin\n"
    r"    if \([^\n]*\) begin\n"
    r"      if \([^\n]*\)\n"
    r"        \$write\([^\n]*\);\n"
    r"      assert \([^\n]*\);\n"
    r"    end\n"
    r"  end\n",
    re.MULTILINE,
)
"""An assertion as Yosys writes it in Verilog. It is for simulation; tools keep it, or refuse it."""


@dataclass(frozen=True)
class BuildPlan:
    """Files for the tools, and the commands to run, one for each stage.

    Equal plans give equal bitstreams.
    """

    family: str
    files: tuple[tuple[str, str], ...]
    commands: tuple[tuple[str, ...], ...]

    @property
    def pin_file(self) -> str:
        """Name of the file that states pins and clocks."""
        return f"{NAME}{FAMILIES[self.family].pin_file}"

    @property
    def digest(self) -> str:
        """Equal for equal plans."""
        return sha256(repr(self).encode()).hexdigest()

    def write(self, folder: Path) -> None:
        """Write the files into a folder."""
        for name, text in self.files:
            (folder / name).write_text(text, encoding="utf-8")


def build_plan(design: Elaboratable, platform: Platform, *, family: str) -> BuildPlan:
    """The plan of a design, without the assertions in it.

    Parameters
    ----------
    design : Elaboratable
        What requests its pins from ``platform``, which can be used for one design alone.
    """
    options: dict[str, Any] = {"emit_src": False, "debug_verilog": False, **OPTIONS[family]}
    prepared = platform.build(design, NAME, do_build=False, **options)
    files = {name: text for name, text in prepared.files.items() if not name.endswith(".debug.v")}
    script, design_file = f"{NAME}.ys", f"{NAME}.il"
    if script in files:
        files[script] = files[script].replace(AFTER_READ, _origins(files[design_file]))
    commands = json.loads(files[f"build_{NAME}.json"])["commands"]
    return BuildPlan(
        family=family,
        files=tuple((name, _cleaned(name, text)) for name, text in files.items()),
        commands=tuple(tuple(command) for command in commands),
    )


def _cleaned(name: str, text: str) -> str:
    if name.endswith(".il"):
        return _without_bit_like_names(CHECK.sub("", text))
    if name.endswith(".v"):
        return VERILOG_CHECK.sub("", text)
    if name.endswith(".xdc"):
        return text + "".join(_between_clocks(text))
    return text


def _without_bit_like_names(rtlil: str) -> str:
    """A design in which no name looks like a bit of another, ``sums_3`` instead of ``sums[3]``.

    Yosys 0.70 takes such a name for the bit itself where it maps logic to look-up tables, and stops
    at an assertion. A bit of a wire has a space before its bracket.
    """
    taken = set(re.findall(r"\\(\S+)", rtlil))
    names: dict[str, str] = {}
    for name in sorted({match[0] for match in BIT_LIKE.finditer(rtlil)}):
        plain = name.replace("[", "_").replace("]", "")
        while plain in taken:
            plain += "_"
        taken.add(plain)
        names[name] = plain
    return BIT_LIKE.sub(lambda match: names[match[0]], rtlil)


def _between_clocks(xdc: str) -> Iterator[str]:
    """Limits on the ways between clocks that have nothing to do with each other.

    The vendor's tool would hold them to the phases of the two. They are crossed by Gray codes and
    by synchronisers, whose bits may arrive within the shorter of both periods.
    """
    clocks = [(name, float(period)) for name, period in CREATED_CLOCK.findall(xdc)]
    for source, first in clocks:
        for destination, second in clocks:
            if source != destination:
                ends = (
                    f"-{end} [get_clocks -include_generated_clocks {clock}]"
                    for end, clock in (("from", source), ("to", destination))
                )
                yield f"\nset_max_delay -datapath_only {' '.join(ends)} {min(first, second)}"


def _origins(rtlil: str) -> str:
    """Commands for Yosys that write into each cell which component it comes from."""
    modules = MODULE.findall(rtlil)
    return "\n".join(
        ["proc"]
        + [
            f'setattr -set src "{ORIGIN}{module.removeprefix(NAME).removeprefix(".")}" {module}/c:*'
            for module in modules
        ]
    )
