"""What cables must satisfy, given the boards at their ends."""

from constraints.board import Board
from constraints.cables import Cable, Cabling
from constraints.errors import (
    LinkEndsDifferError,
    PortDirectionError,
    PortUsedTwiceError,
    UnknownLinkPortError,
)


def check_cables(cabling: Cabling) -> None:
    """Check the ends of every cable; its ports are stated.

    Raises
    ------
    UnknownLinkPortError, PortDirectionError, PortUsedTwiceError, LinkEndsDifferError
        At the first cable that these boards cannot have.
    """
    users: dict[tuple[int, str], str] = {}
    for cable in cabling.cables:
        for chip, port, wanted in (
            (cable.source, cable.source_port, "out"),
            (cable.destination, cable.destination_port, "in"),
        ):
            assert port is not None
            board = cabling.boards[chip]
            _check_end(cable, chip, port, board, wanted)
            if (chip, port) in users:
                first = users[chip, port]
                raise PortUsedTwiceError(
                    chip=chip, port=port, board=board.name, first=first, second=cable.name
                )
            users[chip, port] = cable.name
        _check_alike(cable, cabling.boards[cable.source], cabling.boards[cable.destination])


def _check_end(cable: Cable, chip: int, port: str, board: Board, wanted: str) -> None:
    if port not in board.link_by_name:
        known = tuple(board.link_by_name)
        raise UnknownLinkPortError(
            cable=cable.name, chip=chip, port=port, board=board.name, known=known
        )
    if board.link_by_name[port].direction != wanted:
        raise PortDirectionError(
            cable=cable.name, chip=chip, port=port, board=board.name, wanted=wanted
        )


def _check_alike(cable: Cable, source: Board, destination: Board) -> None:
    """Check what two boards must have in common to understand each other.

    Pulses on the back wire are counted in the cycles of each board's own clock, so a link whose
    clock is the same at both ends is not enough.
    """
    for field, ours, theirs, way_out in (
        (
            "number of data pins",
            source.link_pins,
            destination.link_pins,
            "describe the wider board with fewer, in a file of your own",
        ),
        (
            "io_standard",
            source.io_standard,
            destination.io_standard,
            "set both boards' connectors to one voltage, and say so in their files",
        ),
        (
            "clock.target_hz",
            source.clock.target_hz,
            destination.clock.target_hz,
            "give the faster board the target_hz of the slower, in a file of your own",
        ),
        (
            "link.flit_cycles",
            source.link.flit_cycles,
            destination.link.flit_cycles,
            "give the board with fewer the flit_cycles of the other, in a file of your own",
        ),
    ):
        if ours != theirs:
            raise LinkEndsDifferError(
                cable=cable.name, field=field, source=ours, destination=theirs, way_out=way_out
            )
