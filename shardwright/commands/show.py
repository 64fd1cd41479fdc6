"""``shardwright show``: the placed program as text."""

import click

from compiler.text import to_text
from shardwright.problem import problem_options, state_problem


@click.command()
@problem_options
def show(**options) -> None:
    """Print the placed program: per chip its tensors, stages, buffers, hand-offs and links."""
    click.echo(to_text(state_problem(**options).program), nl=False)
