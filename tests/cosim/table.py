"""Prints what every engine makes of every configuration: ``python -m tests.cosim.table``.

Engines may be named; all by default. A machine without a simulator gets a table without it.
"""

import sys

import numpy as np

from tests.cosim.collective_configurations import COLLECTIVES
from tests.cosim.configurations import CONFIGURATIONS, ENGINES
from tests.cosim.tools import missing

ALL = (*CONFIGURATIONS, *COLLECTIVES)
"""Products and collectives by themselves."""


def available(engine: str) -> bool:
    """Whether an engine can run here; says why not otherwise."""
    reason = missing(engine)
    if reason:
        print(f"{engine}: {reason}", file=sys.stderr)
    return reason is None


def main() -> int:
    """Print the table; return how many configurations the engines do not agree on."""
    engines = [engine for engine in sys.argv[1:] or ENGINES if available(engine)]
    print(f"| configuration | predicted | {' | '.join(engines)} | equal, exact |")
    print(f"| --- | {' | '.join(['---:'] * (len(engines) + 1))} | --- |")
    wrong = 0
    for configuration in ALL:
        program = configuration.program()
        assert program.schedule is not None
        inputs = configuration.operands(program)
        results = [ENGINES[engine](program, *inputs) for engine in engines]
        cycles = [result.cycles for result in results]
        agree = {program.schedule.cycles} == set(cycles) and all(
            np.array_equal(result.c, configuration.answer(program, *inputs)) for result in results
        )
        wrong += not agree
        row = [str(configuration), program.schedule.cycles, *cycles, "yes" if agree else "NO"]
        print(f"| {' | '.join(map(str, row))} |", flush=True)
    print(f"\n{len(ALL) - wrong} of {len(ALL)} configurations agree")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
