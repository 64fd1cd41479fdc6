# amaranth: UnusedElaboratable=no
"""Boards with clocks that have nothing to do with each other multiply, and get it right."""

import numpy as np
import pytest

from compiler.ir.stage import Store
from compiler.shard_plan import ShardPlan
from compiler.workload import MatmulSpec
from host.starts import first_starts
from hw.board.back_wire import START_CYCLES
from hw.board.board_registers import board_registers
from sim.binding import bind
from sim.board.boards import Boards, Crystal
from sim.board.serial_line import SerialLine
from sim.images import matrix_of, words
from sim.parts import assembled
from tests.hw.board.clocks import PHASES, RATIOS
from tests.programs import finished, program_for, random_operands
from tests.tiers import chosen

DIVISOR = 4
START = next(register.offset for register in board_registers() if register.name == "start")
START_COMMAND = (1, 1, *(START // 4).to_bytes(4, "big"), 0, 0, 0, 1)
PINS = {"link_width_bits": 4, "link_flit_cycles": 2, "link_latency_cycles": 8}
START_LATENCY = START_CYCLES + 6
"""Cycles from a board's start to that of a board that sends to it, at most."""


class BoardsBench:
    """Runs a program on boards, started by a host at the home chip, or at several."""

    def __init__(self, program, crystals):
        self.program = program
        self.boards = Boards(program, divisor=DIVISOR)
        self.simulator = self.boards.simulator(crystals)
        self.outputs = [s.kind.tensor for s in program.stages if isinstance(s.kind, Store)]
        self.copies: list[dict[str, np.ndarray]] = []
        self.products: list[np.ndarray] = []
        self.cycles: list[int] = []
        self.starts = [0] * program.chip_count
        self.begins_at: tuple[int, ...] = ()
        (self.home, *_) = first_starts(program)

    def run(self, a, b, *, runs: int = 1):
        """Load, wait for the links, start ``runs`` times, and keep products and home cycles."""

        async def testbench(ctx):
            self._load(ctx, a, b)
            tops = self.boards.tops
            ends = [e for t in tops for e in (*t.transmitters.values(), *t.receivers.values())]
            await self._until(ctx, lambda: all(ctx.get(end.up) for end in ends))
            for _ in range(runs):
                for chip in self.begins_at or (self.home,):
                    line = SerialLine(DIVISOR)
                    line.waiting.extend(START_COMMAND)
                    await self._until(ctx, lambda line=line: not line.busy, line, chip)
                home = tops[self.home].chip.activity
                await self._until(ctx, lambda home=home: ctx.get(home.running))
                await self._until(ctx, lambda: all(ctx.get(top.chip.done) for top in tops))
                for _ in range(4 * START_LATENCY):  # a start that is late comes in this time
                    await self._tick(ctx)
                self.cycles.append(ctx.get(tops[self.home].chip.activity.cycles))
                self.copies.append({name: self._held(ctx, name) for name in self.outputs})
                self.products.append(assembled(self.program, self.copies[-1], "c"))

        self.simulator.add_testbench(testbench)
        self.simulator.run()

    async def _until(self, ctx, holds, line=None, chip=0):
        for _ in range(20_000):
            if holds():
                return
            if line:
                ctx.set(getattr(self.boards, f"rx_{chip}"), line.drive())
            await self._tick(ctx)
        raise TimeoutError("the boards did not get there in 20000 cycles")

    async def _tick(self, ctx):
        await ctx.tick(self.boards.domains[self.home])
        for chip, top in enumerate(self.boards.tops):
            self.starts[chip] += ctx.get(top.chip.activity.start)

    def _memory(self, tensor):
        return next(t.chip.memories[tensor] for t in self.boards.tops if tensor in t.chip.memories)

    def _load(self, ctx, a, b):
        for name, array in bind(self.program, a, b).items():
            tensor = self.program.tensor_by_name[name]
            for row, word in zip(self._memory(name).data, words(array, tensor), strict=True):
                ctx.set(row.as_value(), word)

    def _held(self, ctx, name):
        memory = self._memory(name)
        image = [ctx.get(memory.data[row].as_value()) for row in range(memory.depth)]
        return matrix_of(image, self.program.tensor_by_name[name])


@pytest.mark.covers("values")
@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("phase", chosen(PHASES, PHASES[1::2]))
def test_two_boards_finish_exactly_for_every_ratio_and_phase(ratio, phase):
    program = program_for(2, 4, 8, chips=2, tile=2, **PINS)
    a, b = random_operands(program, 1)
    bench = BoardsBench(program, [Crystal(), Crystal(ratio, phase)])
    bench.run(a, b)
    assert np.array_equal(bench.products[0], a @ b)
    assert bench.cycles[0] <= (program.schedule.cycles + START_LATENCY) * max(1, ratio) + 1


@pytest.mark.parametrize("reduce", chosen(["tree", "star"], ["tree"]))
def test_four_boards_with_four_clocks_multiply_twice_without_a_reset(reduce):
    program = program_for(4, 4, 16, chips=4, tile=2, reduce=reduce, **PINS)
    a, b = random_operands(program, 2)
    crystals = [Crystal(), Crystal(1.01, 0.2), Crystal(0.99, 0.7), Crystal(1.0001, 0.4)]
    bench = BoardsBench(program, crystals)
    bench.run(a, b, runs=2)
    hops = 2 if reduce == "tree" else 1
    for product, cycles in zip(bench.products, bench.cycles, strict=True):
        assert np.array_equal(product, a @ b)
        assert cycles <= (program.schedule.cycles + hops * START_LATENCY) * 1.01 + 1


@pytest.mark.parametrize("link", chosen([(1, 2, 8), (8, 3, 11), (40, 4, 13)], [(8, 3, 11)]))
def test_boards_with_other_links_multiply(link):
    width, flit_cycles, latency = link
    program = program_for(
        5,
        7,
        24,
        chips=2,
        tile=4,
        link_width_bits=width,
        link_flit_cycles=flit_cycles,
        link_latency_cycles=latency,
    )
    a, b = random_operands(program, 3)
    bench = BoardsBench(program, [Crystal(), Crystal(0.99, 0.3)])
    bench.run(a, b)
    assert np.array_equal(bench.products[0], a @ b)
    assert bench.cycles[0] <= program.schedule.cycles + START_LATENCY + 1


@pytest.mark.parametrize("chips", chosen([2, 3, 4], [2]))
@pytest.mark.parametrize("tile", chosen([1, 2], [1]))
def test_boards_that_start_each_other_run_once_for_each_start(chips, tile):
    """A sum on every chip: the start that comes back to the first board begins no other run.

    The product is the least, so the first board is done as soon as it can be.
    """
    plan = ShardPlan(chips, result="all")
    program = finished(MatmulSpec(1, 1, chips * tile), plan=plan, tile=tile, **PINS)
    a, b = random_operands(program, 5)
    bench = BoardsBench(program, [])
    bench.run(a, b, runs=3)
    assert len(bench.copies) == 3
    for copies in bench.copies:
        assert {name: copy.tolist() for name, copy in copies.items()} == {
            f"c{chip}.c": (a @ b).tolist() for chip in range(chips)
        }
    assert bench.starts == [3] * chips


def test_a_start_over_a_link_is_refused_while_a_board_runs():
    program = program_for(2, 4, 64, chips=2, tile=2, **PINS)
    a, b = random_operands(program, 4)
    bench = BoardsBench(program, [])
    bench.begins_at = (1, 0)
    bench.run(a, b)
    assert np.array_equal(bench.products[0], a @ b)
