"""What a run gives: the product, its cycles, and what each chip and link did."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from compiler.ir.program import Program
from compiler.timing import drain_cycles


@dataclass(frozen=True)
class LinkActivity:
    """What crossed a link: whole beats, cycles with a flit, cycles spent waiting for a credit."""

    link: str
    beats: int
    busy_cycles: int
    stall_cycles: int


@dataclass(frozen=True)
class ChipActivity:
    """What a chip's tile unit did.

    ``active_cycles`` multiplied; ``last_active_cycle`` is the number of the last of them, counted
    from ``start``. ``timeline`` is the share of active cycles in equal spans of the run.
    """

    chip: int
    active_cycles: int
    last_active_cycle: int
    timeline: tuple[float, ...] = ()


@dataclass(frozen=True)
class RunResult:
    """A finished run.

    Attributes
    ----------
    c : array
        The product that the hardware computed, ``m x n`` int32.
    reference : array
        numpy's product of the same operands.
    cycles : int
        Cycles from ``start`` until the last output beat was in memory.
    """

    program: Program
    c: np.ndarray = field(repr=False)
    reference: np.ndarray = field(repr=False)
    cycles: int
    links: tuple[LinkActivity, ...]
    chips: tuple[ChipActivity, ...]

    @cached_property
    def exact(self) -> bool:
        """Whether the product equals numpy's bit for bit."""
        return self.c.dtype == self.reference.dtype and np.array_equal(self.c, self.reference)

    @property
    def ideal_cycles(self) -> int:
        """Cycles that the arrays would take for the padded shape if nothing ever waited."""
        assert self.program.schedule is not None
        return self.program.schedule.ideal_cycles

    @property
    def utilization(self) -> float:
        """Ideal cycles over cycles."""
        return self.ideal_cycles / self.cycles

    @property
    def useful_multiplications(self) -> float:
        """Multiplications that the product is made of, over those that the arrays make for it.

        The others multiply the zeros that fill up tiles and slices.
        """
        program, claim = self.program, self.program.claim
        made = self.ideal_cycles * program.tile**2 * program.chip_count
        return claim.m * claim.n * claim.k / made

    @property
    def exposed_reduction_cycles(self) -> int:
        """Cycles of the reduction that no product hides.

        They run from where the last product would be in memory, were it stored on its own chip.
        """
        last = max(chip.last_active_cycle for chip in self.chips)
        return self.cycles - last - drain_cycles(self.program.tile)

    def differences(self, count: int) -> list[tuple[int, int, int, int]]:
        """The first elements that differ: row, column, what came out, what numpy says."""
        where = np.argwhere(self.c != self.reference)[:count]
        return [
            (int(row), int(col), int(self.c[row, col]), int(self.reference[row, col]))
            for row, col in where
        ]
