"""What boards provide and how they are joined: as records for machines, as tables for people."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from constraints.cabling import Cabling, WireEnd
from constraints.description import Board
from report.units import with_prefix


def board_rows(boards: Sequence[Board]) -> list[Sequence[str]]:
    """A row for each board, below the names of the columns."""
    head = ("board", "device", "clock", "links", "tile", "memory", "free pins", "makes")
    return [head, *map(_row, boards)]


def _row(board: Board) -> tuple[str, ...]:
    counts = (f"{len(board.ports(direction))} {direction}" for direction in ("out", "in"))
    return (
        board.name,
        board.device,
        with_prefix(board.clock.target_hz, "Hz"),
        f"{' + '.join(counts)}, {board.link_pins} data pins",
        str(board.tile),
        with_prefix(board.memory_bytes, "B"),
        str(sum(len(free.pins) for free in board.free)),
        _product(board),
    )


def _product(board: Board) -> str:
    return "bitstream" if board.bitstream else "vendor project"


def board_lines(board: Board) -> Iterator[str]:
    """All that is known of one board but its pins."""
    clock, link = board.clock, board.link
    source = f"oscillator {clock.source} on pin {clock.pin}"
    if clock.source_hz != clock.target_hz:
        source = f"made by the PLL of {with_prefix(clock.source_hz, 'Hz')}, {source}"
    yield f"{board.name}: {board.title}"
    fields = {
        "device": f"{board.device} ({board.family}): {board.multipliers} multipliers, "
        f"{board.luts:,} LUTs, {board.block_ram_bits:,} bits of block RAM",
        "platform": board.platform,
        "chip": f"tile {board.tile}, {board.memory_bytes:,} bytes for tensors and buffers",
        "clock": f"{with_prefix(clock.target_hz, 'Hz')}, {source}",
        "uart": f"{board.uart.baud:,} baud, rx {board.uart.rx}, tx {board.uart.tx}",
        "reset": f"{board.reset} on pin {board.reset_pin}" if board.reset else "none",
        "links": f"{board.link_pins} data pins, {board.io_standard}, a flit in "
        f"{link.flit_cycles} cycles (clock {with_prefix(board.link_clock_hz, 'Hz')}), "
        f"{link.latency_cycles} cycles on the way",
        "makes": _product(board),
    }
    width = max(map(len, fields))
    for name, text in fields.items():
        yield f"  {name:{width}}  {text}"
    for note in board.notes:
        yield f"  {'note':{width}}  {note}"
    for free in board.free:
        yield f"  {'free':{width}}  {free.connector} {' '.join(free.pins)}: {free.use}"


def pin_rows(board: Board) -> list[Sequence[str]]:
    """A row for each wire of each link port, below the names of the columns."""
    head = ("port", "wire", "here", "connector", "pin", "package pin", "clock input")
    rows: list[Sequence[str]] = [head]
    for port in board.links:
        for wire, pin in port.wires:
            here = "driven" if port.drives(wire) else "read"
            is_input = wire == "clock" and port.direction == "in"
            clock_input = (port.clock_input or "ordinary pin") if is_input else ""
            package_pin = board.package_pin(port.connector, pin)
            rows.append((port.name, wire, here, port.connector, pin, package_pin, clock_input))
    return rows


def board_record(board: Board) -> dict[str, Any]:
    """A board as plain data: the fields of its file, and the package pins of its links."""
    record = asdict(board)
    del record["pins"]
    for entry, port in zip(record["links"], board.links, strict=True):
        entry["package_pins"] = {
            wire: board.package_pin(port.connector, pin) for wire, pin in port.wires
        }
    return record


def cabling_rows(cabling: Cabling) -> list[Sequence[str]]:
    """A row for each wire between boards, below the names of the columns."""
    head = ("cable", "wire", "driven at", "read at")
    wires = cabling.wires()
    rows = ((w.cable.name, w.name, _place(w.driver), _place(w.listener)) for w in wires)
    return [head, *rows]


def _place(end: WireEnd) -> str:
    return f"c{end.chip} {end.connector} pin {end.pin} ({end.package_pin})"


def cabling_lines(cabling: Cabling) -> Iterator[str]:
    """The boards of a cabling, and which of their link ports are used."""
    for chip, board in enumerate(cabling.boards):
        ports = ", ".join(port.name for port in cabling.ports(chip))
        yield f"c{chip}: {board.name}, {ports or 'no link'}"


def cabling_record(cabling: Cabling) -> dict[str, Any]:
    """A cabling as plain data."""
    cables = {cable.name: cable for cable in cabling.cables}
    wires: dict[str, list[dict[str, Any]]] = {name: [] for name in cables}
    for wire in cabling.wires():
        ends = {"driver": asdict(wire.driver), "listener": asdict(wire.listener)}
        wires[wire.cable.name].append({"wire": wire.name, **ends})
    return {
        "boards": [board.name for board in cabling.boards],
        "cables": [
            {
                "from": {"chip": cable.source, "port": cable.source_port},
                "to": {"chip": cable.destination, "port": cable.destination_port},
                "wires": wires[name],
            }
            for name, cable in cables.items()
        ],
    }
