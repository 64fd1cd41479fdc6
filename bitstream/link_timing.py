"""Whether what goes over the pins of a link is at its register while it stands there."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bitstream.timing import ASYNC, EDGE, domain
from bitstream.usage import BOARD
from constraints.board import Board

FORWARD_CELLS = ("clock_cell", "valid_cell", "data_cell")
"""Cells of the pins that a sender drives in step."""


@dataclass(frozen=True)
class LinkTiming:
    """How much of a link's window one end takes.

    What stands on the pins changes half a period before and behind the edge of the forwarded clock
    that takes it; that is the window, and each of the two ends may take half of it.

    Parameters
    ----------
    port, direction : str
        Link port, and whether it is ``out`` or ``in``.
    way_ns : float
        Longest way between a pin of the port and its register; 0 where the registers are in the
        cells of the pins.
    window_ns : float
        What it may take.
    """

    port: str
    direction: str
    way_ns: float
    window_ns: float

    @property
    def met(self) -> bool:
        """Whether the end keeps to its half of the window."""
        return self.way_ns <= self.window_ns


def window_ns(board: Board) -> float:
    """What one end of a link of a board may take: half of the shorter half of its period."""
    return board.link.flit_cycles // 2 / board.clock.target_hz * 1e9 / 2


def link_timings(
    report: dict[str, Any], netlist: dict[str, Any], board: Board
) -> tuple[LinkTiming, ...]:
    """The links of a routed design, in the order of the board."""
    found: list[LinkTiming] = []
    for port in board.links:
        sends = port.direction == "out"
        end = f"{port.name}_{'transmitter' if sends else 'receiver'}"
        if f"{BOARD}.{end}" in netlist["cells"]:
            ways = _to_pads(report, end) if sends else _to_registers(report, netlist, end)
            longest = max(ways, default=0.0)
            found.append(LinkTiming(port.name, port.direction, longest, window_ns(board)))
    return tuple(found)


def _to_pads(report: dict[str, Any], end: str) -> Iterator[float]:
    """Ways from registers to the pads that a sender drives."""
    pads = tuple(f"{BOARD}.{end}.{cell}." for cell in FORWARD_CELLS)
    for net in report["detailed_net_timings"]:
        for endpoint in net["endpoints"]:
            if endpoint["event"] == ASYNC and endpoint["cell"].startswith(pads):
                yield max(endpoint["delay"])


def _to_registers(report: dict[str, Any], netlist: dict[str, Any], end: str) -> Iterator[float]:
    """Ways from pads to registers in the domain of a receiver's pins, which reads no others."""
    for net in report["detailed_net_timings"]:
        if net["event"] == ASYNC:
            for endpoint in net["endpoints"]:
                clock = endpoint["event"].removeprefix(EDGE)
                if domain(clock, netlist).startswith(f"{end}."):
                    yield max(endpoint["delay"])
