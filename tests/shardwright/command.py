"""The command line, run inside of the test's own process or in one of its own."""

import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner, Result

from shardwright.cli import main


def command_line(command: str, *more: object) -> list[str]:
    """A command, split at its spaces, and further arguments as they are."""
    program = Path(sys.executable).with_name("shardwright")
    return [str(program), *command.split(), *map(str, more)]


def invoke(command: str, *more: object) -> Result:
    """Run a command here. An error that would print a traceback is raised."""
    result = CliRunner().invoke(main, command_line(command, *more)[1:])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def spawn(command: str, *, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own, with its output piped."""
    return subprocess.run(
        command_line(command), cwd=cwd, capture_output=True, text=True, timeout=60
    )


def last_line(result: Result) -> str:
    """What a command printed last."""
    return result.output.strip().splitlines()[-1]
