"""``shardwright cosim``: compile, emit Verilog, run its bench, compare."""

import click

from shardwright.outcome import show_outcome
from shardwright.paths import check_outputs
from shardwright.printing import complain
from shardwright.problem import load_or_state_problem, problem_options, program_option
from sim.cosim.cosimulate import cosimulate
from sim.cosim.runner import SIMULATORS, check_tools
from sim.errors import BenchBuildError, BenchFailedError


@click.command()
@problem_options
@program_option
@click.option(
    "--simulator",
    type=click.Choice(SIMULATORS),
    default="icarus",
    help="What runs the Verilog.  [default: icarus]",
)
@click.option(
    "--all",
    "every_test",
    is_flag=True,
    help="Also run again without a reset, and start and reset in the middle of a run.",
)
@click.option(
    "--keep", metavar="DIR", type=click.Path(), help="Make DIR and leave all files there."
)
@click.option(
    "-o", "--output", metavar="C.npy", type=click.Path(), help="Write the product (int32) if exact."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
def cosim(
    simulator: str,
    every_test: bool,
    keep: str | None,
    output: str | None,
    as_json: bool,
    **options,
) -> None:
    """Multiply A.npy by B.npy on the emitted Verilog and compare the product with numpy's.

    A cocotb bench loads every chip through its host port, starts, waits and reads the product
    back. Without files, makes seeded random operands of --m, --n and --k.
    """
    check_tools(simulator)
    check_outputs(files={"-o": output}, folders={"--keep": keep}, **options)
    problem = load_or_state_problem(**options)
    try:
        result = cosimulate(
            problem.program,
            problem.a,
            problem.b,
            simulator=simulator,
            folder=keep,
            every_test=every_test,
        )
    except (BenchBuildError, BenchFailedError) as error:
        if error.log_tail:
            complain(error.log_tail)
        raise
    show_outcome(result, output=output, as_json=as_json, reduce=options["reduce"])
