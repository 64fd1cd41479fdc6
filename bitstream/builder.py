"""Builds the chips of a program for their boards, into a folder that is whole or not there."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copytree
from typing import Any

from rich.console import Console

from bitstream.board_check import check_board
from bitstream.build_plan import BuildPlan, build_plan
from bitstream.chip_build import ChipBuild, RoutedSeed
from bitstream.link_timing import link_timings
from bitstream.report import folder_of, pictures, record
from bitstream.router import AUTO
from bitstream.routing import NOTHING_ROUTED, Routed, route_seeds
from bitstream.stages import choose, pack, synthesize
from bitstream.timing import clocks, crossings, fills
from bitstream.tool_errors import FpgaToolFailedError, StageError
from bitstream.toolchain import LIMIT_SECONDS, STAGES, TOOLS, check_tools, tool_version
from bitstream.usage import Names, usage, usage_by_component
from compiler.check import require
from compiler.ir.program import Program
from compiler.serialize import to_json
from constraints.cabling import Cabling, cables_of_program, cabling_of
from constraints.description import Board
from hw.board.platform_top import platform_top
from hw.board.resources import platform_of
from hw.chip_registers import chip_register_map
from report.boards import cabling_lines, cabling_record, cabling_rows
from report.table import aligned
from sim.cosim.manifest import registers, registers_page
from sim.errors import OutputFileError
from sim.files import write_whole
from sim.folders import check_folder, place_of, whole_folder

REPORT_WIDTH = 160


@dataclass(frozen=True)
class BuildOptions:
    """How far a build goes.

    Parameters
    ----------
    until : str
        Stage to end with.
    seeds : int
        How many times to place and route, each time from another beginning.
    router : str
        Router of nextpnr by name, or ``auto``: the next one where one does not end.
    limit_seconds : float
        Time that each run of a tool may take.
    allow_slow : bool
        Whether to make bitstreams that miss their timing.
    """

    until: str = STAGES[-1]
    seeds: int = 1
    router: str = AUTO
    limit_seconds: float = LIMIT_SECONDS
    allow_slow: bool = False


Progress = Callable[[str], object]


def build_program(
    folder: str | Path,
    program: Program,
    board: Board,
    *,
    chips: Sequence[int],
    options: BuildOptions | None = None,
    progress: Progress = lambda _: None,
) -> tuple[ChipBuild, ...]:
    """Build chips of a program, each on a board of its own of the same kind.

    The folder gets the program, the cables between its boards, and a folder for each chip with all
    that the tools were given and made. Chips for which they are given the same are built once.

    Parameters
    ----------
    folder : path
        Folder to make. It must not exist, or be empty.
    chips : sequence of int
        Coordinates of the chips to build.
    progress : callable
        Told what begins.

    Raises
    ------
    UncertifiedProgramError
        If the program does not meet its obligations.
    ProgramBoardError
        If the program was compiled for another machine.
    CablingError
        If the boards have not the ports for its links.
    BuildError
        If a tool is not there, or refuses the design. The log of the tool is kept beside the
        folder, which is not made.
    OutputFileError
        If the folder cannot be made, or holds something already.
    """
    options = options or BuildOptions()
    require(program)
    check_board(program, board)
    check_folder(folder)
    cabling = cabling_of((board,) * program.chip_count, cables_of_program(program))
    if board.bitstream:
        check_tools(board.family, until=options.until)
    elif options.until != STAGES[-1]:
        raise StageError(board=board.name, until=options.until)
    with whole_folder(folder) as made:
        try:
            builds = tuple(_build_chips(made, cabling, program, chips, options, progress))
        except FpgaToolFailedError as error:
            raise _with_log_kept(error, place_of(folder)) from error
        _write_whole_program(made, program, cabling, builds)
    return builds


def _with_log_kept(error: FpgaToolFailedError, folder: Path) -> FpgaToolFailedError:
    """The error of a tool, whose log is now beside the folder that is not made, if it can be."""
    log = folder.with_name(f"{folder.name}.failed.log")
    try:
        write_whole(log, lambda file: file.write(error.log.encode()))
    except OutputFileError:  # what the tool refused matters more
        return error
    return error.kept_in(str(log))


def plan_chip(program: Program, chip: int, cabling: Cabling) -> BuildPlan:
    """What the tools of a chip's board are given to build it."""
    board = cabling.boards[chip]
    platform = platform_of(board, cabling.ports(chip))
    design = platform_top(program, chip, cabling, platform)
    return build_plan(design, platform, family=board.family)


