"""``shardwright boards``: boards that carry chips, their pins, and the cables between them."""

import json
from collections.abc import Iterable
from typing import Any

import click

from constraints.cabling import SHAPES, Cabling, cables_of_shape, cabling_of
from constraints.cabling_file import load_cabling
from constraints.description import board_names, load_board
from report.boards import (
    board_lines,
    board_record,
    board_rows,
    cabling_lines,
    cabling_record,
    cabling_rows,
    pin_rows,
)
from report.table import aligned
from shardwright.printing import say

CHIP_LIMIT = 1024
"""More boards than one sets up by hand."""


@click.command()
@click.argument("board", required=False)
@click.option(
    "--chips", type=click.IntRange(1, CHIP_LIMIT), help="Print the cables of so many boards."
)
@click.option(
    "--reduce",
    "shape",
    type=click.Choice(SHAPES),
    default="tree",
    help="How the boards of --chips are joined.  [default: tree]",
)
@click.option(
    "--cabling",
    "cabling_file",
    metavar="FILE.toml",
    type=click.Path(),
    help="Print the cables of a table of yours, which names its boards.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def boards(
    board: str | None, chips: int | None, shape: str, cabling_file: str | None, as_json: bool
) -> None:
    """List the boards, all that is known of BOARD, or the cables between several.

    BOARD is the name of a board or a TOML file that describes one.
    """
    if cabling_file is not None:
        if board is not None or chips is not None:
            raise click.UsageError("--cabling names its boards: give no BOARD and no --chips.")
        _print_cabling(load_cabling(cabling_file), as_json)
    elif board is None:
        if chips is not None:
            raise click.UsageError("--chips needs a BOARD.")
        found = [load_board(name) for name in board_names()]
        _print([board_record(each) for each in found], aligned(board_rows(found)), as_json)
    elif chips is not None:
        one = load_board(board)
        _print_cabling(cabling_of((one,) * chips, cables_of_shape(shape, chips)), as_json)
    else:
        one = load_board(board)
        lines = (*board_lines(one), "", *aligned(pin_rows(one)))
        _print(board_record(one), lines, as_json)


def _print_cabling(cabling: Cabling, as_json: bool) -> None:
    rows = cabling_rows(cabling)
    table = ("", *aligned(rows)) if cabling.cables else ()
    _print(cabling_record(cabling), (*cabling_lines(cabling), *table), as_json)


def _print(record: Any, lines: Iterable[str], as_json: bool) -> None:
    for line in (json.dumps(record, indent=2),) if as_json else lines:
        say(line)
