"""``shardwright build``: bitstreams of a program's chips for a board."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from bitstream import builder
from bitstream.builder import BuildOptions, build_program
from bitstream.chip_build import ChipBuild
from bitstream.errors import TimingMissedError
from bitstream.report import pictures, record, summary
from bitstream.router import AUTO, ROUTERS
from bitstream.tool_errors import FpgaToolFailedError
from bitstream.toolchain import LIMIT_SECONDS, STAGES
from compiler.ir.program import Program
from constraints.cabling import cables_of_plan, cabling_of
from constraints.description import Board, board_names, load_board
from constraints.target import board_target
from shardwright.paths import check_outputs
from shardwright.plan import plan_of
from shardwright.printing import complain, draw, say
from shardwright.problem import load_or_state_problem, product_options, program_option

ALL = "all"
TAIL_LINES = 15
MOST_SECONDS = 7 * 24 * 3600
SEED_LIMIT = 1000
"""Place and route takes minutes each time."""


@click.command()
@product_options
@program_option
@click.option(
    "--board",
    "board_name",
    metavar="BOARD",
    required=True,
    help=f"Board of each chip: {', '.join(board_names())}, or a TOML file of yours.",
)
@click.option(
    "--chip", metavar="N|all", default=ALL, help="The chip to build, or all.  [default: all]"
)
@click.option(
    "-o", "--output", metavar="DIR", type=click.Path(), required=True, help="Folder to make."
)
@click.option(
    "--seeds",
    type=click.IntRange(1, SEED_LIMIT),
    default=1,
    help="Place and route so many times and take the fastest.  [default: 1]",
)
@click.option(
    "--router",
    type=click.Choice((AUTO, *ROUTERS)),
    default=AUTO,
    help="Router of nextpnr; auto takes the next where one does not end.  [default: auto]",
)
@click.option(
    "--limit",
    metavar="SECONDS",
    type=click.IntRange(min=1, max=MOST_SECONDS),
    default=round(LIMIT_SECONDS),
    help=f"Time that each run of a tool may take.  [default: {LIMIT_SECONDS:.0f}]",
)
@click.option(
    "--until",
    type=click.Choice(STAGES),
    default=STAGES[-1],
    help="Stage to end with.  [default: bitstream]",
)
@click.option("--allow-slow", is_flag=True, help="Make bitstreams that miss their timing too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
def build(
    board_name: str,
    chip: str,
    output: str,
    seeds: int,
    router: str,
    limit: int,
    until: str,
    allow_slow: bool,
    as_json: bool,
    **options,
) -> None:
    """Build the chips of a product for boards of one kind, each chip on a board of its own.

    The product is compiled for the machine that the boards make up. Of operand files, the shape
    alone counts: operands are loaded by the host. DIR gets a folder for each chip with its
    bitstream, its pin file, its logs and its report.
    """
    check_outputs(files={}, folders={"-o": output}, board_name=board_name, **options)
    board = load_board(board_name)
    if options["program_file"] is None:  # before the compiler, which knows no directions of ports
        plan = plan_of(**options)
        cabling_of((board,) * plan.chips, cables_of_plan(plan))
    problem = load_or_state_problem(target=board_target(board), **options)
    built = _chips(chip, problem.program)
    build_options = BuildOptions(
        until=until, seeds=seeds, router=router, limit_seconds=limit, allow_slow=allow_slow
    )
    try:
        with _progress(shown=not as_json and sys.stderr.isatty()) as told:
            builds = build_program(
                output, problem.program, board, chips=built, options=build_options, progress=told
            )
    except FpgaToolFailedError as error:
        complain("\n".join(error.log.splitlines()[-TAIL_LINES:]))
        raise
    _show(builds, output, as_json)
    _judge(builds, board, output, build_options)


def _chips(chip: str, program: Program) -> tuple[int, ...]:
    """The coordinates that ``--chip`` means."""
    if chip == ALL:
        return tuple(range(program.chip_count))
    if not chip.isdecimal() or int(chip) >= program.chip_count:
        last = program.chip_count - 1
        raise click.UsageError(f"--chip {chip}: it must be {ALL}, or a chip from 0 to {last}")
    return (int(chip),)


@contextmanager
def _progress(*, shown: bool) -> Iterator[builder.Progress]:
    """Tell at a terminal what is under way, and for how long."""
    console = Console(stderr=True)
    spinner = SpinnerColumn("line" if console.options.ascii_only else "dots")
    columns = (spinner, TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not shown) as progress:
        task = progress.add_task("", total=None)
        yield lambda text: progress.update(task, description=text)


def _show(builds: tuple[ChipBuild, ...], output: str, as_json: bool) -> None:
    if as_json:
        chips = [record(build) for build in builds]
        say(json.dumps({"folder": output, "chips": chips}, indent=2))
    elif sys.stdout.isatty():
        for each in builds:
            draw(pictures(each))
    else:
        for each in builds:
            say(summary(each))


def _judge(
    builds: tuple[ChipBuild, ...], board: Board, output: str, build_options: BuildOptions
) -> None:
    """Exit with status 1 if a bitstream that was asked for is not there."""
    missed = tuple(build.chip for build in builds if not build.met and not build.bitstream)
    if missed and build_options.until == STAGES[-1]:
        raise TimingMissedError(chips=missed, board=board.name, folder=output)
