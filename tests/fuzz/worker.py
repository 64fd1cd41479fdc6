"""Mutants in a process of their own, with a limit of memory and of time for each.

``python -m tests.fuzz.worker FIRST COUNT HARDWARE`` prints a line of JSON for each mutant that is
not dealt with rightly, and at last one with the counts. One mutant again: ``FIRST 1 1``.
"""

import json
import random
import resource
import signal
import sys
import tempfile
import traceback
from pathlib import Path
from types import FrameType

from tests.fuzz.judge import Judge
from tests.fuzz.mutations import mutate
from tests.fuzz.programs import PROGRAMS, document

SECONDS = 5
"""For check and show of a file, of one core."""
RUN_SECONDS = 60
"""For the simulation and the Verilog of a small program."""
MEMORY_BYTES = 2**30
"""For all that the process has, Python and numpy included."""


class LateError(BaseException):
    """A mutant took too long. Nothing may catch it on its way."""


def mutant(index: int) -> tuple[str, dict]:
    """A mutant by its number, and how it was made: always the same."""
    rng = random.Random(f"mutant {index}")
    kind = list(PROGRAMS)[index % len(PROGRAMS)]
    made = document(kind)
    return f"{kind}: {mutate(made, rng)}", made


def main(first: int, count: int, hardware: int) -> None:
    """Judge mutants ``first`` to ``first + count - 1``."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    signal.signal(signal.SIGPROF, _late)
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(Path(folder), hardware)
        for index in range(first, first + count):
            what, made = mutant(index)
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                program = judge.checked(made, str(index))
                if program is not None:
                    signal.setitimer(signal.ITIMER_PROF, RUN_SECONDS)
                    judge.simulated(program)
            except (Exception, LateError) as error:
                signal.setitimer(signal.ITIMER_PROF, 0)
                place = _place(error)
                said = f"{type(error).__name__}: {str(error)[:300]}"
                print(json.dumps({"mutant": index, "what": what, "error": said, "at": place}))
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
    print(json.dumps({"counts": judge.counts}))


def _place(error: BaseException) -> str:
    """Where in this project an error was raised."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if ".venv" not in f.filename]
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}"


def _late(signum: int, frame: FrameType | None) -> None:
    raise LateError(f"not done in {SECONDS} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
