"""Which chips a host starts: a start goes on from each chip to those that send to it."""

from collections.abc import Sequence

from compiler.ir.program import Program
from host.errors import StartTwiceError


def first_starts(program: Program) -> tuple[int, ...]:
    """The fewest chips to start so that every chip starts, in order.

    A board that starts tells the boards at the other ends of its incoming links. So the chip at
    which a sum ends starts those that it comes from, and of chips that send to each other one
    starts all.

    Raises
    ------
    StartTwiceError
        If a chip would hear of two starts of the host: the later one could begin a run of a chip
        that is done.
    """
    senders = _senders(program)
    ended: list[int] = []
    met: set[int] = set()
    for chip in range(program.chip_count):
        ended += _in_order_of_ends(chip, senders, met)
    # What a walk leaves last is told by nothing that it left before, unless both tell each other.
    told_by: dict[int, int] = {}
    first: list[int] = []
    for chip in reversed(ended):
        if chip in told_by:
            continue
        first.append(chip)
        for told in _in_order_of_ends(chip, senders, set()):
            if told in told_by:
                raise StartTwiceError(chip=told, first=told_by[told], second=chip)
            told_by[told] = chip
    return tuple(sorted(first))


def _senders(program: Program) -> Sequence[Sequence[int]]:
    """By chip, the chips that send to it, in order."""
    senders: list[set[int]] = [set() for _ in range(program.chip_count)]
    for link in program.links:
        senders[link.destination_chip].add(link.source_chip)
    return [sorted(chips) for chips in senders]


def _in_order_of_ends(chip: int, senders: Sequence[Sequence[int]], met: set[int]) -> list[int]:
    """The chips that a chip tells of a start, itself included, each behind those that it tells.

    Chips in ``met`` are left out, and the others come into it.
    """
    if chip in met:
        return []
    met.add(chip)
    ended: list[int] = []
    open_ends = [(chip, iter(senders[chip]))]
    while open_ends:
        here, rest = open_ends[-1]
        sender = next((sender for sender in rest if sender not in met), None)
        if sender is None:
            ended.append(here)
            open_ends.pop()
        else:
            met.add(sender)
            open_ends.append((sender, iter(senders[sender])))
    return ended