@dataclass(frozen=True)
class _Made:
    """What the tools made of a plan, what they say of it, and which tools they were."""

    netlist: dict[str, Any] | None = None
    routed: Routed = NOTHING_ROUTED
    bitstream: str = ""
    tools: tuple[tuple[str, str], ...] = ()


def _build_chips(
    made: Path,
    cabling: Cabling,
    program: Program,
    chips: Sequence[int],
    options: BuildOptions,
    progress: Progress,
) -> Iterator[ChipBuild]:
    done: dict[str, tuple[int, _Made]] = {}
    for chip in chips:
        progress(f"chip {chip}: design")
        plan = plan_chip(program, chip, cabling)
        folder = made / folder_of(chip)
        build = ChipBuild(program, cabling.boards[chip], chip)
        if plan.digest in done:
            first, results = done[plan.digest]
            copytree(made / folder_of(first), folder)
            build = _told(replace(build, same_as=first), results)
        else:
            folder.mkdir()
            plan.write(folder)
            results = _Made()
            if build.board.bitstream:
                results = _run_stages(build, plan, folder, options, progress)
            done[plan.digest] = chip, results
            build = _told(build, results)
        _write_chip(folder, build)
        yield build


def _run_stages(
    build: ChipBuild, plan: BuildPlan, folder: Path, options: BuildOptions, progress: Progress
) -> _Made:
    limit_seconds = options.limit_seconds
    progress(f"chip {build.chip}: synthesis")
    yosys, nextpnr, _ = TOOLS[build.board.family]
    made = _Made(netlist=synthesize(plan, folder, limit_seconds=limit_seconds))
    made = replace(made, tools=((yosys, tool_version(yosys)),))
    if options.until == "synthesis":
        return made
    routed = route_seeds(
        plan,
        folder,
        seeds=options.seeds,
        router=options.router,
        limit_seconds=limit_seconds,
        told=lambda text: progress(f"chip {build.chip}: place and route, {text}"),
    )
    tools = (*made.tools, (nextpnr, tool_version(nextpnr)))
    made = replace(made, routed=routed, tools=tools)
    told = _told(build, made)
    assert told.best is not None
    choose(plan, folder, told.best.attempt)
    if options.until == "route" or not (told.met or options.allow_slow):
        return made
    progress(f"chip {build.chip}: bitstream")
    return replace(made, bitstream=pack(plan, folder, limit_seconds=limit_seconds).name)


def _told(build: ChipBuild, made: _Made) -> ChipBuild:
    """A build with what its tools say, in the names of its chip."""
    if made.netlist is None:
        return build
    names = Names(made.netlist, build.chip)
    return replace(
        build,
        total=usage(cell["type"] for cell in made.netlist["cells"].values()),
        components=usage_by_component(made.netlist, names),
        seeds=tuple(
            RoutedSeed(
                attempt,
                clocks(report, made.netlist, names),
                fills(report),
                crossings(report, made.netlist, names),
                link_timings(report, made.netlist, build.board),
            )
            for attempt, report in made.routed.reports
        ),
        given_up=made.routed.given_up,
        tools=made.tools,
        bitstream=made.bitstream,
    )


def _write_chip(folder: Path, build: ChipBuild) -> None:
    """Write what is told of a chip: its report for both kinds of readers, and its registers."""
    (folder / "report.json").write_text(_dumped(record(build)), encoding="utf-8")
    with (folder / "report.txt").open("w", encoding="utf-8") as file:
        Console(file=file, width=REPORT_WIDTH).print(pictures(build))
    register_map = chip_register_map(build.program, build.chip, host=True)
    (folder / "registers.json").write_text(_dumped(registers(register_map)), encoding="utf-8")
    page = registers_page(f"chip_{build.chip}", register_map)
    (folder / "registers.md").write_text(page, encoding="utf-8")


def _write_whole_program(
    folder: Path, program: Program, cabling: Cabling, builds: tuple[ChipBuild, ...]
) -> None:
    (folder / "program.json").write_text(to_json(program), encoding="utf-8")
    (folder / "cabling.json").write_text(_dumped(cabling_record(cabling)), encoding="utf-8")
    lines = [*cabling_lines(cabling)]
    if cabling.cables:
        lines += ["", *aligned(cabling_rows(cabling))]
    (folder / "cabling.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    reports = {"chips": [record(build) for build in builds]}
    (folder / "report.json").write_text(_dumped(reports), encoding="utf-8")


def _dumped(data: object) -> str:
    return json.dumps(data, indent=1) + "\n"
