"""Prints every mutation with what refuses it and, where it is shown, what it would have done."""

from compiler.check import check
from compiler.ir.program import Program
from tests.mutation.certified import PLANS, certified_program
from tests.mutation.consequences import texts
from tests.mutation.mutation import Mutation
from tests.mutation.mutations import MUTATIONS


def lines() -> list[str]:
    """The table in Markdown."""
    damage = texts()
    rows = [
        f"{len(MUTATIONS)} mutations of {len(PLANS)} programs, all refused. The interpreter shows "
        f"what {len(damage)} of them would have done.",
        "",
        "| mutation | programs | refused by | what is said, for one of them | what it does |",
        "| --- | --- | --- | --- | --- |",
    ]
    group = None
    for mutation in MUTATIONS:
        if mutation.group != group:
            group = mutation.group
            rows.append(f"| **{group}** | | | | |")
        broken = [mutation.apply(certified_program(name)) for name in PLANS]
        applied = [program for program in broken if program is not None]
        cells = (
            mutation.name,
            str(len(applied)),
            ", ".join(obligation for obligation, _ in mutation.expected),
            said(mutation, applied[-1]),
            damage.get(mutation.name, ""),
        )
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def said(mutation: Mutation, broken: Program) -> str:
    """What the first of the expected obligations says of a broken program."""
    obligation, text = mutation.expected[0]
    violations = next(o.violations for o in check(broken).obligations if o.name == obligation)
    return next(violation for violation in violations if text in violation)


if __name__ == "__main__":
    print("\n".join(lines()))
