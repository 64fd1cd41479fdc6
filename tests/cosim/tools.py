"""Tools that a test may lack."""

import shutil

import pytest

from sim.cosim.runner import SIMULATORS, check_tools
from sim.errors import ToolMissingError


def missing(engine: str) -> str | None:
    """What an engine lacks here, if anything."""
    try:
        if engine in SIMULATORS:
            check_tools(engine)
    except ToolMissingError as error:
        return str(error)
    if engine == "compiled" and shutil.which("g++") is None:
        return "the compiled engine needs g++"
    return None


def needs(engine: str) -> None:
    """Skip the test with the reason where an engine lacks something."""
    reason = missing(engine)
    if reason:
        pytest.skip(reason)
