"""Every engine gives the same product, bit for bit, in the same number of cycles."""

import numpy as np
import pytest

from tests.cosim.configurations import CONFIGURATIONS, ENGINES
from tests.cosim.tools import needs

VERILATED_IN_EVERY_RUN = (1, 9)
"""Verilator takes half a minute for each."""


def engines_of(index):
    return [
        pytest.param(
            index,
            engine,
            id=f"{CONFIGURATIONS[index]}-{engine}",
            marks=[
                *([pytest.mark.cosim] if engine in ("icarus", "verilator") else []),
                *(
                    [pytest.mark.slow]
                    if engine == "verilator" and index not in VERILATED_IN_EVERY_RUN
                    else []
                ),
            ],
        )
        for engine in ENGINES
    ]


@pytest.mark.parametrize(
    ("index", "engine"),
    [param for index in range(len(CONFIGURATIONS)) for param in engines_of(index)],
)
def test_gives_numpys_product_in_the_predicted_cycles(index, engine):
    """Each engine is held to numpy and to the schedule, so all of them agree."""
    if engine in ("icarus", "verilator"):
        needs(engine)
    configuration = CONFIGURATIONS[index]
    program = configuration.program()
    a, b = configuration.operands(program)
    result = ENGINES[engine](program, a, b)
    assert result.c.dtype == np.int32
    assert np.array_equal(result.c, configuration.product(a, b))
    assert result.cycles == program.schedule.cycles


def test_the_configurations_are_what_is_asked_for():
    assert len(CONFIGURATIONS) >= 24
    assert {c.chips for c in CONFIGURATIONS} == {1, 2, 4, 8, 16}
    assert {c.tile for c in CONFIGURATIONS} == {2, 4, 8, 16}
    sharded = [c for c in CONFIGURATIONS if c.chips > 1]
    assert {(c.reduce, c.handoff) for c in sharded} == {
        (reduce, handoff)
        for reduce in ("star", "tree")
        for handoff in ("token", "semaphore", "barrier")
    }
    assert min(c.width for c in sharded) < 32 * 2 < max(c.width for c in sharded)
