"""Synthesis, placement and routing of one component with the open tools.

Needs ``pip install -e '.[fpga]'``. The first run of each tool takes about a minute longer.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from amaranth.lib import wiring
from fpga_harness import TwoPins

from bitstream.router import AUTO, ROUTERS, RouterStalled, Routing, routers
from bitstream.tool_errors import FpgaToolEndlessError
from bitstream.toolchain import run_tool, tool_version
from compiler.errors import ShardwrightError
from hw.verilog.convert import to_rtlil

TOP = "top"
# Yosys 0.70 stops at names that look like the bits of another wire, as those of fields do.
FIELDS_HIDDEN = "rename -hide w:*[*]"
SEEDS = 5
LIMIT_SECONDS = 3 * 3600.0
"""Time of a run: a unit that fills the device, on a machine that does something else besides."""


@dataclass(frozen=True)
class Device:
    """A device, and the options of its tools."""

    name: str
    synthesis: str
    placer: tuple[str, ...]
    clock_mhz: int
    has_pins: bool = False


ECP5_85 = Device(
    "ECP5-85",
    "synth_ecp5",
    ("nextpnr-ecp5", "--85k", "--package", "CABGA756", "--speed", "6", "--out-of-context"),
    120,
)
ICE40_UP5K = Device(
    "iCE40UP5K",
    "synth_ice40 -dsp -device u",
    ("nextpnr-ice40", "--up5k", "--package", "sg48", "--pcf-allow-unconstrained"),
    12,
    has_pins=True,
)


class Flow:
    """One component on its way to a device, in a folder of its own."""

    def __init__(self, component: wiring.Component, device: Device):
        self.device = device
        self.component = component

    def __enter__(self) -> "Flow":
        self._folder = tempfile.TemporaryDirectory()
        self.folder = Path(self._folder.name)
        whole = TwoPins(self.component) if self.device.has_pins else self.component
        (self.folder / "top.il").write_text(to_rtlil(whole, TOP))
        return self

    def __exit__(self, *_) -> None:
        self._folder.cleanup()

    def synthesize(self) -> dict[str, int]:
        """Cells by type."""
        return self._synthesize("")[TOP]

    def synthesize_parts(self) -> dict[str, dict[str, int]]:
        """Cells by type of each submodule of the component, and of the rest under its own name.

        Modules stay apart, so their sum is more than the whole needs.
        """
        modules = self._synthesize("-noflatten")

        def cells(module: str) -> Counter[str]:
            total: Counter[str] = Counter()
            for cell, count in modules[module].items():
                for inner, inner_count in (cells(cell) if cell in modules else {cell: 1}).items():
                    total[inner] += count * inner_count
            return total

        parts = {cell: cells(cell) for cell in modules[TOP] if cell in modules}
        own = {cell: count for cell, count in modules[TOP].items() if cell not in modules}
        return {TOP: own} | {name.removeprefix(f"{TOP}."): part for name, part in parts.items()}

    def _synthesize(self, options: str) -> dict[str, dict[str, int]]:
        """Cells by type of each module."""
        script = (
            f"read_rtlil top.il; {FIELDS_HIDDEN}; {self.device.synthesis} {options} "
            f"-top {TOP} -json top.json; tee -q -o top.stat stat -json"
        )
        self._run(("yosys", "-q", "-p", script), "synthesis")
        modules = json.loads((self.folder / "top.stat").read_text())["modules"]
        return {
            name.removeprefix("\\"): {
                cell.removeprefix("\\"): count
                for cell, count in module["num_cells_by_type"].items()
                if not cell.startswith("$")
            }
            for name, module in modules.items()
        }

    def place(self, seed: int, router: str) -> tuple[float, dict[str, int]]:
        """Fmax in MHz after placement and routing, and the sites that are taken, by type.

        Raises
        ------
        RouterStalled, FpgaToolEndlessError
            If the router does not come to its end.
        """
        command = (
            *self.device.placer,
            *("--freq", str(self.device.clock_mhz), "--seed", str(seed), "--router", router),
            *("--json", "top.json", "--report", "report.json", "--timing-allow-fail"),
        )
        self._run(command, "place and route", Routing().hear)
        report = json.loads((self.folder / "report.json").read_text())
        sites = {site: use["used"] for site, use in report["utilization"].items() if use["used"]}
        return min(clock["achieved"] for clock in report["fmax"].values()), sites

    def _run(
        self, command: tuple[str, ...], stage: str, listen: Callable[[str], object] = lambda _: None
    ) -> None:
        run_tool(
            command,
            folder=self.folder,
            stage=stage,
            log="tool.log",
            limit_seconds=LIMIT_SECONDS,
            listen=listen,
        )


def report(
    name: str, component: wiring.Component, device: Device, *, seeds: int, router: str
) -> None:
    """Print the resources of a component, and its Fmax from each seed."""
    tools = ("yosys", device.placer[0])
    with Flow(component, device) as flow:
        counts = flow.synthesize()
        print(f"{name}, {device.name}")
        print("  " + ", ".join(f"{tool} {tool_version(tool)}" for tool in tools), flush=True)
        print("  " + ", ".join(f"{count:,} {cell}" for cell, count in sorted(counts.items())))
        fmax = []
        for seed in range(1, seeds + 1):
            for each in routers(router):
                try:
                    mhz, sites = flow.place(seed, each)
                except (RouterStalled, FpgaToolEndlessError) as endless:
                    print(f"  seed {seed}: {each} was ended: {endless}", flush=True)
                    continue
                fmax.append(mhz)
                taken = ", ".join(f"{count:,} {site}" for site, count in sites.items())
                print(f"  seed {seed}: {mhz:.1f} MHz by {each} ({taken})", flush=True)
                break
    if fmax:
        print(
            f"  median of {len(fmax)}: {median(fmax):.1f} MHz, "
            f"from {min(fmax):.1f} to {max(fmax):.1f}",
            flush=True,
        )


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how place and route is repeated."""
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many, from 1 on")
    parser.add_argument("--router", choices=(AUTO, *ROUTERS), default=AUTO)


def run(main: Callable[[], None]) -> None:
    """Run a benchmark; a tool that is missing or refuses is one line."""
    try:
        main()
    except ShardwrightError as error:
        sys.exit(f"error: {error}")
