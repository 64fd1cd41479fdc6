"""What every page holds: the program run on sets of contraction indices instead of numbers.

A page of a buffer is described by the tile of the output that it belongs to and, for each block of
the contraction axis, how many times the products of that block have been added into it. Nothing is
assumed of how a program reduces; what a stage does to its pages is all that counts.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compiler.ir.body import Add, Body, Literal, Max, Operand
from compiler.ir.program import Program
from compiler.ir.stage import Fold, Load, Map, MatmulTiles, Recv, Stage, Store
from compiler.ir.tensor import Tensor

Indices = NDArray[np.int32] | NDArray[np.int64]
"""Short where they are short: they are most of what the checker holds."""

MIXED_RESULTS = 2**20
"""Results times blocks up to which results that add different blocks are told apart."""


class FlowError(Exception):
    """A stage combines pages that do not belong together."""


@dataclass(frozen=True)
class OperandPages:
    """Pages of an operand in the order in which they pass: tile along its free axis, block of k."""

    side: str
    tile: Indices
    block: Indices


@dataclass(frozen=True)
class SumPages:
    """Pages of sums in order: output tile, and per contraction block how often it was added.

    Where the counts of all pages are the same, ``times`` has one row for all of them. ``mapped``
    says whether an elementwise function that is not a sum has been applied.
    """

    row: Indices
    col: Indices
    times: NDArray[np.int32]
    mapped: str = ""

    def times_of(self, page: int) -> NDArray[np.int32]:
        """Per contraction block how often it was added into one of the pages."""
        return self.times[page if len(self.times) > 1 else 0]


Pages = OperandPages | SumPages


def page_flow(
    program: Program, *, with_operands: bool = False
) -> tuple[dict[str, Pages], dict[str, SumPages]]:
    """The pages of every buffer, and those that each store receives, by buffer and stage name.

    Operands are let go once a product has taken them, unless they are asked for: they are the most
    by far.

    Raises
    ------
    FlowError
        If a stage combines pages that do not belong together.
    """
    held: dict[str, Pages] = {}
    stored: dict[str, SumPages] = {}
    for stage in in_order(program):
        sources = [held[name] for name in sources_of(program, stage)]
        if isinstance(stage.kind, MatmulTiles) and not with_operands:
            held = {name: pages for name, pages in held.items() if name not in stage.ins}
        match stage.kind:
            case Load(tensor, _):
                pages = _loaded(program, program.tensor_by_name[tensor], stage)
            case MatmulTiles():
                pages = _multiplied(program, stage, sources)
            case Recv():
                (pages,) = sources
            case Fold(body):
                pages = _folded(stage, body, _sums(stage, sources))
            case Map(body):
                (pages,) = _sums(stage, sources)
                if not _complete(pages):
                    raise FlowError(
                        f"map {stage.name!r} applies {body} to a partial sum; "
                        f"{body} of a sum is not the sum of {body}"
                    )
                pages = SumPages(pages.row, pages.col, pages.times, pages.mapped + str(body))
            case Store():
                (stored[stage.name],) = _sums(stage, sources)
                continue
        (out,) = stage.outs
        held[out] = pages
    return held, stored


def sources_of(program: Program, stage: Stage) -> tuple[str, ...]:
    """Buffers that a stage takes pages from, its own or, for a receive, the sender's."""
    if isinstance(stage.kind, Recv):
        return tuple(edge.buffer for edge in program.edges_by_destination[stage.name])
    return stage.ins


def in_order(program: Program) -> list[Stage]:
    """Stages behind all that feed them.

    Raises
    ------
    FlowError
        If stages feed each other in a circle.
    """
    filled: set[str] = set()
    waiting, order = list(program.stages), list[Stage]()
    while waiting:
        blocked: list[Stage] = []
        for stage in waiting:
            if filled.issuperset(sources_of(program, stage)):
                order.append(stage)
                filled.update(stage.outs)
            else:
                blocked.append(stage)
        if len(blocked) == len(waiting):
            names = ", ".join(repr(stage.name) for stage in blocked)
            raise FlowError(f"stages {names} feed each other in a circle")
        waiting = blocked
    return order


