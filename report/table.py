"""Tables as lines of aligned text."""

from collections.abc import Iterator, Sequence

from report.units import is_number

Rows = Sequence[Sequence[str]]
"""Cells by row; the first row names the columns."""

GAP = "  "


def aligned(rows: Rows) -> Iterator[str]:
    """The rows as lines: columns of numbers to the right, others to the left."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    numbers = [any(map(is_number, column[1:])) for column in columns]
    for row in rows:
        cells = (
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, numbers, strict=True)
        )
        yield GAP.join(cells).rstrip()
