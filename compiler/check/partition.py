"""Obligation ``partition``: what the chips hold of each value is what its layout says."""

from compiler.ir.certificate import Obligation
from compiler.ir.program import Program
from compiler.validate.parts import CALLED, slice_counts, wrong_parts

STATEMENT = (
    "Every chip holds the part of each value that the value's layout gives it: slices cover their "
    "axis exactly once, in order and in whole tiles, alike in all values that run along it."
)


def partition(program: Program) -> Obligation:
    """Compare the parts that tensors state with the layouts and the extents of their values."""
    claim, counts = program.claim, slice_counts(program)
    return Obligation(
        name="partition",
        statement=STATEMENT,
        evidence=(
            ("contraction extent", claim.k + claim.k_pad),
            ("slices", counts.get("k", 1)),
            *((f"slices of {CALLED[dim]}", counts[dim]) for dim in ("m", "n") if dim in counts),
        ),
        violations=tuple(why for _, why in wrong_parts(program)),
    )
