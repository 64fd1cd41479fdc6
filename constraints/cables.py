"""Cables between boards, as data, and the wires that they are made of."""

from collections.abc import Iterator
from dataclasses import dataclass

from constraints.board import Board, LinkPort


@dataclass(frozen=True)
class Cable:
    """A cable between two chips.

    Parameters
    ----------
    source, destination : int
        Chips: the one that sends, the one that receives.
    source_port, destination_port : str or None
        Link ports of their boards; ``None`` takes the first that is free.
    link : str
        Name of the program's link, or empty.
    """

    source: int
    destination: int
    source_port: str | None = None
    destination_port: str | None = None
    link: str = ""

    @property
    def name(self) -> str:
        """The cable by its ends, as ``c1.out0->c0.in0``."""
        ends = ((self.source, self.source_port), (self.destination, self.destination_port))
        return "->".join(f"c{chip}" + (f".{port}" if port else "") for chip, port in ends)


@dataclass(frozen=True)
class WireEnd:
    """Where a wire ends: a pin of a connector of the board of a chip."""

    chip: int
    port: str
    connector: str
    pin: str
    package_pin: str


@dataclass(frozen=True)
class Wire:
    """A wire of a cable. ``driver`` and ``listener`` are its ends by who drives it."""

    cable: Cable
    name: str
    driver: WireEnd
    listener: WireEnd


@dataclass(frozen=True)
class Cabling:
    """Boards and the cables between them.

    Parameters
    ----------
    boards : tuple of Board
        The board of each chip.
    cables : tuple of Cable
        Cables, with the ports of both ends.
    """

    boards: tuple[Board, ...]
    cables: tuple[Cable, ...]

    def ports(self, chip: int) -> tuple[LinkPort, ...]:
        """Link ports that a chip uses, in the order of its board."""
        used = {cable.source_port for cable in self.cables if cable.source == chip}
        used |= {cable.destination_port for cable in self.cables if cable.destination == chip}
        return tuple(port for port in self.boards[chip].links if port.name in used)

    def ends(self, cable: Cable) -> tuple[LinkPort, LinkPort]:
        """The link ports that a cable joins: of the chip that sends, of the one that receives."""
        assert cable.source_port is not None
        assert cable.destination_port is not None
        return (
            self.boards[cable.source].link_by_name[cable.source_port],
            self.boards[cable.destination].link_by_name[cable.destination_port],
        )

    def wires(self) -> Iterator[Wire]:
        """Every wire, cable by cable."""
        for cable in self.cables:
            source, destination = self.ends(cable)
            for (name, pin), (_, other) in zip(source.wires, destination.wires, strict=True):
                ends = (
                    self._end(cable.source, source, pin),
                    self._end(cable.destination, destination, other),
                )
                driver, listener = ends if source.drives(name) else ends[::-1]
                yield Wire(cable, name, driver, listener)

    def _end(self, chip: int, port: LinkPort, pin: str) -> WireEnd:
        package_pin = self.boards[chip].package_pin(port.connector, pin)
        return WireEnd(chip, port.name, port.connector, pin, package_pin)
