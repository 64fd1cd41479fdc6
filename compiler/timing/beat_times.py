"""The cycles in which beats pass, as arrays."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Cycles = NDArray[np.int64]


@dataclass
class BeatTimes:
    """Cycles per buffer, indexed by beat, or by page where it says so.

    Attributes
    ----------
    written, readable, taken : dict
        When a beat enters the buffer, when it can first leave it, and when it does.
    promised : dict
        Per page: by when a slot of the buffer must be free for it.
    returned : dict
        Per page: the first cycle in which its slot is free again.
    paired : dict
        Per page, by result buffer: when the product takes the last pair of beats.
    stored : dict
        By store: when a beat is written into memory.
    """

    written: dict[str, Cycles] = field(default_factory=dict[str, Cycles])
    readable: dict[str, Cycles] = field(default_factory=dict[str, Cycles])
    taken: dict[str, Cycles] = field(default_factory=dict[str, Cycles])
    promised: dict[str, Cycles] = field(default_factory=dict[str, Cycles])
    returned: dict[str, Cycles] = field(default_factory=dict[str, Cycles])
    paired: dict[str, Cycles] = field(default_factory=dict[str, Cycles])
    stored: dict[str, Cycles] = field(default_factory=dict[str, Cycles])


def spaced(cycles: Cycles, gap: int, numbers: Cycles) -> Cycles:
    """The earliest times not before ``cycles``, in order, at least ``gap`` from one to the next.

    ``numbers`` counts them: those of numbers that are missing are taken to come early enough.
    """
    steps = gap * numbers
    return np.maximum.accumulate(cycles - steps) + steps
