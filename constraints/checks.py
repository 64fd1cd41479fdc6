"""What a board must satisfy: each value by itself, and all pins together."""

import re
from collections.abc import Iterator
from typing import cast

from amaranth import vendor
from amaranth.build import Platform

from constraints.board import Board, LinkPort
from constraints.clocking import PLLS, nearest, pll_settings
from constraints.connectors import find_resource
from constraints.errors import (
    BoardValueError,
    LinkWidthsDifferError,
    PinClashError,
    TooManyPinsError,
    UnknownConnectorError,
    UnknownIoStandardError,
    UnknownPinError,
    UnreachableClockError,
)
from constraints.families import FAMILIES
from constraints.pin_latency import pin_latency_cycles

PLAIN = "plain"
"""The style of multipliers that are left to the tool, which every family has."""

LINK_NAME = re.compile(r"[a-z][a-z0-9_]*")
"""What a link may be called: its name is part of the names of signals."""

TAKEN_NAMES = (
    *("board_port", "bridge", "chip", "elaborate", "metadata", "pads", "ports", "program"),
    *("receivers", "signature", "transmitters", "uart_rx", "uart_tx"),
)
"""What else the design of a board has by name, beside its links."""

DATA_PINS = (1, 2, 4, 8, 16)
"""Numbers of data pins of a link: they divide the lanes of a beat."""

BAUD_ERROR = 0.02
"""Deviation of the serial port's bit time that a receiver bears, with as much left to the host."""

BAUD_CYCLES = 8
"""Least cycles of a bit of the serial port: it is sampled in its middle."""


def strings(value: object, *, board: str, field: str) -> tuple[str, ...]:
    """``value``, if it is a list of strings.

    Raises
    ------
    BoardValueError
        If it is not.
    """
    listed = cast(list[object], value) if isinstance(value, list) else [None]
    if not all(isinstance(each, str) for each in listed):
        raise BoardValueError(board=board, field=field, rule="a list of strings", value=value)
    return tuple(cast(list[str], listed))


def check_values(board: Board) -> None:
    """Check every value by itself, and those that are at odds with each other.

    Raises
    ------
    BoardValueError, UnknownIoStandardError, UnreachableClockError, LinkWidthsDifferError
        At the first that is wrong.
    """
    for field, value in _texts(board):
        _require(board, field, "a text", isinstance(value, str) and bool(value), value)
    family = board.family
    _require(board, "family", f"of {', '.join(FAMILIES)}", family in FAMILIES, family)
    styles = (*([family] if FAMILIES[family].multiplier_blocks else []), PLAIN)
    style = board.multiplier_style
    rule = f"{' or '.join(styles)} on a board of family {family}"
    _require(board, "multiplier_style", rule, style in styles, style)
    for field, value, least in _counts(board):
        whole = isinstance(value, int) and not isinstance(value, bool) and value >= least
        _require(board, field, f"an integer of at least {least}", whole, value)
    makes = board.bitstream
    _require(board, "bitstream", "true or false", isinstance(makes, bool), makes)
    rule = f"false, as open tools make none for family {family}"
    _require(board, "bitstream", rule, not makes or FAMILIES[family].open_tools, makes)
    _require(
        board,
        "memory_bytes",
        f"within block_ram_bits, which is {board.block_ram_bits // 8:,} bytes",
        board.memory_bytes * 8 <= board.block_ram_bits,
        board.memory_bytes,
    )
    standards = tuple(dict(FAMILIES[board.family].io_standards))
    if board.io_standard not in standards:
        raise UnknownIoStandardError(
            board=board.name, standard=board.io_standard, family=board.family, known=standards
        )
    _check_clock(board)
    _check_links(board)


def check_platform(board: Board, platform: type[Platform]) -> None:
    """Check that a board is what its platform says: of its family, its device and its oscillator.

    The design is built for the device of the platform, whose name may leave out the package and the
    speed grade that the board states. A platform need not state the frequency of its oscillator.

    Raises
    ------
    BoardValueError, UnknownResourceError
        If it is not.
    """
    mine = [
        name
        for name, each in FAMILIES.items()
        if issubclass(platform, getattr(vendor, each.vendor))
    ]
    rule = f"that of its platform, {' or '.join(mine) or 'which is of no known family'}"
    _require(board, "family", rule, board.family in mine, board.family)
    device = getattr(platform, "device", None)
    if isinstance(device, str):
        same = device.lower() in board.device.lower()
        _require(board, "device", f"that of its platform, {device}", same, board.device)
    clock = board.clock
    stated = find_resource(
        platform, board=board.name, field="clock.source", resource=clock.source
    ).clock
    if stated is not None:
        rule = f"{stated.frequency:,.0f}, which its platform states for {clock.source}"
        same = round(stated.frequency) == clock.source_hz
        _require(board, "clock.source_hz", rule, same, clock.source_hz)


def _require(board: Board, field: str, rule: str, holds: bool, value: object) -> None:
    if not holds:
        raise BoardValueError(board=str(board.name), field=field, rule=rule, value=value)


def _texts(board: Board) -> Iterator[tuple[str, object]]:
    for name in ("name", "title", "family", "platform", "device", "multiplier_style"):
        yield name, getattr(board, name)
    yield from (("io_standard", board.io_standard), ("clock.source", board.clock.source))
    yield "uart.resource", board.uart.resource
    if board.reset is not None:
        yield "reset", board.reset
    for port in board.links:
        for name in ("name", "direction", "connector", "clock", "valid", "back"):
            yield f"links.{port.name}.{name}", getattr(port, name)
        if port.clock_input != "":
            yield f"links.{port.name}.clock_input", port.clock_input
    for free in board.free:
        yield from (("free.connector", free.connector), ("free.use", free.use))


