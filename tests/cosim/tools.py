"""Tools that a test may lack."""

import pytest

from sim.cosim.runner import check_tools
from sim.errors import ToolMissingError


def needs(simulator: str) -> None:
    """Skip the test with the reason where a simulator is missing."""
    try:
        check_tools(simulator)
    except ToolMissingError as error:
        pytest.skip(str(error))
