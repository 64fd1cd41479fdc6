"""The command line: ``shardwright COMMAND ...``."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from compiler.errors import ShardwrightError
from shardwright.commands.boards import boards
from shardwright.commands.build import build
from shardwright.commands.check import check
from shardwright.commands.collective import collective
from shardwright.commands.compile import compile_command
from shardwright.commands.cosim import cosim
from shardwright.commands.fit import fit
from shardwright.commands.host import host
from shardwright.commands.run import run
from shardwright.commands.show import show
from shardwright.commands.targets import targets
from shardwright.commands.verilog import verilog
from shardwright.printing import complain, standard_streams


class _Commands(click.Group):
    """Commands whose errors are one line on standard error, and exit status 1."""

    def main(self, *args: Any, **kwargs: Any):
        with _refusals_in_one_line(), standard_streams():
            return super().main(*args, **kwargs)

    def invoke(self, ctx: click.Context):
        try:
            with _refusals_in_one_line():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            warnings.simplefilter(
                "ignore"
            )  # Amaranth warns of hardware that was begun and not used
            raise


@contextmanager
def _refusals_in_one_line() -> Iterator[None]:
    try:
        yield
    except ShardwrightError as error:
        complain(f"error: {error}")
        sys.exit(1)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="shardwright", message="shardwright %(version)s")
def main() -> None:
    """Compile a matrix product over many chips, and run it on the hardware that it describes."""


main.add_command(boards)
main.add_command(build)
main.add_command(check)
main.add_command(collective)
main.add_command(compile_command)
main.add_command(cosim)
main.add_command(fit)
main.add_command(host)
main.add_command(run)
main.add_command(show)
main.add_command(targets)
main.add_command(verilog)
