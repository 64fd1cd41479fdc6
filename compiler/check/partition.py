"""Obligation ``partition``: what the chips hold of each value is what its layout says."""

from compiler.flow.tile_grid import contraction_blocks
from compiler.ir.certificate import Obligation
from compiler.ir.program import Program
from compiler.validate.parts import CALLED, slice_counts, wrong_parts

STATEMENT = (
    "Every chip holds the part of each value that the value's layout gives it: slices cover their "
    "axis exactly once, in order and in whole tiles, alike in all values that run along it."
)


def partition(program: Program) -> Obligation:
    """Compare the parts that tensors state with the layouts and the extents of their values."""
    counts = slice_counts(program)
    extent = contraction_blocks(program)
    if program.graph.product is not None:
        extent = program.claim.k + program.claim.k_pad
    return Obligation(
        name="partition",
        statement=STATEMENT,
        evidence=(
            ("contraction extent", extent),
            ("slices", counts.get("k", 1)),
            *((f"slices of {CALLED[dim]}", counts[dim]) for dim in ("m", "n") if dim in counts),
        ),
        violations=tuple(why for _, why in wrong_parts(program)),
    )
