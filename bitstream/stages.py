"""The stages of a build: synthesis, place and route, and the bitstream."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from bitstream.build_plan import BITSTREAM, NAME, NETLIST, ROUTED, BuildPlan
from bitstream.router import RouterStalled, Routing
from bitstream.tool_errors import FpgaToolEndlessError, FpgaToolFailedError
from bitstream.toolchain import LIMIT_SECONDS, run_tool

SYNTHESIS_LOG = "synthesis.log"
BITSTREAM_LOG = "bitstream.log"
ALLOW_FAIL = "--timing-allow-fail"
"""A missed frequency is no failure of the tool: its report says so, and is judged."""
QUIET = "--quiet"
"""What keeps nextpnr from saying how far it is."""


@dataclass(frozen=True)
class Attempt:
    """A run of place and route: the seed that it begins from, and the router."""

    seed: int
    router: str

    @property
    def log(self) -> str:
        """Name of its log."""
        return f"route_{self}.log"

    @property
    def options(self) -> tuple[str, ...]:
        """What nextpnr is told of it. The same options give the same result."""
        return ("--seed", str(self.seed), "--router", self.router, ALLOW_FAIL)

    def __str__(self) -> str:
        return f"{self.seed}_{self.router}"


def synthesize(
    plan: BuildPlan, folder: Path, *, limit_seconds: float = LIMIT_SECONDS
) -> dict[str, Any]:
    """Turn the design into cells of the family; return the netlist of its one module.

    Raises
    ------
    BuildError
        If Yosys is not there or fails, or writes no netlist.
    """
    command = _renamed(plan.commands[0], {f"{NAME}.rpt": SYNTHESIS_LOG})
    run = _Run(command[0], "synthesis", folder, SYNTHESIS_LOG)
    run_tool(command, folder=folder, stage=run.stage, log=run.log, limit_seconds=limit_seconds)
    modules = run.record(NETLIST).get("modules", {})
    if NAME not in modules:
        raise run.failed(f"its {NETLIST} has no module {NAME!r}")
    return modules[NAME]


def route(
    plan: BuildPlan,
    folder: Path,
    attempt: Attempt,
    *,
    limit_seconds: float = LIMIT_SECONDS,
    told: Callable[[str], object] = lambda _: None,
) -> dict[str, Any]:
    """Place and route the netlist, beginning from a seed; return nextpnr's report.

    What comes out is kept under the name of the attempt until :func:`choose` takes one.

    Parameters
    ----------
    limit_seconds : float
        Time that it may take.
    told : callable
        Told what is left, each time that the router says it.

    Raises
    ------
    FpgaToolEndlessError
        If its time is over, or the router stalls.
    BuildError
        If nextpnr is not there or fails, for instance because the design does not fit, or does not
        write what it is run for.
    """
    report = f"route_{attempt}.json"
    names = {f"{NAME}.tim": attempt.log, ROUTED[plan.family]: _routed(plan, attempt)}
    command = _renamed(tuple(word for word in plan.commands[1] if word != QUIET), names)
    command += (*attempt.options, "--report", report, "--detailed-timing-report")
    run = _Run(command[0], "place and route", folder, attempt.log)
    routing = Routing()

    def hear(line: str) -> None:
        if routing.hear(line):
            told(routing.left)

    try:
        run_tool(
            command,
            folder=folder,
            stage=run.stage,
            log=run.log,
            limit_seconds=limit_seconds,
            listen=hear,
        )
    except RouterStalled as stalled:
        why = f"{attempt.router} stalls from seed {attempt.seed} with {stalled.left}"
        raise run.endless(why) from stalled
    except FpgaToolEndlessError as over:
        why = f"{attempt.router} from seed {attempt.seed} took more than {limit_seconds:g} s"
        raise run.endless(why) from over
    run.written(_routed(plan, attempt))
    return run.record(report)


def choose(plan: BuildPlan, folder: Path, attempt: Attempt) -> None:
    """Take the result of an attempt as that of the stage, and leave out those of the others.

    The scripts in the folder, which repeat the build without this package, then make the same.
    """
    (folder / _routed(plan, attempt)).replace(folder / ROUTED[plan.family])
    for path in folder.glob(_routed(plan, "*")):
        path.unlink()
    words = plan.commands[1]
    for plain, chosen in (
        (" ".join(words[1:]), " ".join((*words[1:], *attempt.options))),
        (json.dumps(words), json.dumps((*words, *attempt.options))),
    ):
        for name, text in plan.files:
            if plain in text:
                (folder / name).write_text(text.replace(plain, chosen), encoding="utf-8")


def pack(plan: BuildPlan, folder: Path, *, limit_seconds: float = LIMIT_SECONDS) -> Path:
    """Write the bitstream of the result that was chosen; return its path.

    Raises
    ------
    BuildError
        If the packer is not there or fails, or writes no bitstream.
    """
    command = plan.commands[2]
    run = _Run(command[0], "bitstream", folder, BITSTREAM_LOG)
    run_tool(command, folder=folder, stage=run.stage, log=run.log, limit_seconds=limit_seconds)
    return run.written(BITSTREAM[plan.family])


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
        return FpgaToolFailedError(
            tool=self.tool, stage=self.stage, status=0, log=self._said(), why=why
        )

    def endless(self, why: str) -> FpgaToolEndlessError:
        """The error of the tool that was ended, with its log."""
        return FpgaToolEndlessError(
            tool=self.tool, stage=self.stage, status=None, log=self._said(), why=why
        )

    def _said(self) -> str:
        log = self.folder / self.log
        return log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""


def _routed(plan: BuildPlan, attempt: Attempt | str) -> str:
    name = Path(ROUTED[plan.family])
    return f"{name.stem}_{attempt}{name.suffix}"


def _renamed(command: tuple[str, ...], names: dict[str, str]) -> tuple[str, ...]:
    return tuple(names.get(word, word) for word in command)
