"""Settings that all tests share."""

import os

from hypothesis import settings

settings.register_profile("normal", max_examples=50, deadline=None)
settings.register_profile("nightly", max_examples=300, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "normal"))
