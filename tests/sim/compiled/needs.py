"""Marks of tests that build models."""

import shutil

import pytest

BUILDS_MODELS = [
    pytest.mark.cosim,
    pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not on PATH"),
]
