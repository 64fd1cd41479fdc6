"""Obligation ``reduced once``: each stored element sums every contraction index exactly once."""

from collections.abc import Iterator

from compiler.flow.errors import FlowError
from compiler.flow.page_flow import page_flow
from compiler.flow.pages import StoredPages
from compiler.flow.tile_grid import contraction_blocks, tile_number
from compiler.ir.certificate import Obligation
from compiler.ir.program import Program
from compiler.ir.stage import Store

STATEMENT = (
    "Every stored output element is the sum over every index of the contraction axis, each exactly "
    "once, and every output tile of a chip is stored exactly once."
)

LISTED = 8
"""Ranges of contraction indices that a violation lists."""


def reduced_once(program: Program) -> Obligation:
    """Follow what every page holds from the loads to the stores, on every chip that stores."""
    violations: list[str] = []
    tiles = 0
    try:
        stored = page_flow(program).stored
    except FlowError as error:
        violations.append(str(error))
        stored = {}
    for pages in stored.values():
        violations += _stored(program, pages)
        tiles += pages.length
    violations += _stored_once(program)
    return Obligation(
        name="reduced once",
        statement=STATEMENT,
        evidence=(
            ("output tiles", tiles),
            ("contraction blocks", contraction_blocks(program)),
            ("elements of a block", program.tile if program.graph.product else 1),
        ),
        violations=tuple(violations),
    )


def _stored_once(program: Program) -> Iterator[str]:
    writer: dict[str, str] = {}
    for stage in program.stages:
        if not isinstance(stage.kind, Store):
            continue
        tensor = stage.kind.tensor
        if tensor in writer:
            yield f"{writer[tensor]} and {stage.name} both store {tensor}"
        writer[tensor] = stage.name
    if not writer:
        yield "nothing is stored"


def _stored(program: Program, stored: StoredPages) -> Iterator[str]:
    stage, product = stored.stage, program.graph.product
    output = program.tensor_by_name[stored.tensor]
    kind = program.stage_by_name[stage].kind
    assert isinstance(kind, Store)
    assert kind.walk is not None
    wrong = stored.first_incomplete(contraction_blocks(program))
    common = min(stored.written.length, stored.length)
    reached = [place for place in (stored.misplaced, wrong) if place is not None and place < common]
    if reached:
        yield from _misstored(program, stored, min(reached))
    if not (kind.walk.visits_once(output.page_count) and stored.length == output.page_count):
        distinct = kind.walk.distinct()
        written = "some" if distinct is None else distinct
        yield (
            f"{stage} writes {written} of {output.page_count} output tiles in "
            f"{kind.walk.page_count} pages, of which {stored.length} arrive"
        )
    claimed = str(product.map) if product and product.map else ""
    for mapped in stored.mapped:
        if mapped != claimed:
            yield f"the sum is mapped by {mapped or 'nothing'}, not by {claimed or 'nothing'}"


def _misstored(program: Program, stored: StoredPages, place: int) -> Iterator[str]:
    """What is wrong with the page that is stored as number ``place``."""
    tile = tile_number(program, stored.tile_of(place))
    page = tile_number(program, stored.written.at(place))
    if page != tile:
        yield f"{stored.stage} writes output tile {tile} to the place of tile {page}"
        return
    adds = stored.adds_of(place)
    missing = list(adds.missing(contraction_blocks(program)))
    if missing:
        yield f"output tile {tile} lacks {_elements(program, missing)}"
    repeated = list(adds.repeated())
    if repeated:
        many = adds.first_repeated_times
        yield f"output tile {tile} adds {_elements(program, repeated)} {many} times"


def _elements(program: Program, ranges: list[tuple[int, int]]) -> str:
    """The contraction indices of some intervals of blocks, of which the first are listed."""
    if program.graph.product is None:
        return f"slices {', '.join(f'{begin} to {end - 1}' for begin, end in ranges[:LISTED])}"
    tile, extent = program.tile, program.claim.k + program.claim.k_pad
    listed = ", ".join(
        f"{begin * tile} to {min(end * tile, extent) - 1}" for begin, end in ranges[:LISTED]
    )
    more = f" and {len(ranges) - LISTED} more ranges" if len(ranges) > LISTED else ""
    return f"contraction indices {listed}{more}"
