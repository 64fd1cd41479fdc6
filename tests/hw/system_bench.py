"""Inputs in and outputs out of whole chips and systems, beat by beat."""

import numpy as np
from amaranth.hdl import ResetInserter, Signal

from compiler.ir.orientation import Orientation
from compiler.ir.program import Program
from compiler.ir.tensor import Tensor, TensorRole
from hw.chip import Chip
from hw.system import System
from sim.reference import claimed
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


def tensor_beats(value: np.ndarray, tensor: Tensor) -> list[list[int]]:
    """The words of the memory of a tensor, which holds its part of a matrix."""
    part, tile = tensor.part, tensor.tile
    held = value[part.row : part.row + tensor.rows, part.col : part.col + tensor.cols]
    whole = np.zeros((tensor.row_tiles * tile, tensor.col_tiles * tile), int)
    whole[: held.shape[0], : held.shape[1]] = held
    beats = column_beats if tensor.orientation is Orientation.COLUMNS else row_beats
    return beats(whole, tile)


def put_in(ctx, chip, tensor: str, beats: list[list[int]]) -> None:
    """Fill a tensor memory of a chip."""
    for row, beat in enumerate(beats):
        ctx.set(chip.memories[tensor].data[row], beat)


def taken_out(ctx, chip, tensor: str) -> list[list[int]]:
    """The words of a tensor memory of a chip."""
    memory = chip.memories[tensor]
    return [plain(ctx.get(memory.data[row])) for row in range(memory.depth_words)]


class SystemBench:
    """A system that can be reset."""

    def __init__(self, program: Program):
        self.program = program
        self.system = System(program)
        self.reset = Signal()
        self.dut = ResetInserter({"sync": self.reset})(self.system)

    async def multiply(self, ctx, *inputs: np.ndarray) -> tuple[bool, int]:
        """Run once; return whether every output is right, and the cycles that it took."""
        await self.begin(ctx, *inputs)
        cycles = 0
        while not ctx.get(self.system.done):
            await ctx.tick()
            cycles += 1
        return self.is_right(ctx, *inputs), cycles

    def is_right(self, ctx, *inputs: np.ndarray) -> bool:
        """Whether every output holds its part of what numpy makes of the inputs."""
        answers = claimed(self.program.graph, self._named(inputs))
        return all(
            taken_out(ctx, chip, tensor.name) == tensor_beats(answers[tensor.value], tensor)
            for chip, tensor in self._tensors(TensorRole.OUTPUT)
        )

    async def begin(self, ctx, *inputs: np.ndarray) -> None:
        """Put the inputs in and strobe ``start``."""
        values = self._named(inputs)
        for chip, tensor in self._tensors(TensorRole.INPUT):
            put_in(ctx, chip, tensor.name, tensor_beats(values[tensor.value], tensor))
        ctx.set(self.system.start, 1)
        await ctx.tick()
        ctx.set(self.system.start, 0)

    def _named(self, inputs: tuple[np.ndarray, ...]) -> dict[str, np.ndarray]:
        return dict(zip(self.program.graph.inputs, inputs, strict=True))

    def _tensors(self, role: TensorRole) -> list[tuple[Chip, Tensor]]:
        return [
            (self.system.chips[tensor.chip], tensor)
            for tensor in self.program.tensors
            if tensor.role is role
        ]

    async def reset_for_one_cycle(self, ctx) -> None:
        """Reset, and let the link ends find each other again."""
        ctx.set(self.reset, 1)
        await ctx.tick()
        ctx.set(self.reset, 0)
        await idle(ctx, SETTLING_CYCLES)
