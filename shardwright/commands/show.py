"""``shardwright show``: the placed program as text."""

import click

from compiler.text import to_text
from shardwright.printing import say
from shardwright.problem import load_or_state_problem, problem_options, program_option


@click.command()
@problem_options
@program_option
def show(**options) -> None:
    """Print the placed program: per chip its tensors, stages, buffers, hand-offs and links."""
    say(to_text(load_or_state_problem(**options).program), newline=False)
