"""The checker: recomputes every obligation of a program from the program alone.

It imports the program representation and the validator's rules, and nothing of the passes or of the
performance model that they use; a test holds that. So a fault in a pass cannot hide itself here.
"""

from collections.abc import Callable
from dataclasses import replace

from compiler.check.collectives import order
from compiler.check.partition import partition
from compiler.check.ranges import ranges
from compiler.check.reduced_once import reduced_once
from compiler.check.rules import capacity, handoffs, landing, meaning, well_formed
from compiler.check.schedule import schedule
from compiler.check.tokens import counting, no_deadlock
from compiler.errors import UncertifiedProgramError
from compiler.ir.certificate import Certificate, Obligation
from compiler.ir.program import Program

__all__ = ["OBLIGATIONS", "certified", "check", "require"]

FIRST: dict[str, Callable[[Program], Obligation]] = {
    "well formed": well_formed,
    "landing": landing,
    "hand-offs": handoffs,
}
"""What must hold before the rest can be asked."""
REST: dict[str, Callable[[Program], Obligation]] = {
    "partition": partition,
    "reduced once": reduced_once,
    "layout": meaning,
    "counting": counting,
    "no deadlock": no_deadlock,
    "range": ranges,
    "capacity": capacity,
    "order": order,
    "schedule": schedule,
}
OBLIGATIONS = (*FIRST, *REST)


def check(program: Program) -> Certificate:
    """Every obligation, with its evidence and verdict, in the order of :data:`OBLIGATIONS`.

    Some obligations cannot even be asked of a program that breaks an earlier one; they count as
    violated and say so.
    """
    program = program.canonical
    shown: dict[str, Obligation] = {}
    for name, obligation in (FIRST | REST).items():
        needed = ["well formed"] if name in FIRST else list(FIRST)
        broken = [earlier for earlier in needed if earlier in shown and not shown[earlier].holds]
        if broken:
            why = f"not shown, since {broken[0]!r} is violated"
            shown[name] = Obligation(name, "", (), (why,))
        else:
            shown[name] = obligation(program)
    return Certificate(tuple(shown.values()))


def certified(program: Program) -> Program:
    """The program with its certificate.

    Raises
    ------
    UncertifiedProgramError
        If an obligation does not hold.
    """
    certificate = check(program)
    _refuse(program, certificate)
    return replace(program, certificate=certificate)


def require(program: Program) -> None:
    """Recompute the certificate of a program that is about to be elaborated or run.

    Raises
    ------
    UncertifiedProgramError
        If the program carries no certificate, an obligation does not hold, or the certificate that
        it carries says something else.
    """
    certificate = check(program)
    _refuse(program, certificate)
    if program.certificate != certificate:
        why = "the program carries none"
        if program.certificate is not None:
            why = "it says something else than what was recomputed"
        why += "; compile the program anew"
        raise UncertifiedProgramError(program=program.name, violations=(("certificate", why),))


def _refuse(program: Program, certificate: Certificate) -> None:
    if not certificate.holds:
        raise UncertifiedProgramError(
            program=program.name,
            violations=tuple(
                (obligation.name, obligation.violations[0])
                for obligation in certificate.violated
                if obligation.statement  # those without one were not asked
            ),
        )
