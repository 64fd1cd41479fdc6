"""Boards as people describe them: TOML files, read and checked."""

from collections.abc import Sequence
from dataclasses import fields, replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from compiler.toml_file import SUFFIX, check_fields, is_file_name, parse, read
from constraints.board import Board, BoardClock, FreePins, LinkPort, PinTiming, UartPins
from constraints.checks import check_pins, check_platform, check_values, strings
from constraints.connectors import connector_pins, platform_class, resource_pins
from constraints.errors import BoardFileError, BoardValueError, UnknownBoardError

__all__ = [
    "Board",
    "BoardClock",
    "FreePins",
    "LinkPort",
    "PinTiming",
    "UartPins",
    "board_names",
    "load_board",
]

KIND = "board file"
OPTIONAL = ("reset", "free", "notes")
"""Fields of a board that a file may leave out."""

RESOLVED = ("pins", "reset_pin", "pin", "rx", "tx")
"""Fields that come from the platform and not from the file."""


def board_names() -> tuple[str, ...]:
    """Names of the boards of this project, sorted."""
    found = (entry.name for entry in files("constraints").iterdir())
    return tuple(sorted(n.removesuffix(SUFFIX) for n in found if n.endswith(SUFFIX)))


def load_board(name_or_path: str | Path) -> Board:
    """The board of that name, or the one that the TOML file at that path describes.

    Raises
    ------
    UnknownBoardError
        If no board has the name.
    BoardFileError
        If the file cannot be read, is no TOML, or has a field too many or too few.
    BoardError
        If a value is out of its range, or at odds with another or with the platform.
    """
    source = str(name_or_path)
    if is_file_name(source):
        return _build(read(source, kind=KIND, error=BoardFileError), source=source)
    if source not in board_names():
        raise UnknownBoardError(name=source, known=board_names())
    file = f"{source}{SUFFIX}"
    text = files("constraints").joinpath(file).read_text(encoding="utf-8")
    return _build(parse(text, source=file, kind=KIND, error=BoardFileError), source=file)


def _build(entries: dict[str, Any], *, source: str) -> Board:
    place = f"{KIND} {source!r}"
    stated = [field.name for field in fields(Board) if field.name not in RESOLVED]
    _check(entries, place, stated, OPTIONAL)
    name = str(entries["name"])
    board = Board(
        **{
            **entries,
            "clock": BoardClock(**_table(entries, "clock", BoardClock, place), pin=""),
            "uart": UartPins(**_table(entries, "uart", UartPins, place), rx="", tx=""),
            "link": PinTiming(**_table(entries, "link", PinTiming, place)),
            "links": tuple(_link(table, place, name) for table in _tables(entries, "links", name)),
            "free": tuple(_free(table, place, name) for table in _tables(entries, "free", name)),
            "reset": entries.get("reset"),
            "notes": strings(entries.get("notes", []), board=name, field="notes"),
            "pins": (),
            "reset_pin": "",
        }
    )
    check_values(board)
    board = _resolved(board)
    check_pins(board)
    return board


def _resolved(board: Board) -> Board:
    """``board`` with what its platform says of pins."""
    platform = platform_class(board.name, board.platform)
    check_platform(board, platform)
    pins = partial(resource_pins, platform, board=board.name)
    clock = pins(field="clock.source", resource=board.clock.source)
    uart = pins(field="uart.resource", resource=board.uart.resource)
    reset = pins(field="reset", resource=board.reset) if board.reset else {"": ("",)}
    for field, found, wanted in (
        ("clock.source", clock, {""}),
        ("uart.resource", uart, {"rx", "tx"}),
        ("reset", reset, {""}),
    ):
        if not wanted <= found.keys() or any(len(found[signal]) != 1 for signal in wanted):
            rule = "a resource with rx and tx" if "rx" in wanted else "a resource of one pin"
            value = {"uart.resource": board.uart.resource, "reset": board.reset}.get(
                field, board.clock.source
            )
            raise BoardValueError(board=board.name, field=field, rule=rule, value=value)
    return replace(
        board,
        clock=replace(board.clock, pin=clock[""][0]),
        uart=replace(board.uart, rx=uart["rx"][0], tx=uart["tx"][0]),
        pins=tuple(connector_pins(platform)),
        reset_pin=reset[""][0],
    )


def _link(table: dict[str, Any], place: str, board: str) -> LinkPort:
    stated = [field.name for field in fields(LinkPort)]
    _check(table, f"{place}, links", stated, ("clock_input",))
    data = strings(table["data"], board=board, field=f"links.{table['name']}.data")
    return LinkPort(**{**table, "data": data})


def _free(table: dict[str, Any], place: str, board: str) -> FreePins:
    _check(table, f"{place}, free", [field.name for field in fields(FreePins)])
    return FreePins(**{**table, "pins": strings(table["pins"], board=board, field="free.pins")})


def _table(entries: dict[str, Any], name: str, kind: type, place: str) -> dict[str, Any]:
    """The table ``name``, with the fields of the dataclass ``kind`` that a file states."""
    table = entries[name]
    if not isinstance(table, dict):
        rule = f"a [{name}] table"
        raise BoardValueError(board=str(entries["name"]), field=name, rule=rule, value=table)
    stated = [field.name for field in fields(kind) if field.name not in RESOLVED]
    _check(cast(dict[str, Any], table), f"{place}, {name}", stated)
    return cast(dict[str, Any], table)


def _tables(entries: dict[str, Any], name: str, board: str) -> list[dict[str, Any]]:
    tables = entries.get(name, [])
    if not (isinstance(tables, list) and all(isinstance(table, dict) for table in tables)):
        rule = f"a list of [[{name}]] tables"
        raise BoardValueError(board=board, field=name, rule=rule, value=tables)
    return cast(list[dict[str, Any]], tables)


def _check(
    entries: dict[str, Any], place: str, known: Sequence[str], optional: tuple[str, ...] = ()
) -> None:
    required = tuple(name for name in known if name not in optional)
    check_fields(entries, place=place, required=required, optional=optional, error=BoardFileError)
