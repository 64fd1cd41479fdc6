"""What every page of a program holds."""

from compiler.flow.follower import PageFollower
from compiler.flow.once import Once
from compiler.flow.pages import PageFlow
from compiler.ir.program import Program


def page_flow(program: Program) -> PageFlow:
    """Follow all pages from the loads to the stores. Several may ask; it is done once.

    Raises
    ------
    FlowError
        If a stage combines pages that do not belong together, or if there are too many pages to
        be followed that no loops tell.
    """
    return _followed(program)


_followed = Once(lambda program: PageFollower(program).follow())
