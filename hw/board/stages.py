"""The stages of a build: synthesis, place and route, and the bitstream."""

import json
from pathlib import Path
from typing import Any

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
        If Yosys is not there or fails.
    """
    command = _renamed(plan.commands[0], {f"{NAME}.rpt": SYNTHESIS_LOG})
    run_tool(command, folder=folder, stage="synthesis", log=SYNTHESIS_LOG)
    return json.loads((folder / NETLIST).read_text(encoding="utf-8"))["modules"][NAME]


def route(plan: BuildPlan, folder: Path, *, seed: int) -> dict[str, Any]:
    """Place and route the netlist, beginning from a seed; return nextpnr's report.

    What comes out is kept under the number of the seed until :func:`choose` takes one.

    Raises
    ------
    BuildError
        If nextpnr is not there or fails, for instance because the design does not fit.
    """
    log, report = route_log(seed), f"route_{seed}.json"
    command = _renamed(
        plan.commands[1],
        {f"{NAME}.tim": log, ROUTED[plan.family]: _routed(plan, seed)},
    )
    command += ("--seed", str(seed), "--report", report, *ROUTING_OPTIONS)
    run_tool(command, folder=folder, stage="place and route", log=log)
    return json.loads((folder / report).read_text(encoding="utf-8"))


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
        If the packer is not there or fails.
    """
    run_tool(plan.commands[2], folder=folder, stage="bitstream", log=BITSTREAM_LOG)
    return folder / BITSTREAM[plan.family]


def route_log(seed: int) -> str:
    """Name of the log of a seed."""
    return f"route_{seed}.log"


def _routed(plan: BuildPlan, seed: int | str) -> str:
    name = Path(ROUTED[plan.family])
    return f"{name.stem}_{seed}{name.suffix}"


def _renamed(command: tuple[str, ...], names: dict[str, str]) -> tuple[str, ...]:
    return tuple(names.get(word, word) for word in command)
