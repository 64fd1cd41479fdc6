"""Obligation ``reduced once``: each stored element sums every contraction index exactly once."""

from collections.abc import Iterator

import numpy as np

from compiler.check.page_flow import FlowError, Indices, SumPages, contraction_blocks, page_flow
from compiler.ir.certificate import Obligation
from compiler.ir.program import Program
from compiler.ir.stage import Stage, Store

STATEMENT = (
    "Every stored output element is the sum over every index of the contraction axis, each exactly "
    "once, and every output tile is stored exactly once."
)

LISTED = 8
"""Ranges of contraction indices that a violation lists."""


def reduced_once(program: Program) -> Obligation:
    """Follow what every page holds from the loads to the stores."""
    violations: list[str] = []
    tiles = 0
    try:
        _, stored = page_flow(program)
    except FlowError as error:
        violations.append(str(error))
        stored = {}
    for stage in program.stages:
        if isinstance(stage.kind, Store) and stage.name in stored:
            violations += _stored(program, stage, stored[stage.name])
            tiles += len(stored[stage.name].row)
    if not any(isinstance(stage.kind, Store) for stage in program.stages):
        violations.append("nothing is stored")
    return Obligation(
        name="reduced once",
        statement=STATEMENT,
        evidence=(
            ("output tiles", tiles),
            ("contraction blocks", contraction_blocks(program)),
            ("elements of a block", program.tile),
        ),
        violations=tuple(violations),
    )


def _stored(program: Program, stage: Stage, pages: SumPages) -> Iterator[str]:
    assert isinstance(stage.kind, Store)
    output = program.tensor_by_name[stage.kind.tensor]
    claim = program.claim
    if (output.name, output.rows, output.cols) != (claim.output, claim.m, claim.n):
        yield (
            f"{stage.name} stores {output.rows} x {output.cols} {output.name}, but the claim is "
            f"{claim.m} x {claim.n} {claim.output}"
        )
    if stage.kind.walk is None:
        yield f"{stage.name} has no walk"
        return
    walk = stage.kind.walk
    held = pages.row.astype(np.int64) * output.col_tiles + pages.col
    common = min(walk.page_count, len(held))
    written = walk.indices() if common else held
    misplaced = np.flatnonzero(written[:common] != held[:common])
    wrong = np.flatnonzero((pages.times != 1).any(axis=1))
    reached = [int(places[0]) for places in (misplaced, wrong) if places.size]
    if reached and min(reached) < common:
        yield from _misstored(program, stage, pages, held, written, min(reached))
    distinct = walk.distinct()
    within = 0 <= walk.span[0] <= walk.span[1] < output.page_count
    if not (within and distinct == output.page_count == walk.page_count == len(held)):
        yield (
            f"{stage.name} writes {distinct} of {output.page_count} output tiles in "
            f"{walk.page_count} pages, of which {len(held)} arrive"
        )
    claimed = str(claim.map) if claim.map else ""
    if pages.mapped != claimed:
        yield f"the sum is mapped by {pages.mapped or 'nothing'}, not by {claimed or 'nothing'}"


def _misstored(
    program: Program, stage: Stage, pages: SumPages, held: Indices, written: Indices, place: int
) -> Iterator[str]:
    """What is wrong with the page that is stored as number ``place``."""
    tile, page = int(held[place]), int(written[place])
    if page != tile:
        yield f"{stage.name} writes output tile {tile} to the place of tile {page}"
        return
    times = pages.times_of(place)
    missing, repeated = np.flatnonzero(times == 0), np.flatnonzero(times > 1)
    if missing.size:
        yield f"output tile {tile} lacks {_elements(program, missing)}"
    if repeated.size:
        many = int(times[repeated[0]])
        yield f"output tile {tile} adds {_elements(program, repeated)} {many} times"


def _elements(program: Program, blocks: np.ndarray) -> str:
    """The contraction indices of some blocks, as ranges, of which the first are listed."""
    ends = np.flatnonzero(np.diff(blocks) != 1)
    first = blocks[np.concatenate([[0], ends + 1])] * program.tile
    last = (blocks[np.concatenate([ends, [len(blocks) - 1]])] + 1) * program.tile
    end = program.claim.k + program.claim.k_pad
    shown = zip(first[:LISTED].tolist(), last[:LISTED].tolist(), strict=True)
    listed = ", ".join(f"{a} to {min(b, end) - 1}" for a, b in shown)
    more = f" and {len(first) - LISTED} more ranges" if len(first) > LISTED else ""
    return f"contraction indices {listed}{more}"
