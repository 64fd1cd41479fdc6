"""What came of the build of one chip."""

from dataclasses import dataclass, field

from bitstream.link_timing import LinkTiming
from bitstream.routing import GivenUp
from bitstream.stages import Attempt
from bitstream.timing import ClockTiming, Crossing, Fill
from bitstream.usage import Usage
from compiler.ir.program import Program
from constraints.board import Board
from hw.board.multipliers import board_multipliers
from hw.multiplier.plan import MultiplierPlan


@dataclass(frozen=True)
class RoutedSeed:
    """What place and route gave from one seed, by the router that came to its end."""

    attempt: Attempt
    clocks: tuple[ClockTiming, ...]
    fills: tuple[Fill, ...]
    crossings: tuple[Crossing, ...] = ()
    links: tuple[LinkTiming, ...] = ()

    @property
    def seed(self) -> int:
        """The seed."""
        return self.attempt.seed

    @property
    def margin(self) -> float:
        """How far the clock or link that is nearest to its limit is from it: 1 and more is met."""
        clocks = [clock.achieved_hz / clock.wanted_hz for clock in self.clocks]
        links = [link.window_ns / link.way_ns for link in self.links if link.way_ns]
        return min((*clocks, *links), default=float("inf"))

    @property
    def met(self) -> bool:
        """Whether every clock may run as fast as it does, and every link keeps its window."""
        return all(each.met for each in (*self.clocks, *self.links))


@dataclass(frozen=True)
class ChipBuild:
    """A chip of a program as far as its build went.

    Parameters
    ----------
    seeds : tuple of RoutedSeed
        Place and route from each seed, in order; empty if the build did not go so far.
    total, components : Usage, dict
        Cells of the netlist, of all and by component; empty if there is none.
    given_up : tuple of GivenUp
        Runs of place and route that did not come to an end.
    tools : tuple of (str, str)
        Tools that made the netlist and its routing, with their versions.
    bitstream : str
        File of the bitstream in the folder of the chip, or empty.
    same_as : int or None
        The chip whose build this one shares, because the tools are given the same for both.
    """

    program: Program
    board: Board
    chip: int
    total: Usage | None = None
    components: dict[str, Usage] = field(default_factory=dict)
    seeds: tuple[RoutedSeed, ...] = ()
    given_up: tuple[GivenUp, ...] = ()
    tools: tuple[tuple[str, str], ...] = ()
    bitstream: str = ""
    same_as: int | None = None

    @property
    def best(self) -> RoutedSeed | None:
        """The seed whose result was taken: the one with the most margin."""
        return max(self.seeds, key=lambda seed: seed.margin, default=None)

    @property
    def met(self) -> bool:
        """Whether every clock and link is met; so far, nothing speaks against it."""
        return self.best is None or self.best.met

    @property
    def multipliers(self) -> MultiplierPlan | None:
        """What the multipliers of its tile unit are; ``None`` if that is the tool's choice."""
        return board_multipliers(self.program, self.chip, self.board)

    @property
    def cycles(self) -> int:
        """Cycles of one product on all chips together."""
        assert self.program.schedule is not None
        return self.program.schedule.cycles

    @property
    def seconds(self) -> float:
        """Time of one product at the clock of the board."""
        return self.cycles / self.board.clock.target_hz

    @property
    def multiply_accumulates(self) -> int:
        """Multiply-accumulates of the chip for a product, padding not counted."""
        program = self.program
        held = {t.value: program.real_shape(t) for t in program.chips[self.chip].tensors}
        product = program.graph.product
        if product is None or not {product.left, product.right} <= held.keys():
            return 0
        (m, k), (_, n) = held[product.left], held[product.right]
        return m * n * k

    @property
    def rate(self) -> float:
        """Multiply-accumulates of the chip per second while products run."""
        return self.multiply_accumulates / self.seconds

    @property
    def peak_rate(self) -> float:
        """Multiply-accumulates per second if the tile unit never waited."""
        return self.program.tile**2 * self.board.clock.target_hz
