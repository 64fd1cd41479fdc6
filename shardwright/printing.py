"""Printing: in characters that a stream can show, and not in vain.

Everything that a command prints goes through here. A reader who goes away early (``| head``) ends
the command in silence and with status 1; any other failure is an error of one line.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import TextIO

import click
from rich.console import Console, RenderableType

from shardwright.errors import StandardOutputError


def say(text: str = "", *, newline: bool = True) -> None:
    """Print text on standard output.

    Raises
    ------
    StandardOutputError
        If it cannot be written.
    """
    # Named, as click would take UTF-8 on a stream that is to get ASCII.
    _written(lambda: click.echo(text, file=sys.stdout, nl=newline))


def draw(picture: RenderableType) -> None:
    """Print a table or a picture on standard output.

    Raises
    ------
    StandardOutputError
        If it cannot be written.
    """
    _written(lambda: _Console(file=sys.stdout).print(picture))


def complain(text: str) -> None:
    """Print text on standard error, if there is anybody to read it."""
    try:
        click.echo(text, file=sys.stderr)
    except OSError:
        _abandon(sys.stderr)


class _Console(Console):
    """A console that leaves it to us what a broken pipe means."""

    def on_broken_pipe(self) -> None:
        raise


@contextmanager
def standard_streams() -> Iterator[None]:
    """Standard streams that are there and take any text, until a command has ended.

    Raises
    ------
    StandardOutputError
        If what was printed on standard output past :func:`say`, as a help text is, cannot be
        written.
    """
    _open_closed_streams()
    wrapped = [each for each in (sys.stdout, sys.stderr) if isinstance(each, TextIOWrapper)]
    before = [each.errors for each in wrapped]
    for each in wrapped:
        each.reconfigure(errors="backslashreplace")
    try:
        yield
    except OSError:
        say()  # fails in its way, if standard output is what failed
        raise
    finally:
        for each, errors in zip(wrapped, before, strict=True):
            with suppress(OSError):
                each.reconfigure(errors=errors)


def _written(write: Callable[[], object]) -> None:
    try:
        write()
    except BrokenPipeError:
        _abandon(sys.stdout)
        sys.exit(1)
    except OSError as error:
        _abandon(sys.stdout)
        raise StandardOutputError(why=error.strerror or str(error)) from error


def _abandon(stream: TextIO) -> None:
    """Let what is left go nowhere, so that Python does not stumble over it as it ends."""
    with suppress(OSError), open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


def _open_closed_streams() -> None:
    """Occupy the descriptors of standard streams that are closed (``>&-``).

    The next file to be opened would get their numbers, and what is printed. Standard output stays
    one that cannot be written; errors go nowhere, as was asked.
    """
    for number, name, access in (
        (0, "stdin", os.O_RDONLY),
        (1, "stdout", os.O_RDONLY),
        (2, "stderr", os.O_WRONLY),
    ):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, access)
            os.dup2(opened, number)  # inheritable, unlike what os.open gives
            if opened != number:
                os.close(opened)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))
