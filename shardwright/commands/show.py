"""``shardwright show``: the placed program as text."""

import click

from compiler.check.rules import check_shown
from compiler.text import to_text
from shardwright.printing import say
from shardwright.problem import load_or_state_problem, problem_options, program_option


@click.command()
@problem_options
@program_option
def show(**options) -> None:
    """Print the placed program: per chip its tensors, stages, buffers, hand-offs and links.

    Of a program file, it is held that it can be printed, and not what check holds.
    """
    program = load_or_state_problem(**options).program
    check_shown(program)
    say(to_text(program), newline=False)