def contraction_blocks(program: Program) -> int:
    """Blocks of the whole contraction axis, padding included."""
    return -(-(program.claim.k + program.claim.k_pad) // program.tile)


def _loaded(program: Program, tensor: Tensor, stage: Stage) -> OperandPages:
    assert isinstance(stage.kind, Load)
    if stage.kind.walk is None:
        raise FlowError(f"load {stage.name!r} has no walk")
    low, high = stage.kind.walk.span
    if stage.kind.walk.page_count and not 0 <= low <= high < tensor.page_count:
        raise FlowError(
            f"load {stage.name!r} reads page {high if low >= 0 else low} of tensor "
            f"{tensor.name!r}, which has {tensor.page_count}"
        )
    piece = tensor.slice_of
    whole = piece.whole if piece else tensor.name
    first = 0
    if piece:
        extent = tensor.rows if piece.axis == "rows" else tensor.cols
        if piece.index * extent % program.tile:
            raise FlowError(f"tensor {tensor.name!r} does not begin at a tile of {whole!r}")
        first = piece.index * extent // program.tile
    is_short = tensor.page_count + abs(first) < 2**31
    pages = stage.kind.walk.indices(np.int32 if is_short else np.int64)
    row, col = np.divmod(pages, tensor.col_tiles)
    if whole == program.claim.left:
        if piece and piece.axis == "rows":
            return OperandPages("left", row + first, col)
        return OperandPages("left", row, col + first)
    if whole == program.claim.right:
        if piece and piece.axis == "cols":
            return OperandPages("right", col + first, row)
        return OperandPages("right", col, row + first)
    raise FlowError(f"load {stage.name!r} reads {whole!r}, which is no operand of the claim")


def _multiplied(program: Program, stage: Stage, sources: list[Pages]) -> SumPages:
    assert isinstance(stage.kind, MatmulTiles)
    left, right = sources
    if not isinstance(left, OperandPages) or not isinstance(right, OperandPages):
        raise FlowError(f"product {stage.name!r} multiplies pages that are not loaded operands")
    if (left.side, right.side) != ("left", "right"):
        raise FlowError(
            f"product {stage.name!r} takes the {left.side} operand first and the {right.side} "
            f"operand second"
        )
    depth = stage.kind.block_count or 0
    if depth < 1 or left.block.size != right.block.size or left.block.size % depth:
        raise FlowError(
            f"product {stage.name!r} takes {depth} pages per result from {left.block.size} pages "
            f"of A and {right.block.size} of B"
        )
    results, extent = left.block.size // depth, contraction_blocks(program)
    blocks = left.block.reshape(results, depth)
    if not np.array_equal(left.block, right.block):
        where = int(np.argmax(left.block != right.block))
        raise FlowError(
            f"product {stage.name!r} multiplies block {int(left.block[where])} of A's contraction "
            f"with block {int(right.block[where])} of B's, at page {where}"
        )
    for side, pages in (("A", left), ("B", right)):
        tiles = pages.tile.reshape(results, depth)
        if (tiles != tiles[:, :1]).any():
            raise FlowError(
                f"product {stage.name!r} mixes tiles of {side} of different results in one sum"
            )
    if blocks.size and not 0 <= blocks.min() <= blocks.max() < extent:
        raise FlowError(
            f"product {stage.name!r} adds blocks {blocks.min()} to {blocks.max()} of the "
            f"contraction, which has {extent}"
        )
    return SumPages(left.tile[::depth], right.tile[::depth], _times(stage, blocks, extent))


def _times(stage: Stage, blocks: Indices, extent: int) -> NDArray[np.int32]:
    """How often each result adds each of the ``extent`` blocks of the contraction.

    Results that add the same blocks in the same order, as all do that a walk can make, are one row.
    """
    if len(blocks) and (blocks == blocks[:1]).all():
        return np.bincount(blocks[0], minlength=extent).astype(np.int32)[None]
    if len(blocks) * extent > MIXED_RESULTS:
        raise FlowError(f"product {stage.name!r} adds other blocks to each of its results")
    times = np.zeros((len(blocks), extent), dtype=np.int32)
    np.add.at(times, (np.arange(len(blocks))[:, None], blocks), 1)
    return times


def _sums(stage: Stage, sources: list[Pages]) -> list[SumPages]:
    sums = [pages for pages in sources if isinstance(pages, SumPages)]
    if len(sums) != len(sources):
        raise FlowError(f"stage {stage.name!r} takes operand pages as if they were sums")
    return sums


def _folded(stage: Stage, body: Body, sources: list[SumPages]) -> SumPages:
    match body:
        case Operand(index):
            return sources[index]
        case Add(left, right):
            one, other = (_folded(stage, side, sources) for side in (left, right))
            if not (np.array_equal(one.row, other.row) and np.array_equal(one.col, other.col)):
                raise FlowError(
                    f"fold {stage.name!r} adds pages that belong to different tiles of the output"
                )
            if one.mapped or other.mapped:
                raise FlowError(f"fold {stage.name!r} adds values that a map has changed")
            return SumPages(one.row, one.col, one.times + other.times)
        case Max() | Literal():
            raise FlowError(f"fold {stage.name!r} combines partial sums by {body}, which is no sum")


def _complete(pages: SumPages) -> bool:
    return bool((pages.times == 1).all())
