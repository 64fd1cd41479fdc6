"""What a mutation is: one named way to break a certified program."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from compiler.ir.certificate import Certificate
from compiler.ir.program import Program

Breaking = Callable[[Program], Program | None]


@dataclass(frozen=True)
class Mutation:
    """One way to break a program.

    Parameters
    ----------
    name, group : str
        What is broken, and what it is a kind of.
    breaking : callable
        Gives the broken program, or ``None`` where there is nothing to break in this way.
    expected : tuple of (str, str)
        The obligations that must be violated, each with a part of what must be said.
    """

    name: str
    group: str
    breaking: Breaking
    expected: tuple[tuple[str, str], ...]

    def apply(self, program: Program) -> Program | None:
        """The broken program, which carries no certificate, or ``None``."""
        broken = self.breaking(program)
        return None if broken is None else replace(broken, certificate=None)

    def missed(self, certificate: Certificate) -> list[str]:
        """What should have been said of the broken program, and was not."""
        said = {
            obligation.name: obligation.violations
            for obligation in certificate.violated
            if obligation.statement  # those without one were not asked
        }
        return [
            f"{obligation}: {text}"
            for obligation, text in self.expected
            if not any(text in violation for violation in said.get(obligation, ()))
        ]


def breaks(*expected: str) -> Callable[[Breaking], Mutation]:
    """Make a function a mutation that must be refused as ``obligation: part of the text``."""

    def named(breaking: Breaking) -> Mutation:
        pairs = [tuple(one.split(": ", maxsplit=1)) for one in expected]
        return Mutation(
            name=breaking.__name__.replace("_", " "),
            group=breaking.__module__.rsplit(".", maxsplit=1)[-1].replace("_", " "),
            breaking=breaking,
            expected=tuple((obligation, text) for obligation, text in pairs),
        )

    return named
