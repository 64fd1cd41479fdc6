"""The stages of a build: synthesis, place and route, and the bitstream."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from hw.board.build_errors import FpgaToolFailedError
from hw.board.build_plan import BITSTREAM, NAME, NETLIST, ROUTED, BuildPlan
from hw.board.toolchain import run_tool

SYNTHESIS_LOG = "synthesis.log"
BITSTREAM_LOG = "bitstream.log"
ROUTING_OPTIONS = ("--timing-allow-fail",)
"""A missed frequency is no failure of the tool: its report says so, and is judged."""


def synthesize(plan: BuildPlan, folder: Path) -> dict[str, Any]:
    """Turn the design into cells of the family; return the netlist of its one module.

    Raises
    ------
    BuildError
        If Yosys is not there or fails, or writes no netlist.
    """
    command = _renamed(plan.commands[0], {f"{NAME}.rpt": SYNTHESIS_LOG})
    run = _Run(command[0], "synthesis", folder, SYNTHESIS_LOG)
    run_tool(command, folder=folder, stage=run.stage, log=run.log)
    modules = run.record(NETLIST).get("modules", {})
    if NAME not in modules:
        raise run.failed(f"its {NETLIST} has no module {NAME!r}")
    return modules[NAME]


def route(plan: BuildPlan, folder: Path, *, seed: int) -> dict[str, Any]:
    """Place and route the netlist, beginning from a seed; return nextpnr's report.

    What comes out is kept under the number of the seed until :func:`choose` takes one.

    Raises
    ------
    BuildError
        If nextpnr is not there or fails, for instance because the design does not fit, or does not
        write what it is run for.
    """
    log, report = route_log(seed), f"route_{seed}.json"
    command = _renamed(
        plan.commands[1],
        {f"{NAME}.tim": log, ROUTED[plan.family]: _routed(plan, seed)},
    )
    command += ("--seed", str(seed), "--report", report, *ROUTING_OPTIONS)
    run = _Run(command[0], "place and route", folder, log)
    run_tool(command, folder=folder, stage=run.stage, log=log)
    run.written(_routed(plan, seed))
    return run.record(report)


def choose(plan: BuildPlan, folder: Path, *, seed: int) -> None:
    """Take the result of a seed as the result of the stage, and leave out those of the others."""
    (folder / _routed(plan, seed)).replace(folder / ROUTED[plan.family])
    for path in folder.glob(_routed(plan, "*")):
        path.unlink()


def pack(plan: BuildPlan, folder: Path) -> Path:
    """Write the bitstream of the result that was chosen; return its path.

    Raises
    ------
    BuildError
        If the packer is not there or fails, or writes no bitstream.
    """
    command = plan.commands[2]
    run = _Run(command[0], "bitstream", folder, BITSTREAM_LOG)
    run_tool(command, folder=folder, stage=run.stage, log=run.log)
    return run.written(BITSTREAM[plan.family])


def route_log(seed: int) -> str:
    """Name of the log of a seed."""
    return f"route_{seed}.log"


@dataclass(frozen=True)
class _Run:
    """A tool that was run and said that all is well: what it must have written."""

    tool: str
    stage: str
    folder: Path
    log: str

    def written(self, name: str) -> Path:
        """The path of a file that the tool was to write."""
        path = self.folder / name
        if not path.is_file():
            raise self.failed(f"it did not write {name}")
        return path

    def record(self, name: str) -> dict[str, Any]:
        """The object in a JSON file that the tool was to write."""
        try:
            found = json.loads(self.written(name).read_text(encoding="utf-8"))
        except ValueError as error:
            raise self.failed(f"its {name} is no JSON: {error}") from error
        if not isinstance(found, dict):
            raise self.failed(f"its {name} is no JSON object")
        return cast(dict[str, Any], found)

    def failed(self, why: str) -> FpgaToolFailedError:
        """The error of the tool, with its log."""
        log = self.folder / self.log
        said = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        return FpgaToolFailedError(tool=self.tool, stage=self.stage, status=0, log=said, why=why)


def _routed(plan: BuildPlan, seed: int | str) -> str:
    name = Path(ROUTED[plan.family])
    return f"{name.stem}_{seed}{name.suffix}"


def _renamed(command: tuple[str, ...], names: dict[str, str]) -> tuple[str, ...]:
    return tuple(names.get(word, word) for word in command)
