"""Kinds of links: every link of a program is one that its target has."""

from compiler.errors import ValidationError
from compiler.ir.link_kind import figures
from compiler.ir.program import Program
from compiler.targets import Target


def check_kinds_of_links(program: Program, target: Target) -> None:
    """Every link is of a kind that the target has."""
    for link in program.links:
        if not any(kind.describes(link) for kind in target.links):
            stated = "; or of ".join(dict.fromkeys(map(str, target.links)))
            raise ValidationError(
                "LinkKind",
                link.name,
                f"link {link.name!r} is of {figures(link)}, but target {target.name!r} has links "
                f"of {stated}",
            )
