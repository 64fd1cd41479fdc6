"""The routers of nextpnr: how far one is from its end, and when it will not come to it."""

import re
from dataclasses import dataclass, field

ROUTERS = ("router1", "router2")
"""Routers that nextpnr has, in the order in which they are tried."""

AUTO = "auto"
"""Each router in turn, until one ends."""

STALL_ROWS = 100
"""Rows of a router's log without a new least of what is left after which it is taken to stall.

nextpnr writes one for each 1,000 arcs of router1, and for each pass of router2 over the design.
In runs of router1 that ended, every row had a new least. Counting rows and not seconds gives the
same choice of router on every machine.
"""

TOTAL = re.compile(r"Info: Routing (\d+) arcs\.")
ROUTER1_ROW = re.compile(r"Info:\s+\d+ \|\s+\d+\s+\d+ \|\s+\d+\s+\d+ \|\s+(\d+)\|")
ROUTER2_ROW = re.compile(r"Info:\s+iter=\d+ wires=\d+ overused=(\d+) ")


class RouterStalled(Exception):
    """A router has come no nearer to its end for very long.

    Parameters
    ----------
    left : str
        What is left.
    """

    def __init__(self, left: str):
        self.left = left
        super().__init__(left)


@dataclass
class Routing:
    """How far a router is, told by what it says.

    Attributes
    ----------
    left : str
        What is left, or empty before anything is said of it.
    """

    left: str = ""
    _least: int | None = None
    _rows_since: int = 0
    _total: str = field(default="", repr=False)

    def hear(self, line: str) -> bool:
        """Take a line of the log; return whether it says anew what is left.

        Raises
        ------
        RouterStalled
            If it is one row too many without a new least.
        """
        total = TOTAL.match(line)
        if total:
            # The second router hands over to the first, which counts anew.
            self._total, self._least, self._rows_since = f" of {int(total[1]):,}", None, 0
            return False
        for pattern, unit in ((ROUTER1_ROW, "arc"), (ROUTER2_ROW, "overused wire")):
            row = pattern.match(line)
            if row:
                self._count(int(row[1]), unit)
                return True
        return False

    def _count(self, left: int, unit: str) -> None:
        total = self._total if unit == "arc" else ""
        self.left = f"{left:,}{total} {unit}{'' if left == 1 and not total else 's'} left"
        if self._least is None or left < self._least:
            self._least, self._rows_since = left, 0
            return
        self._rows_since += 1
        if self._rows_since >= STALL_ROWS:
            raise RouterStalled(self.left)


def routers(choice: str) -> tuple[str, ...]:
    """The routers to try, in order, for a router by name or ``auto``."""
    return ROUTERS if choice == AUTO else (choice,)
