"""Operands in and product out of whole chips and systems, beat by beat."""

import numpy as np
from amaranth.hdl import ResetInserter, Signal

from compiler.ir.program import Program
from hw.system import System
from tests.hw.simulation import idle, plain

SETTLING_CYCLES = 50
"""Longer than any system here takes to offer its page slots after a reset."""


def column_beats(a: np.ndarray, tile: int) -> list[list[int]]:
    """The words of an A memory: tiles row-major, the columns of each."""
    rows, cols = a.shape
    return [
        a[row : row + tile, col].tolist() for row in range(0, rows, tile) for col in range(cols)
    ]


def row_beats(b: np.ndarray, tile: int) -> list[list[int]]:
    """The words of a B or C memory: tiles row-major, the rows of each."""
    rows, cols = b.shape
    return [
        b[row + beat, col : col + tile].tolist()
        for row in range(0, rows, tile)
        for col in range(0, cols, tile)
        for beat in range(tile)
    ]


def put_in(ctx, chip, tensor: str, beats: list[list[int]]) -> None:
    """Fill a tensor memory of a chip."""
    for row, beat in enumerate(beats):
        ctx.set(chip.memories[tensor].data[row], beat)


def taken_out(ctx, chip, tensor: str) -> list[list[int]]:
    """The words of a tensor memory of a chip."""
    memory = chip.memories[tensor]
    return [plain(ctx.get(memory.data[row])) for row in range(memory.depth_words)]


class SystemBench:
    """A system of several chips that can be reset, for products that are whole tiles."""

    def __init__(self, program: Program):
        self.program = program
        self.system = System(program)
        self.reset = Signal()
        self.dut = ResetInserter({"sync": self.reset})(self.system)

    async def multiply(self, ctx, a: np.ndarray, b: np.ndarray) -> tuple[bool, int]:
        """Run once; return whether the product is right, and the cycles that it took."""
        await self.begin(ctx, a, b)
        cycles = 0
        while not ctx.get(self.system.done):
            await ctx.tick()
            cycles += 1
        product = taken_out(ctx, self.system.chips[0], "c")
        return product == row_beats(a @ b, self.program.tile), cycles

    async def begin(self, ctx, a: np.ndarray, b: np.ndarray) -> None:
        """Put the operands in and strobe ``start``."""
        tile, chips = self.program.tile, self.system.chips
        for chip, left, right in zip(
            chips,
            np.split(a, len(chips), axis=1),
            np.split(b, len(chips), axis=0),
            strict=True,
        ):
            put_in(ctx, chip, f"c{chip.chip}.a", column_beats(left, tile))
            put_in(ctx, chip, f"c{chip.chip}.b", row_beats(right, tile))
        ctx.set(self.system.start, 1)
        await ctx.tick()
        ctx.set(self.system.start, 0)

    async def reset_for_one_cycle(self, ctx) -> None:
        """Reset, and let the link ends find each other again."""
        ctx.set(self.reset, 1)
        await ctx.tick()
        ctx.set(self.reset, 0)
        await idle(ctx, SETTLING_CYCLES)
