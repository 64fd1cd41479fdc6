"""Every engine gives the same product, bit for bit, in the same number of cycles."""

import numpy as np
import pytest

from compiler.collective_spec import CHANGES
from compiler.ir.dtype import INT32
from compiler.passes.page_ways import HOPS
from tests.cosim.collective_configurations import COLLECTIVES
from tests.cosim.configurations import CONFIGURATIONS, ENGINES
from tests.cosim.tools import needs

COVERING = (0, 3, 4, 6, 9, 12, 13, 16, 17, 18, 23, 28, 31, 33, 34)
"""Configurations that show all that the others do. See the last test here."""
IN_EVERY_RUN = {
    "amaranth": COVERING,
    "icarus": (4, 9, 17, 23, 31),
    "compiled": (12,),
    "verilator": (7,),
}
"""Configurations of every run; the others are slow, for a bench takes seconds to build."""


COLLECTIVES_IN_EVERY_RUN = {
    "amaranth": (2, 6, 7),
    "icarus": (),
    "compiled": (),
    "verilator": (),
}


def runs(configurations=CONFIGURATIONS, in_every_run=IN_EVERY_RUN):
    """Every configuration on every engine."""
    found = []
    for index, configuration in enumerate(configurations):
        for engine in ENGINES:
            quick = index in in_every_run[engine]
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
    assert np.array_equal(result.c, configuration.answer(program, a, b))
    assert result.cycles == program.schedule.cycles


@pytest.mark.parametrize(("configuration", "engine"), runs(COLLECTIVES, COLLECTIVES_IN_EVERY_RUN))
def test_gives_what_numpy_makes_of_slices_in_the_predicted_cycles(configuration, engine):
    needs(engine)
    program = configuration.program()
    (x,) = configuration.operands(program)
    result = ENGINES[engine](program, x)
    assert result.exact
    assert np.array_equal(result.c, configuration.answer(program, x))
    assert result.cycles == program.schedule.cycles


def test_the_collectives_are_of_every_kind():
    assert {c.kind for c in COLLECTIVES} == {*CHANGES}
    assert {c.algorithm for c in COLLECTIVES} == {*HOPS}
    assert {c.handoff for c in COLLECTIVES} == {"token", "semaphore"}
    assert {c.combine for c in COLLECTIVES} == {"sum", "max"}
    assert {c.chips for c in COLLECTIVES} == {2, 3, 4, 5}
    assert any(c.groups > 1 for c in COLLECTIVES)
    assert any(c.dtype != INT32 for c in COLLECTIVES)


@pytest.mark.parametrize("indices", [range(len(CONFIGURATIONS)), COVERING], ids=["all", "covering"])
def test_the_configurations_are_what_is_asked_for(indices):
    configurations = [CONFIGURATIONS[index] for index in indices]
    assert len(CONFIGURATIONS) >= 24
    assert {c.chips for c in configurations} == {1, 2, 4, 8, 16}
    assert {c.tile for c in configurations} == {2, 4, 8, 16}
    sharded = [c for c in configurations if c.chips > 1]
    assert {(c.reduce, c.handoff) for c in sharded} == {
        (reduce, handoff)
        for reduce in ("star", "tree", "ring")
        for handoff in ("token", "semaphore", "barrier")
    }
    assert {c.result for c in sharded if c.reduce == "ring"} == {"home", "all", "scattered"}
    assert any(c.width < 32 for c in sharded)
    assert any(c.width > 32 * c.tile for c in sharded)
    assert any(c.m % c.tile and c.n % c.tile and c.k % c.tile for c in configurations)
    assert any(c.map for c in configurations)
    assert any(c.flit_cycles > 1 for c in sharded)
    assert any(c.sum_bits < 32 for c in sharded)
