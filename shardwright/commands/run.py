"""``shardwright run``: compile, simulate, compare."""

import sys

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from shardwright.outcome import show_outcome
from shardwright.paths import check_outputs
from shardwright.problem import (
    Problem,
    load_or_state_problem,
    problem_options,
    program_option,
)
from sim.result import RunResult
from sim.simulate import ENGINES, simulate


@click.command()
@problem_options
@program_option
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default=ENGINES[0],
    help="What simulates the chips; compiled is hundreds of times as fast, and needs g++.",
)
@click.option("--waves", metavar="FILE.vcd", type=click.Path(), help="Write all signals as VCD.")
@click.option(
    "-o", "--output", metavar="C.npy", type=click.Path(), help="Write the product (int32) if exact."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
def run(engine: str, waves: str | None, output: str | None, as_json: bool, **options) -> None:
    """Multiply A.npy by B.npy on simulated chips and compare the product with numpy's.

    Without files, makes seeded random operands of --m, --n and --k.
    """
    check_outputs(files={"--waves": waves, "-o": output}, **options)
    problem = load_or_state_problem(**options)
    result = _simulate(problem, engine, waves, shown=not as_json and sys.stderr.isatty())
    show_outcome(result, output=output, as_json=as_json, reduce=options["reduce"])


def _simulate(problem: Problem, engine: str, waves: str | None, *, shown: bool) -> RunResult:
    """Simulate with a progress bar at a terminal."""
    assert problem.program.schedule is not None
    columns = (
        TextColumn("simulating"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("cycles"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not shown) as progress:
        task = progress.add_task("simulating", total=problem.program.schedule.cycles)
        return simulate(
            problem.program,
            problem.a,
            problem.b,
            waves=waves,
            engine=engine,
            progress=lambda cycles: progress.update(task, completed=cycles),
        )
