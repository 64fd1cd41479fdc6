"""What a tool complains of, found in all that it said."""

import re

QUOTED = re.compile(r"\s*\d*\s*\|")
"""A line of source as compilers quote it. It may hold any word, ``error`` too."""

ERROR = re.compile(
    r"(.*?:\d+(:\d+)?: |[\w./+-]+: )?"  # a place in a file, or the tool
    r"(%error(-\w+)?: |(fatal |internal |internal compiler |syntax )?error\b|sorry: )"
    r"|.*: (undefined reference to|cannot find) ",
    re.IGNORECASE,
)
WARNING = re.compile(r"(.*?:\d+(:\d+)?: )?%?warning\b", re.IGNORECASE)


def complaint(said: str) -> str | None:
    """The line that says what is wrong: the first error, the first warning, or the last line.

    ``None`` if nothing was said.
    """
    lines = [line.strip().rstrip(".") for line in said.splitlines() if line.strip()]
    for kind in (ERROR, WARNING):
        for line in lines:
            if kind.match(line) and not QUOTED.match(line):
                return line
    return lines[-1] if lines else None
