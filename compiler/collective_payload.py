"""Payloads: from a number of bytes to a matrix whose pages keep every link of a ring busy."""

from math import isqrt

from compiler.ir.dtype import DType
from compiler.passes.page_turns import HOP_CYCLES
from compiler.targets import Target

MOST_COLUMNS = 512
"""Tiles in a row of a payload, unless there is no other way: so many turns are listed."""


SPARED = 0.03
"""Part of the work that is not saved at the price of longer rows."""


def payload_shape(
    kind: str, size_bytes: int, chips: int, dtype: DType, target: Target
) -> tuple[int, int]:
    """Rows and columns of a matrix that holds so many bytes, in whole tiles, and few more.

    A chip owns some columns of tiles. A page that is passed on comes back to a chip a hop later
    than it has left the one before, so each chip has so many pages in a row of tiles that its link
    is busy for that long. Rows follow each other without a pause.

    Parameters
    ----------
    kind : str
        One of :data:`~compiler.collective_spec.CHANGES`. What is exchanged by all with all is cut
        along its rows too.
    size_bytes : int
        Bytes of the whole value; the last page may hold zeros behind them.
    """
    tile = target.tile
    pages = max(1, -(-size_bytes * 8 // (tile * tile * dtype.bits)))
    beat = -(-tile * dtype.bits // target.link_width_bits) * target.link_flit_cycles
    hop = target.link_latency_cycles + HOP_CYCLES + beat
    each = -(-hop // (tile * beat))
    if kind == "all_to_all":
        per_row = -(-pages // chips)
        cols = chips * min(each, -(-per_row // chips))
        rows = chips * -(-pages // (chips * cols))
    else:
        cols = _columns(pages, chips, each)
        rows = -(-pages // cols)
    return rows * tile, cols * tile


def _columns(pages: int, chips: int, each: int) -> int:
    """Tiles in a row: the fewest with which the busiest link has hardly more to do than it must.

    Zeros behind the last page cost as much as pages, and so do columns that do not divide.
    """
    least = chips * each
    if pages <= least:
        return pages
    counts = {pages, *range(least, min(pages, MOST_COLUMNS) + 1, chips)}
    low = [d for d in range(1, isqrt(pages) + 1) if pages % d == 0]
    counts.update(d for d in (*low, *(pages // d for d in low)) if least <= d <= MOST_COLUMNS)
    if pages > MOST_COLUMNS:
        counts.discard(pages)

    work = {cols: -(-pages // cols) * (cols - cols // chips) for cols in counts}
    few = min(work.values()) * (1 + SPARED)
    return min(cols for cols, its in work.items() if its <= few)
