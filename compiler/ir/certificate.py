"""The certificate: what was shown of a program, in numbers."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Obligation:
    """One thing that must hold of a program.

    Parameters
    ----------
    name : str
        Name of the obligation.
    statement : str
        What must hold, in words, which are no part of what was shown: obligations are equal
        whatever their wording.
    evidence : tuple of (str, int or str)
        What was found, as named figures, in the order of the checker.
    violations : tuple of str
        Everything that speaks against it; empty if it holds.
    """

    name: str
    statement: str = field(compare=False)
    evidence: tuple[tuple[str, int | str], ...] = ()
    violations: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """The verdict."""
        return not self.violations


@dataclass(frozen=True)
class Certificate:
    """The obligations of a program, in their fixed order."""

    obligations: tuple[Obligation, ...]

    @property
    def holds(self) -> bool:
        """Whether all obligations hold."""
        return all(obligation.holds for obligation in self.obligations)

    @property
    def violated(self) -> tuple[Obligation, ...]:
        """The obligations that do not hold."""
        return tuple(obligation for obligation in self.obligations if not obligation.holds)
