"""Link ports as resources of a board's platform: its build writes them into the pin file."""

from collections.abc import Iterable

from amaranth.build import Attrs, Clock, Pins, Platform, Resource, Subsignal

from constraints.board import Board, LinkPort
from constraints.connectors import platform_class
from constraints.families import FAMILIES, io_attributes


def link_resource(board: Board, port: LinkPort) -> Resource:
    """The resource of a port, by :func:`link_name` and number 0.

    Its subsignals are ``clock``, ``valid``, ``data`` and ``back``, all of the board's I/O standard.
    Inputs are pulled to where a link without a cable is down. The clock of an ``in`` port is
    constrained to the frequency that the other board sends; on a global buffer input of an iCE40 it
    takes the buffer.
    """
    attributes = io_attributes(board.family, board.io_standard)
    family = FAMILIES[board.family]
    forward, backward = ("o", "i") if port.direction == "out" else ("i", "o")
    down = [Attrs(**dict([family.pull_down]))] if forward == "i" and family.pull_down else []
    stopped = down or ([Attrs(**dict([family.pull_up]))] if forward == "i" else [])
    up = [Attrs(**dict([family.pull_up]))] if backward == "i" else []
    connector = _connector(board, port)

    def pins(names: str, direction: str) -> Pins:
        return Pins(names, dir=direction, conn=connector)

    clock = [pins(port.clock, forward)]
    if port.direction == "in":
        clock.append(Clock(board.link_clock_hz))
        if board.family == "ice40" and port.clock_input:
            clock.append(Attrs(GLOBAL=True))
    clock += stopped
    return Resource(
        link_name(port),
        0,
        Subsignal("clock", *clock),
        Subsignal("valid", pins(port.valid, forward), *down),
        Subsignal("data", pins(" ".join(port.data), forward), *down),
        Subsignal("back", pins(port.back, backward), *up),
        Attrs(**attributes),
    )


def link_name(port: LinkPort) -> str:
    """Name under which a platform knows the resource of a port."""
    return f"link_{port.name}"


def platform_of(board: Board, ports: Iterable[LinkPort] | None = None) -> Platform:
    """An instance of the board's platform that has its link ports as resources.

    Parameters
    ----------
    ports : iterable of LinkPort, or None
        Ports that the chip uses; all of the board if ``None``. The pins of the others stay free.
    """
    platform = platform_class(board.name, board.platform)()
    used = board.links if ports is None else tuple(ports)
    platform.add_resources([link_resource(board, port) for port in used])
    return platform


def _connector(board: Board, port: LinkPort) -> tuple[str, int | str]:
    """Name and number of a port's connector, as the platform has them."""
    platform = platform_class(board.name, board.platform)
    return next(
        (each.name, each.number)
        for each in platform.connectors
        if f"{each.name} {each.number}" == port.connector
    )
