"""Every engine gives the same product, bit for bit, in the same number of cycles."""

import numpy as np
import pytest

from tests.cosim.configurations import CONFIGURATIONS, ENGINES
from tests.cosim.tools import needs

COVERING = (0, 3, 4, 6, 9, 12, 13, 16, 17, 18, 23, 28)
"""Configurations that show all that the others do. See the last test here."""
IN_EVERY_RUN = {
    "amaranth": COVERING,
    "icarus": (4, 9, 17, 23),
    "compiled": (12,),
    "verilator": (7,),
}
"""Configurations of every run; the others are slow, for a bench takes seconds to build."""


def runs():
    """Every configuration on every engine."""
    found = []
    for index, configuration in enumerate(CONFIGURATIONS):
        for engine in ENGINES:
            quick = index in IN_EVERY_RUN[engine]
            marks = [pytest.mark.cosim, *([] if quick else [pytest.mark.slow])]
            name = f"{configuration}-{engine}"
            found.append(pytest.param(configuration, engine, id=name, marks=marks))
    return found


@pytest.fixture(autouse=True)
def models(tmp_path_factory, monkeypatch):
    """Models of the compiled engine go where all workers of this run find them."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if base.name.startswith("popen-") else base
    monkeypatch.setattr("sim.compiled.cache.cache_folder", lambda: shared / "models")


@pytest.mark.parametrize(("configuration", "engine"), runs())
def test_gives_numpys_product_in_the_predicted_cycles(configuration, engine):
    """Each engine is held to numpy and to the schedule, so all of them agree."""
    needs(engine)
    program = configuration.program()
    a, b = configuration.operands(program)
    result = ENGINES[engine](program, a, b)
    assert result.c.dtype == np.int32
    assert np.array_equal(result.c, configuration.product(a, b))
    assert result.cycles == program.schedule.cycles


@pytest.mark.parametrize("indices", [range(len(CONFIGURATIONS)), COVERING], ids=["all", "covering"])
def test_the_configurations_are_what_is_asked_for(indices):
    configurations = [CONFIGURATIONS[index] for index in indices]
    assert len(CONFIGURATIONS) >= 24
    assert {c.chips for c in configurations} == {1, 2, 4, 8, 16}
    assert {c.tile for c in configurations} == {2, 4, 8, 16}
    sharded = [c for c in configurations if c.chips > 1]
    assert {(c.reduce, c.handoff) for c in sharded} == {
        (reduce, handoff)
        for reduce in ("star", "tree")
        for handoff in ("token", "semaphore", "barrier")
    }
    assert any(c.width < 32 for c in sharded)
    assert any(c.width > 32 * c.tile for c in sharded)
    assert any(c.m % c.tile and c.n % c.tile and c.k % c.tile for c in configurations)
    assert any(c.map for c in configurations)
    assert any(c.flit_cycles > 1 for c in sharded)
    assert any(c.sum_bits < 32 for c in sharded)
