"""What follows from a program, found once for all that ask."""

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

from compiler.flow.errors import FlowError
from compiler.ir.program import Program

Found = TypeVar("Found")


class Once(Generic[Found]):
    """A function of programs that remembers what it has found of those that still exist.

    A program is long, and is not compared. What is refused once is refused again.
    """

    def __init__(self, find: Callable[[Program], Found]):
        self._find = find
        self._known: dict[int, tuple[weakref.ref[Program], Found | FlowError]] = {}

    def __call__(self, program: Program) -> Found:
        """What the function finds of the canonical form of a program.

        Raises
        ------
        FlowError
            If the function does.
        """
        program = program.canonical
        known = self._known.get(id(program))
        if known is None or known[0]() is not program:
            try:
                found: Found | FlowError = self._find(program)
            except FlowError as error:
                found = error.again()
            key = id(program)
            known = weakref.ref(program, lambda _: self._known.pop(key, None)), found
            self._known[key] = known
        if isinstance(known[1], FlowError):
            raise known[1].again()
        return known[1]
