"""Which cables join boards, and which link ports they take."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from compiler.ir.program import Program
from compiler.shard_plan import ShardPlan
from constraints.board import Board
from constraints.cable_checks import check_cables
from constraints.cables import Cable, Cabling, Wire, WireEnd
from constraints.errors import CablingValueError, OutOfLinkPortsError, UnknownChipError

__all__ = [
    "SHAPES",
    "Cable",
    "Cabling",
    "Wire",
    "WireEnd",
    "cables_of_program",
    "cables_of_shape",
    "cabling_of",
]

SHAPES = ("star", "tree", "ring")
"""Ways to join boards that have a name."""

RECEIVERS: dict[str, Callable[[int], int]] = {
    "star": lambda _: 0,
    "tree": lambda chip: chip & (chip - 1),
}
"""By shape, the chip that each chip but the first sends to, as in the reductions of programs."""


def cabling_of(boards: Board | Sequence[Board], cables: Sequence[Cable]) -> Cabling:
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
        chips = [chip for cable in cables for chip in (cable.source, cable.destination)]
        boards = (boards,) * (max(chips, default=0) + 1)
    boards, cables = tuple(boards), tuple(cables)
    for cable in cables:
        for chip in (cable.source, cable.destination):
            if chip not in range(len(boards)):
                raise UnknownChipError(cable=cable.name, chip=chip, chips=len(boards))
    cabling = Cabling(boards, _with_ports(boards, cables))
    check_cables(cabling)
    return cabling


def cables_of_shape(shape: str, chips: int, *, back: bool = False) -> tuple[Cable, ...]:
    """The cables of ``chips`` boards in a shape.

    ``star`` and ``tree`` bring partial sums to chip 0 as the reductions of programs do; in a
    ``ring`` each chip sends to the next, and the last to chip 0.

    Parameters
    ----------
    back : bool
        Whether each cable of a star or tree has another beside it that leads back, as a sum on
        every chip needs them.

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
        return tuple(Cable(chip, (chip + 1) % chips) for chip in range(chips if chips > 1 else 0))
    return _to_the_first(shape, chips, back=back)


def cables_of_plan(plan: ShardPlan) -> tuple[Cable, ...]:
    """The cables of a product that is spread over boards: those of each group that sums."""
    axis = plan.axis_of("k")
    if axis is None:
        return ()
    size, back = plan.mesh.size(axis), plan.result == "all"
    return tuple(
        Cable(group[cable.source], group[cable.destination])
        for group in plan.mesh.groups(axis)
        for cable in cables_of_shape(plan.reduce, size, back=back)
    )


def cables_of_program(program: Program) -> tuple[Cable, ...]:
    """The cables that the links of a routed program need."""
    return tuple(
        Cable(link.source_chip, link.destination_chip, link=link.name)
        for link in program.canonical.links
    )


def _to_the_first(shape: str, chips: int, *, back: bool) -> tuple[Cable, ...]:
    """The cables that lead to chip 0 in the end, in the order of the chips that receive."""
    cables = [Cable(chip, RECEIVERS[shape](chip)) for chip in range(1, chips)]
    if back:
        cables += [Cable(cable.destination, cable.source) for cable in cables]
    return tuple(sorted(cables, key=lambda cable: (cable.destination, cable.source)))


def _with_ports(boards: tuple[Board, ...], cables: tuple[Cable, ...]) -> tuple[Cable, ...]:
    """The cables with the ports of both ends."""
    free = {
        (chip, direction): [port.name for port in board.ports(direction)]
        for chip, board in enumerate(boards)
        for direction in ("out", "in")
    }
    for cable in cables:
        for chip, port, direction in _ends(cable):
            if port in free[chip, direction]:
                free[chip, direction].remove(port)
    complete: list[Cable] = []
    for cable in cables:
        ports: list[str] = []
        for chip, port, direction in _ends(cable):
            if port is None and not free[chip, direction]:
                raise _out_of_ports(boards, cables, chip, direction)
            ports.append(port or free[chip, direction].pop(0))
        complete.append(replace(cable, source_port=ports[0], destination_port=ports[1]))
    return tuple(complete)


def _ends(cable: Cable) -> tuple[tuple[int, str | None, str], tuple[int, str | None, str]]:
    """Chip, port and direction of both ends of a cable."""
    source = (cable.source, cable.source_port, "out")
    return source, (cable.destination, cable.destination_port, "in")


def _out_of_ports(
    boards: tuple[Board, ...], cables: tuple[Cable, ...], chip: int, direction: str
) -> OutOfLinkPortsError:
    """The error of a chip whose ports do not suffice."""
    return OutOfLinkPortsError(
        chip=chip,
        board=boards[chip].name,
        direction=direction,
        need=_needed(cables)[chip, direction],
        ports=len(boards[chip].ports(direction)),
        way_out=_way_out(boards, cables, chip, direction),
    )


def _way_out(
    boards: tuple[Board, ...], cables: tuple[Cable, ...], chip: int, direction: str
) -> str:
    """What else the ports of the boards suffice for."""
    ends = {(cable.source, cable.destination) for cable in cables}
    back = {(source, destination) for source, destination in ends if source < destination}
    leads_back = bool(back) and {end[::-1] for end in back} <= ends
    if ends - back == {(other, 0) for other in range(1, len(boards))}:
        tree = _to_the_first("tree", len(boards), back=leads_back)
        if (leads_back or not back) and _suffice(boards, tree):
            return f"a tree needs {_needed(tree)[chip, direction]} (--reduce tree)"
    forth = tuple(cable for cable in cables if cable.source > cable.destination)
    if leads_back and _suffice(boards, forth):
        return "a sum that stays at its home needs no cables back (--result home)"
    return "take fewer chips, or boards with more links"


def _needed(cables: Sequence[Cable]) -> Counter[tuple[int, str]]:
    """Link ports that cables take, by chip and direction."""
    return Counter((end, towards) for cable in cables for end, _, towards in _ends(cable))


def _suffice(boards: Sequence[Board], cables: Sequence[Cable]) -> bool:
    """Whether boards have ports for all of these cables."""
    return all(
        count <= len(boards[chip].ports(direction))
        for (chip, direction), count in _needed(cables).items()
    )
