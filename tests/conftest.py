"""Settings that all tests share."""

import gc
import os

import pytest
from amaranth.hdl import UnusedElaboratable
from hypothesis import settings

settings.register_profile("normal", max_examples=50, deadline=None)
settings.register_profile("nightly", max_examples=300, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "normal"))


@pytest.fixture
def never_built(monkeypatch):
    """For tests of components that they do not elaborate.

    Amaranth warns of each when it is collected, which may be in another test; a comment at the top
    of the file silences it only for those that the file itself makes.
    """
    monkeypatch.setattr(UnusedElaboratable, "_MustUse__silence", True, raising=False)
    yield
    gc.collect()
