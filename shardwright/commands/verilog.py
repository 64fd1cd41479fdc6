"""``shardwright verilog``: the Verilog of a program, with all that a bench needs."""

import click

from shardwright.paths import check_outputs
from shardwright.printing import say
from shardwright.problem import load_or_state_problem, problem_options, program_option
from sim.cosim.package import write_package


@click.command()
@problem_options
@program_option
@click.option(
    "-o", "--output", metavar="DIR", type=click.Path(), required=True, help="Folder to make."
)
@click.option("--chip", type=click.IntRange(min=0), help="Write this chip alone, for a board.")
def verilog(output: str, chip: int | None, **options) -> None:
    """Write modules, system, manifest, operands, program and a bench that runs as is."""
    check_outputs(files={}, folders={"-o": output}, **options)
    problem = load_or_state_problem(**options)
    chips = problem.program.chip_count
    if chip is not None and chip >= chips:
        raise click.UsageError(f"--chip {chip}: the program has chips 0 to {chips - 1}")
    design = write_package(output, problem.program, problem.a, problem.b, chip=chip)
    written = [m for m in design.modules if chip is None or chip in m.chips]
    if chip is None:
        written.append(design.top)
    size = sum(len(module.text.encode()) for module in written)
    described = _counted(chips if chip is None else 1, "chip")
    say(f"{_counted(len(written), 'module')} for {described}, {size} bytes")


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' if number != 1 else ''}"
