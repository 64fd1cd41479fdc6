"""What every page of a program holds, found once for all that ask."""

import weakref

from compiler.flow.errors import FlowError
from compiler.flow.follower import PageFollower
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
    program = program.canonical
    known = _KNOWN.get(id(program))
    if known is None or known[0]() is not program:
        try:
            found: PageFlow | FlowError = PageFollower(program).follow()
        except FlowError as error:
            found = error.again()
        key = id(program)
        known = weakref.ref(program, lambda _: _KNOWN.pop(key, None)), found
        _KNOWN[key] = known
    found = known[1]
    if isinstance(found, FlowError):
        raise found.again()
    return found


_KNOWN: dict[int, tuple[weakref.ref[Program], PageFlow | FlowError]] = {}
"""What has been found of programs that still exist. A program is long, and is not compared."""
