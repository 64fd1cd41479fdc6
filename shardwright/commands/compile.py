"""``shardwright compile``: a certified program as a file."""

import click

from report.certificate import certificate_lines
from shardwright.paths import check_outputs
from shardwright.printing import say
from shardwright.problem import problem_options, state_problem
from shardwright.programs import write_program


@click.command("compile")
@problem_options
@click.option(
    "-o",
    "--output",
    metavar="PROGRAM.json",
    type=click.Path(),
    required=True,
    help="Where to write the certified program.",
)
def compile_command(output: str, **options) -> None:
    """Compile a product and write the placed program with its certificate as JSON.

    Takes what `run` takes. Operand files give the shape; their values stay outside of the program.
    """
    check_outputs(files={"-o": output}, **options)
    program = state_problem(**options).program
    write_program(output, program)
    assert program.certificate is not None
    for line in certificate_lines(program.certificate):
        say(line)
