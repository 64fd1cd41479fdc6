"""What a board is: its device, clock, host pins, and the connector pins of its links."""

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class BoardClock:
    """The clock of a chip.

    Parameters
    ----------
    source : str
        Resource of the platform that the oscillator is on, as ``"clk25 0"``.
    source_hz : int
        Frequency of the oscillator.
    target_hz : int
        Frequency of the chip; the family's PLL makes it where the two differ.
    pin : str
        Package pin of the oscillator.
    """

    source: str
    source_hz: int
    target_hz: int
    pin: str


@dataclass(frozen=True)
class UartPins:
    """The serial port to the host.

    Parameters
    ----------
    resource : str
        Resource of the platform, as ``"uart 0"``.
    baud : int
        Bits per second.
    rx, tx : str
        Package pins, named from the board's side: ``rx`` is driven by the host.
    """

    resource: str
    baud: int
    rx: str
    tx: str


@dataclass(frozen=True)
class PinTiming:
    """How a link crosses pins.

    Parameters
    ----------
    flit_cycles : int
        Cycles of the chip's clock for which a flit stands on the data pins. The forwarded clock
        has one period in that time.
    latency_cycles : int
        Cycles on the way, each direction, pins and synchronisation at both ends included.
    """

    flit_cycles: int
    latency_cycles: int


@dataclass(frozen=True)
class LinkPort:
    """One end of a link, by pins of one connector.

    ``clock``, ``valid`` and ``data`` go from sender to receiver, ``back`` brings the credits. A
    port of direction ``out`` drives the first three and listens to ``back``; ``in`` does the
    opposite.

    Parameters
    ----------
    connector : str
        Connector of the platform, as ``"pmod 0"``.
    clock, valid, data, back : str, str, tuple of str, str
        Pins by their names on the connector.
    clock_input : str
        What the package pin of ``clock`` is to the device's clock network, as ``"PCLKT0_0"``, or
        empty if it is an ordinary pin. An ``out`` port needs none.
    """

    name: str
    direction: str
    connector: str
    clock: str
    valid: str
    data: tuple[str, ...]
    back: str
    clock_input: str = ""

    @property
    def wires(self) -> tuple[tuple[str, str], ...]:
        """Wires by name with their connector pins, in the order of a cabling table."""
        data = tuple((f"data[{index}]", pin) for index, pin in enumerate(self.data))
        return (("clock", self.clock), ("valid", self.valid), *data, ("back", self.back))

    def drives(self, wire: str) -> bool:
        """Whether this end drives the wire."""
        return (self.direction == "out") != (wire == "back")


@dataclass(frozen=True)
class FreePins:
    """Pins of a connector that no link uses, and what they are good for."""

    connector: str
    pins: tuple[str, ...]
    use: str


@dataclass(frozen=True)
class Board:
    """A board that carries one chip.

    Parameters
    ----------
    family : str
        ``ecp5``, ``ice40`` or ``xilinx7``.
    platform : str
        Class of Amaranth's build system that knows the board, as ``"module:Class"``.
    device : str
        The part.
    multipliers, luts, block_ram_bits : int
        What the device has.
    multiplier_style : str
        How a tile unit multiplies: ``ecp5`` or ``ice40`` (blocks of the family, by name), or
        ``plain`` (left to the tool).
    reset : str or None
        Resource of a button that resets the chip.
    io_standard : str
        I/O standard of the link pins.
    tile : int
        Edge of a tile, unless a build asks for another.
    memory_bytes : int
        Memory of the chip for tensors and buffers.
    links : tuple of LinkPort
        Link ports, all of one width.
    bitstream : bool
        Whether open tools make a bitstream. Otherwise a project for the vendor's tool is prepared.
    notes : tuple of str
        What a person at the bench has to know.
    pins : tuple of (str, str, str)
        Connector, pin and package pin of every pin of the platform's connectors.
    reset_pin : str
        Package pin of ``reset``; empty without one.
    """

    name: str
    title: str
    family: str
    platform: str
    device: str
    multipliers: int
    multiplier_style: str
    luts: int
    block_ram_bits: int
    clock: BoardClock
    uart: UartPins
    reset: str | None
    io_standard: str
    tile: int
    memory_bytes: int
    links: tuple[LinkPort, ...]
    link: PinTiming
    free: tuple[FreePins, ...]
    bitstream: bool
    notes: tuple[str, ...]
    pins: tuple[tuple[str, str, str], ...]
    reset_pin: str

    @cached_property
    def link_by_name(self) -> dict[str, LinkPort]:
        """Link ports by name."""
        return {port.name: port for port in self.links}

    @property
    def link_pins(self) -> int:
        """Data pins of each link."""
        return len(self.links[0].data) if self.links else 0

    @property
    def link_clock_hz(self) -> int:
        """Frequency of the clock that goes with a link."""
        return self.clock.target_hz // self.link.flit_cycles

    def ports(self, direction: str) -> tuple[LinkPort, ...]:
        """Link ports of one direction, in the order of the file."""
        return tuple(port for port in self.links if port.direction == direction)

    def package_pin(self, connector: str, pin: str) -> str:
        """The pin of the package that a pin of a connector leads to."""
        return self._package_pins[connector, pin]

    @cached_property
    def _package_pins(self) -> dict[tuple[str, str], str]:
        return {(connector, pin): package for connector, pin, package in self.pins}
