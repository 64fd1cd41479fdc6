"""Fall-through: which buffers a beat may leave in the cycle in which it is written."""

from compiler.errors import ValidationError
from compiler.flow.rounds import factor_buffers
from compiler.ir.program import Program
from compiler.ir.stage import Copy, Fold, Load, Map, Merge, Split

FILLERS = (Fold, Map, Copy, Merge, Split)
"""Stages that wait for room beat by beat.

A load does too, but one for a product keeps pace with it, and is not timed. What a product and a
link write is timed by the page that they have room for, and the pages of a link may have to stay
unseen until they are whole.
"""


def check_fall_through(program: Program) -> None:
    """Only what passes beats on, or computes with them, fills buffers that they fall through."""
    factors = factor_buffers(program)
    for stage in program.stages:
        if isinstance(stage.kind, FILLERS):
            continue
        for name in stage.outs:
            if isinstance(stage.kind, Load) and name not in factors:
                continue
            if program.buffer_by_name[name].fall_through:
                kinds = ", ".join(kind.__name__ for kind in FILLERS)
                raise ValidationError(
                    "FallThrough",
                    name,
                    f"buffer {name!r} must not fall through: {type(stage.kind).__name__} stage "
                    f"{stage.name!r} fills it, which is none of {kinds}",
                )
