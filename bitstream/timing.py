"""What place and route says of a design: how full the device is, how fast the clocks, and why."""

from dataclasses import dataclass
from typing import Any

from bitstream.usage import BOARD, PINS, TOP, Names
from hw.board.pin_receiver import CLOCK_CELL, PINS_DOMAIN

SYNC = "sync"
"""The domain that a chip runs in."""
EDGE = "posedge "
"""What stands before the net of a clock where nextpnr names a path by its ends."""
ASYNC = "<async>"
"""What nextpnr calls the end of a path that no clock has: a pin."""
GLOBAL_NET = ("$glbnet$", "_$glb_clk")
"""What nextpnr puts before or behind the name of a net that it moves to the clock network."""


@dataclass(frozen=True)
class ClockTiming:
    """How fast a clock may run.

    Parameters
    ----------
    name : str
        Its domain: the chip runs in ``sync``.
    achieved_hz, wanted_hz : float
        The fastest that place and route finds safe, and what the board gives.
    path : :class:`Path` or None
        The slowest way from a register to a register.
    """

    name: str
    achieved_hz: float
    wanted_hz: float
    path: "Path | None" = None

    @property
    def met(self) -> bool:
        """Whether the clock may run as fast as it does.

        A PLL's frequency is a quotient that the tool rounds, hence the millionth.
        """
        return self.achieved_hz >= self.wanted_hz * (1 - 1e-6)


@dataclass(frozen=True)
class Path:
    """The slowest way between two registers.

    Parameters
    ----------
    source, destination : str
        Signals that it leads from and to.
    logic_ns, routing_ns : float
        Time in cells, set-up included, and time between them.
    through : tuple of str
        Components on the way, in order, each where it is entered.
    """

    source: str
    destination: str
    logic_ns: float
    routing_ns: float
    through: tuple[str, ...]


@dataclass(frozen=True)
class Crossing:
    """The slowest way from the registers of one clock to those of another, or to or from pins.

    No period bounds it: the components that cross wait for what they take to be stable. Pins for
    which that is not so are those of links; see :mod:`bitstream.link_timing`.
    """

    source: str
    destination: str
    path: Path


@dataclass(frozen=True)
class Fill:
    """How much of a kind of cell of the device is taken."""

    kind: str
    used: int
    available: int


def fills(report: dict[str, Any]) -> tuple[Fill, ...]:
    """The kinds of cells that a routed design uses, the fullest first."""
    found = [
        Fill(kind, entry["used"], entry["available"])
        for kind, entry in report["utilization"].items()
        if entry["used"]
    ]
    return tuple(sorted(found, key=lambda fill: (-fill.used / fill.available, fill.kind)))


def clocks(
    report: dict[str, Any], netlist: dict[str, Any], names: Names
) -> tuple[ClockTiming, ...]:
    """The clocks of a routed design, ``sync`` first."""
    paths = {
        entry["from"].removeprefix(EDGE): _path(entry["path"], names)
        for entry in report["critical_paths"]
        if entry["from"] == entry["to"]
    }
    found = [
        ClockTiming(
            name=domain(net, netlist),
            achieved_hz=entry["achieved"] * 1e6,
            wanted_hz=entry["constraint"] * 1e6,
            path=paths.get(net),
        )
        for net, entry in report["fmax"].items()
    ]
    return tuple(sorted(found, key=lambda clock: (clock.name != SYNC, clock.name)))


def crossings(
    report: dict[str, Any], netlist: dict[str, Any], names: Names
) -> tuple[Crossing, ...]:
    """The ways between the clocks of a routed design, and between them and its pins."""
    found = [
        Crossing(
            source=domain(entry["from"].removeprefix(EDGE), netlist),
            destination=domain(entry["to"].removeprefix(EDGE), netlist),
            path=_path(entry["path"], names),
        )
        for entry in report["critical_paths"]
        if entry["from"] != entry["to"]
    ]
    return tuple(sorted(found, key=lambda crossing: (crossing.source, crossing.destination)))


def domain(net: str, netlist: dict[str, Any]) -> str:
    """The domain of a net, one of whose names is that of a domain's clock.

    It is ``clk`` in ``sync``, and ``<domain>_clk`` in another, which is told with the component
    that it belongs to. That of a link may have no name but that of the cell of its pin. What no
    clock has is at the pins.
    """
    if net == ASYNC:
        return PINS
    before, behind = GLOBAL_NET
    name = net.removeprefix(before).removesuffix(behind)
    bits = netlist["netnames"].get(name, {}).get("bits")
    aliases = [
        alias for alias, other in netlist["netnames"].items() if bits and other["bits"] == bits
    ]
    told = sorted({name, *aliases}, key=lambda alias: (alias.count("."), alias))
    if any(alias.rpartition(".")[2] == "clk" for alias in told):
        return SYNC
    local = next((a for a in told if a.endswith("_clk") or f".{CLOCK_CELL}." in a), None)
    if local is None:
        return name
    path = local.removesuffix("_clk").removeprefix(f"{BOARD}.").split(".")
    if CLOCK_CELL in path:
        return f"{path[0]}.{PINS_DOMAIN}"
    return ".".join(path if len(path) == 1 else (path[0], path[-1]))


def _path(steps: list[dict[str, Any]], names: Names) -> Path:
    cells = [steps[0]["from"]["cell"], *(step["to"]["cell"] for step in steps)]
    # What the tool has put in itself, such as a global buffer, is of no component.
    components = [name for name in map(names.component, cells) if name != TOP]
    routing = sum(step["delay"] for step in steps if step["type"] == "routing")
    return Path(
        source=names.signal(cells[0]),
        destination=names.signal(cells[-1]),
        logic_ns=sum(step["delay"] for step in steps) - routing,
        routing_ns=routing,
        through=tuple(
            component
            for index, component in enumerate(components)
            if index == 0 or component != components[index - 1]
        ),
    )
