"""Settings that all tests share."""

import gc
import os

import pytest
from amaranth.hdl import UnusedElaboratable
from hypothesis import settings

from tests.tiers import leave_to_slow_tier

# Netlists are made of very many small objects, and few of them are garbage before a test ends: to
# collect after every 700 of them, as Python does, takes a sixth of a simulation of 16 chips.
gc.set_threshold(50_000, 10, 10)

settings.register_profile("normal", max_examples=50, deadline=None)
settings.register_profile("nightly", max_examples=300, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "normal"))


@pytest.hookimpl(tryfirst=True)  # before pytest deselects by marks
def pytest_collection_modifyitems(items):
    leave_to_slow_tier(items)


@pytest.fixture
def never_built(monkeypatch):
    """For tests of components that they do not elaborate.

    Amaranth warns of each when it is collected, which may be in another test; a comment at the top
    of the file silences it only for those that the file itself makes.
    """
    monkeypatch.setattr(UnusedElaboratable, "_MustUse__silence", True, raising=False)
    yield
    gc.collect()
