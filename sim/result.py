"""What a run gives: its outputs, its cycles, and what each chip and link did."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

import numpy as np

from compiler.ir.program import Program
from compiler.timing.model import drain_cycles
from sim.parts import assembled, place_of


@dataclass(frozen=True)
class LinkActivity:
    """What crossed a link: whole beats, cycles with a flit, cycles spent waiting for a credit."""

    link: str
    beats: int
    busy_cycles: int
    stall_cycles: int


@dataclass(frozen=True)
class ChipActivity:
    """What a chip's tile units did; nothing if it has none.

    ``active_cycles`` multiplied; ``last_active_cycle`` is the number of the last of them, counted
    from ``start``. ``timeline`` is the share of active cycles in equal spans of the run.
    """

    chip: int
    active_cycles: int
    last_active_cycle: int
    timeline: tuple[float, ...] = ()


@dataclass(frozen=True)
class Difference:
    """An element of an output that a chip has otherwise than numpy."""

    output: str
    chip: int
    row: int
    col: int
    got: int
    want: int


@dataclass(frozen=True)
class RunResult:
    """A finished run.

    Attributes
    ----------
    stored : dict of array
        What each output tensor holds after the run, by the tensor's name, in int32.
    references : dict of array
        numpy's outputs of the same inputs, by their names.
    cycles : int
        Cycles from ``start`` until the last output beat was in memory.
    """

    program: Program
    stored: dict[str, np.ndarray] = field(repr=False)
    references: dict[str, np.ndarray] = field(repr=False)
    cycles: int
    links: tuple[LinkActivity, ...]
    chips: tuple[ChipActivity, ...]

    @cached_property
    def outputs(self) -> dict[str, np.ndarray]:
        """Every output by its name, put together from the chips that have parts of it."""
        program = self.program
        return {name: assembled(program, self.stored, name) for name in program.graph.outputs}

    @property
    def c(self) -> np.ndarray:
        """The one output of a program of one product, ``m x n`` int32."""
        (output,) = self.outputs.values()
        return output

    @property
    def reference(self) -> np.ndarray:
        """numpy's for the one output."""
        (reference,) = self.references.values()
        return reference

    @cached_property
    def exact(self) -> bool:
        """Whether each output, and each copy that a chip has of it, equals numpy's bit for bit."""
        return not self._wrong_types() and not any(self._differences())

    def _wrong_types(self) -> bool:
        pairs = ((self.outputs[name], of_numpy) for name, of_numpy in self.references.items())
        return any(got.dtype != want.dtype for got, want in pairs)

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
        """Multiplications that the product is made of, over those that the arrays could make.

        The others multiply the zeros that fill up tiles and slices, are those of another chip once
        more, or would fit into the time in which a chip has less to do than the busiest.
        """
        program, claim = self.program, self.program.claim
        could_be_made = self.ideal_cycles * program.tile**2 * program.chip_count
        return claim.m * claim.n * claim.k / could_be_made

    @property
    def exposed_reduction_cycles(self) -> int:
        """Cycles of bringing sums to where they are wanted that no product hides.

        They run from where the last product would be in memory, were it stored on its own chip.
        """
        last = max((chip.last_active_cycle for chip in self.chips), default=0)
        return self.cycles - last - drain_cycles(self.program.tile)

    def differences(self, count: int) -> list[Difference]:
        """The first elements that differ, output by output and copy by copy."""
        return list(islice(self._differences(), count))

    def _differences(self) -> Iterator[Difference]:
        program = self.program.canonical
        for output, reference in self.references.items():
            for tensor in program.tensors_of.get(output, ()):
                rows, cols = program.real_shape(tensor)
                got = self.stored[tensor.name][:rows, :cols]
                want = reference[place_of(program, tensor)]
                for row, col in np.argwhere(got != want):
                    yield Difference(
                        output=output,
                        chip=tensor.chip,
                        row=tensor.part.row + int(row),
                        col=tensor.part.col + int(col),
                        got=int(got[row, col]),
                        want=int(want[row, col]),
                    )
