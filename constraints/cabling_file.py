"""Cables from a table that a person wrote: a TOML file of boards and of wires by their ends."""

import re
from pathlib import Path
from typing import Any, cast

from compiler.toml_file import check_fields, is_file_name, read
from constraints.board import Board
from constraints.cabling import Cable, Cabling, cabling_of
from constraints.description import load_board
from constraints.errors import CablingFileError

KIND = "cabling file"
END = re.compile(r"c(\d+)\.(\w+)")


def load_cabling(path: str | Path) -> Cabling:
    """The cabling that the TOML file at ``path`` states, checked.

    Files of boards are looked for beside it.

    Raises
    ------
    CablingFileError
        If the file cannot be read, is no TOML, or does not have the form of a cabling.
    BoardError
        If one of its boards is unknown or wrong.
    CablingError
        If these boards cannot be joined so.
    """
    entries = read(path, kind=KIND, error=CablingFileError)
    place = f"{KIND} {str(path)!r}"
    check_fields(entries, place=place, required=("boards", "wires"), error=CablingFileError)
    boards: list[Board] = []
    for name in _listed(entries, "boards", str, "board names", place):
        beside = Path(path).parent / name
        boards.append(load_board(beside if is_file_name(name) else name))
    wires = _listed(entries, "wires", dict, "[[wires]] tables", place)
    return cabling_of(boards, tuple(_joint(wire, place) for wire in wires))


def _joint(wire: dict[str, Any], place: str) -> Cable:
    check_fields(wire, place=f"{place}, wires", required=("from", "to"), error=CablingFileError)
    source, source_port = _end(wire, "from", place)
    destination, destination_port = _end(wire, "to", place)
    return Cable(source, destination, source_port, destination_port)


def _end(wire: dict[str, Any], field: str, place: str) -> tuple[int, str]:
    value = wire[field]
    found = END.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise CablingFileError(
            f"{place}: wires.{field} must be a chip and its port, as 'c1.out0', not {value!r}"
        )
    return int(found[1]), found[2]


def _listed(entries: dict[str, Any], name: str, kind: type, what: str, place: str) -> list[Any]:
    value = entries[name]
    listed = cast(list[object], value) if isinstance(value, list) else None
    if not listed or not all(isinstance(each, kind) for each in listed):
        raise CablingFileError(f"{place}: {name} must be a list of {what}, not {value!r}")
    return listed