def _counts(board: Board) -> Iterator[tuple[str, object, int]]:
    yield "multipliers", board.multipliers, 0
    for name in ("luts", "block_ram_bits", "memory_bytes"):
        yield name, getattr(board, name), 1
    yield "tile", board.tile, 2
    yield from (("clock.source_hz", board.clock.source_hz, 1), ("uart.baud", board.uart.baud, 1))
    yield "clock.target_hz", board.clock.target_hz, 1
    yield "link.flit_cycles", board.link.flit_cycles, 2
    yield "link.latency_cycles", board.link.latency_cycles, 1


def _check_clock(board: Board) -> None:
    clock, family = board.clock, board.family
    made = clock.source_hz == clock.target_hz
    if not made and pll_settings(family, clock.source_hz, clock.target_hz) is None:
        raise UnreachableClockError(
            board=board.name,
            family=f"{FAMILIES[family].title} ({PLLS[family].name})",
            source_hz=clock.source_hz,
            target_hz=clock.target_hz,
            nearest=nearest(family, clock.source_hz, clock.target_hz),
        )
    baud = board.uart.baud
    cycles = round(clock.target_hz / baud)
    near = cycles >= BAUD_CYCLES and abs(clock.target_hz / cycles / baud - 1) <= BAUD_ERROR
    rule = (
        f"at most {clock.target_hz // BAUD_CYCLES:,}, and within {BAUD_ERROR:.0%} of "
        f"target_hz {clock.target_hz:,} over a whole number"
    )
    _require(board, "uart.baud", rule, near, baud)


def _check_links(board: Board) -> None:
    least = pin_latency_cycles(board.link.flit_cycles)
    rule = f"at least {least}, which flits of {board.link.flit_cycles} cycles take"
    latency_cycles = board.link.latency_cycles
    _require(board, "link.latency_cycles", rule, latency_cycles >= least, latency_cycles)
    names = [port.name for port in board.links]
    for name in names:
        rule = f"a name that matches {LINK_NAME.pattern}"
        _require(board, f"links.{name}.name", rule, bool(LINK_NAME.fullmatch(name)), name)
        rule = f"none of {', '.join(TAKEN_NAMES)}, which are other parts of the design"
        _require(board, f"links.{name}.name", rule, name not in TAKEN_NAMES, name)
    _require(board, "links", "of different names", len({*names}) == len(names), names)
    for port in board.links:
        field = f"links.{port.name}"
        known = port.direction in ("in", "out")
        _require(board, f"{field}.direction", "in or out", known, port.direction)
        width = len(port.data)
        rule = f"a list of {', '.join(map(str, DATA_PINS))} pins"
        _require(board, f"{field}.data", rule, width in DATA_PINS, list(port.data))
        if width != board.link_pins:
            raise LinkWidthsDifferError(
                board=board.name,
                first=board.links[0].name,
                width=board.link_pins,
                second=port.name,
                other=width,
            )


def check_pins(board: Board) -> None:
    """Check that every pin is there and that nothing shares one.

    Raises
    ------
    UnknownConnectorError, UnknownPinError, TooManyPinsError, PinClashError
        At the first that is wrong.
    """
    connectors: dict[str, list[str]] = {}
    for connector, pin, _ in board.pins:
        connectors.setdefault(connector, []).append(pin)
    for user, connector, _ in _uses(board):
        if connector not in connectors:
            raise UnknownConnectorError(
                board=board.name, user=user, connector=connector, known=tuple(connectors)
            )
    for connector, pins in connectors.items():
        _check_room(board, connector, len(pins))
    for user, connector, pin in _uses(board):
        if pin not in connectors[connector]:
            raise UnknownPinError(
                board=board.name,
                user=user,
                connector=connector,
                pin=pin,
                known=tuple(connectors[connector]),
            )
    _check_clashes(board)


def _check_room(board: Board, connector: str, pins: int) -> None:
    ports = [port for port in board.links if port.connector == connector]
    need = sum(len(port.wires) for port in ports)
    if need > pins:
        raise TooManyPinsError(
            board=board.name,
            connector=connector,
            links=tuple(port.name for port in ports),
            need=need,
            pins=pins,
        )


def _uses(board: Board) -> Iterator[tuple[str, str, str]]:
    """What uses which pin of which connector."""
    for port in board.links:
        for wire, pin in port.wires:
            yield _wire(port, wire), port.connector, pin
    for free in board.free:
        for pin in free.pins:
            yield f"free pin {pin!r} of {free.connector!r}", free.connector, pin


def _wire(port: LinkPort, wire: str) -> str:
    return f"link {port.name!r} ({wire})"


def _check_clashes(board: Board) -> None:
    users = {board.clock.pin: "the clock"}
    others = [
        ("the UART's rx", board.uart.rx),
        ("the UART's tx", board.uart.tx),
        *([("the reset button", board.reset_pin)] if board.reset else []),
        *((user, board.package_pin(connector, pin)) for user, connector, pin in _uses(board)),
    ]
    for user, pin in others:
        if pin in users:
            raise PinClashError(board=board.name, pin=pin, first=users[pin], second=user)
        users[pin] = user
