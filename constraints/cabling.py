"""Which cables join boards, and which link ports they take."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from compiler.ir.program import Program
from constraints.board import Board
from constraints.cable_checks import check_cables
from constraints.cables import Cabling, Joint, Wire, WireEnd
from constraints.errors import CablingValueError, OutOfLinkPortsError, UnknownChipError

__all__ = [
    "SHAPES",
    "Cabling",
    "Joint",
    "Wire",
    "WireEnd",
    "cable",
    "joints_of_program",
    "joints_of_shape",
]

SHAPES = ("star", "tree", "ring")
"""Ways to join boards that have a name."""

RECEIVERS: dict[str, Callable[[int], int]] = {
    "star": lambda _: 0,
    "tree": lambda chip: chip & (chip - 1),
}
"""By shape, the chip that each chip but the first sends to, as in the reductions of programs."""


def cable(boards: Board | Sequence[Board], joints: Sequence[Joint]) -> Cabling:
    """Join boards; a cable without ports gets the first free ones, in the order of the cables.

    Parameters
    ----------
    boards : Board or sequence of Board
        The board of each chip; a single one stands for as many as the cables need.

    Raises
    ------
    CablingError
        At the first cable that these boards cannot have.
    """
    if isinstance(boards, Board):
        chips = [chip for joint in joints for chip in (joint.source, joint.destination)]
        boards = (boards,) * (max(chips, default=0) + 1)
    boards, joints = tuple(boards), tuple(joints)
    for joint in joints:
        for chip in (joint.source, joint.destination):
            if chip not in range(len(boards)):
                raise UnknownChipError(cable=joint.name, chip=chip, chips=len(boards))
    cabling = Cabling(boards, _with_ports(boards, joints))
    check_cables(cabling)
    return cabling


def joints_of_shape(shape: str, chips: int) -> tuple[Joint, ...]:
    """The cables of ``chips`` boards in a shape.

    ``star`` and ``tree`` bring partial sums to chip 0 as the reductions of programs do; in a
    ``ring`` each chip sends to the next, and the last to chip 0.

    Raises
    ------
    CablingValueError
        If there is no such shape, or no chip.
    """
    if shape not in SHAPES:
        rule = f"one of {', '.join(SHAPES)}"
        raise CablingValueError(field="shape", rule=rule, value=shape)
    if not isinstance(chips, int) or chips < 1:
        raise CablingValueError(field="chips", rule="a positive integer", value=chips)
    if shape == "ring":
        return tuple(Joint(chip, (chip + 1) % chips) for chip in range(chips if chips > 1 else 0))
    return _to_the_first(shape, chips)


def joints_of_program(program: Program) -> tuple[Joint, ...]:
    """The cables that the links of a routed program need."""
    return tuple(
        Joint(link.source_chip, link.destination_chip, link=link.name)
        for link in program.canonical.links or ()
    )


def _to_the_first(shape: str, chips: int) -> tuple[Joint, ...]:
    """The cables that lead to chip 0 in the end, in the order of the chips that receive."""
    joints = (Joint(chip, RECEIVERS[shape](chip)) for chip in range(1, chips))
    return tuple(sorted(joints, key=lambda joint: (joint.destination, joint.source)))


def _with_ports(boards: tuple[Board, ...], joints: tuple[Joint, ...]) -> tuple[Joint, ...]:
    """The cables with the ports of both ends."""
    free = {
        (chip, direction): [port.name for port in board.ports(direction)]
        for chip, board in enumerate(boards)
        for direction in ("out", "in")
    }
    for joint in joints:
        for chip, port, direction in _ends(joint):
            if port in free[chip, direction]:
                free[chip, direction].remove(port)
    complete: list[Joint] = []
    for joint in joints:
        ports: list[str] = []
        for chip, port, direction in _ends(joint):
            if port is None and not free[chip, direction]:
                raise _out_of_ports(boards, joints, chip, direction)
            ports.append(port or free[chip, direction].pop(0))
        complete.append(replace(joint, source_port=ports[0], destination_port=ports[1]))
    return tuple(complete)


def _ends(joint: Joint) -> tuple[tuple[int, str | None, str], tuple[int, str | None, str]]:
    """Chip, port and direction of both ends of a cable."""
    source = (joint.source, joint.source_port, "out")
    return source, (joint.destination, joint.destination_port, "in")


def _out_of_ports(
    boards: tuple[Board, ...], joints: tuple[Joint, ...], chip: int, direction: str
) -> OutOfLinkPortsError:
    """The error of a chip whose ports do not suffice."""
    ends = [(end, towards) for joint in joints for end, _, towards in _ends(joint)]
    ports = len(boards[chip].ports(direction))
    is_star = {(joint.source, joint.destination) for joint in joints} == {
        (other, 0) for other in range(1, len(boards))
    }
    wanted = Counter(joint.destination for joint in _to_the_first("tree", len(boards)))
    tree_fits = all(
        wanted[number] <= len(board.ports("in")) and (number == 0 or bool(board.ports("out")))
        for number, board in enumerate(boards)
    )
    return OutOfLinkPortsError(
        chip=chip,
        board=boards[chip].name,
        direction=direction,
        need=ends.count((chip, direction)),
        ports=ports,
        way_out=f"a tree needs {wanted[0]} (--reduce tree)"
        if is_star and tree_fits
        else "take fewer chips, or boards with more links",
    )
