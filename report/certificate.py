"""What a certificate looks like: as a record for machines, as lines for people."""

from collections.abc import Iterator
from typing import Any

from compiler.ir.certificate import Certificate
from compiler.ir.program import Program

SHOWN_FIGURES = 4


def certificate_record(
    program: Program, certificate: Certificate, *, carried_certificate_agrees: bool
) -> dict[str, Any]:
    """A certificate as plain data."""
    return {
        "program": program.name,
        "target": program.target.name,
        "holds": certificate.holds and carried_certificate_agrees,
        "carried_certificate_agrees": carried_certificate_agrees,
        "obligations": [
            {
                "name": obligation.name,
                "holds": obligation.holds,
                "statement": obligation.statement,
                "evidence": dict(obligation.evidence),
                "violations": list(obligation.violations),
            }
            for obligation in certificate.obligations
        ],
    }


def certificate_lines(certificate: Certificate) -> Iterator[str]:
    """One line for each obligation: verdict, name and the first figures of its evidence."""
    width = max(len(obligation.name) for obligation in certificate.obligations)
    for obligation in certificate.obligations:
        verdict = "holds   " if obligation.holds else "VIOLATED"
        figures = [f"{name} {value}" for name, value in obligation.evidence[:SHOWN_FIGURES]]
        more = len(obligation.evidence) - SHOWN_FIGURES
        if more > 0:
            figures.append(f"and {more} more")
        yield f"{verdict}  {obligation.name:{width}}  {', '.join(figures)}".rstrip()
        for violation in obligation.violations:
            yield f"          {'':{width}}  {violation}"
