"""What the commands that run a product print, and how they end."""

import json
import sys
from collections.abc import Mapping, Sequence

import numpy as np

from report.run import pictures, record, summary
from shardwright.printing import draw, say
from sim.files import write_whole
from sim.result import RunResult


def show_outcome(
    result: RunResult,
    *,
    output: str | None,
    as_json: bool,
    reduce: str | None = None,
    more: Mapping[str, object] | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Write the product if it is exact, print the run, and exit with status 1 if it is not.

    ``more`` goes into the JSON object, ``notes`` are lines below what is printed without it.
    """
    if output is not None and result.exact:
        write_whole(output, lambda file: np.save(file, result.c))
    if as_json:
        say(json.dumps({**record(result, reduce=reduce), **(more or {})}, indent=2))
    elif sys.stdout.isatty():
        draw(pictures(result))
    else:
        say(summary(result))
    for note in () if as_json else notes:
        say(note)
    if not result.exact:
        sys.exit(1)
