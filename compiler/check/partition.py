"""Obligation ``partition``: the slices of the contraction axis cover it exactly once."""

from collections.abc import Iterator

from compiler.ir.certificate import Obligation
from compiler.ir.program import Program
from compiler.ir.tensor import Tensor

STATEMENT = "The slices of the contraction axis cover it exactly once, alike in both operands."


def partition(program: Program) -> Obligation:
    """Compare the slices that the tensors state with the extents that the program claims."""
    claim = program.claim
    extent = claim.k + claim.k_pad
    violations: list[str] = []
    counts: dict[str, int] = {}
    for whole, axis, free in ((claim.left, "cols", claim.m), (claim.right, "rows", claim.n)):
        pieces = [t for t in program.tensors if whole in (t.name, t.slice_of and t.slice_of.whole)]
        counts[whole] = len(pieces)
        violations += _covers(whole, axis, extent, free, pieces)
    if len(set(counts.values())) > 1:
        violations.append(
            " and ".join(f"{whole} has {count} slices" for whole, count in counts.items())
        )
    return Obligation(
        name="partition",
        statement=STATEMENT,
        evidence=(("contraction extent", extent), ("slices", max(counts.values()))),
        violations=tuple(violations),
    )


def _covers(whole: str, axis: str, extent: int, free: int, pieces: list[Tensor]) -> Iterator[str]:
    """What keeps ``pieces`` from covering ``whole`` along ``axis``."""
    if not pieces:
        yield f"no tensor holds {whole} or a slice of it"
    spans: list[tuple[int, int, str]] = []
    for tensor in pieces:
        along, across = (tensor.cols, tensor.rows) if axis == "cols" else (tensor.rows, tensor.cols)
        if across != free:
            yield f"{tensor.name} has {across} {'rows' if axis == 'cols' else 'columns'} of {free}"
        piece = tensor.slice_of
        if piece is None:
            spans.append((0, along, tensor.name))
            continue
        if piece.axis != axis:
            yield f"{tensor.name} is a slice along {piece.axis}, not along the contraction ({axis})"
        if piece.count != len(pieces):
            yield f"{tensor.name} is slice {piece.index} of {piece.count}, but {len(pieces)} exist"
        spans.append((piece.index * along, (piece.index + 1) * along, tensor.name))
    reached = 0
    for begin, end, name in sorted(spans):
        if begin > reached:
            yield f"elements {reached} to {begin - 1} of {whole}'s contraction are in no slice"
        if begin < reached:
            yield f"{name} holds elements from {begin} on, which another slice of {whole} holds too"
        reached = max(reached, end)
    if pieces and reached != extent:
        yield f"the slices of {whole} end at {reached} of {extent}"
