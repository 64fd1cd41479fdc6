"""Memory: give every tensor and every buffer a place in its chip's memory."""

from collections import defaultdict
from dataclasses import replace

from compiler.ir.program import Allocation, Program

ALIGNMENT_BYTES = 64


def allocate(program: Program) -> Program:
    """Lay tensors and then buffers one behind the other, where there is no memory map yet."""
    if program.memory:
        return program
    free: defaultdict[int, int] = defaultdict(int)
    places: list[Allocation] = []

    def place(owner: str, chip: int, bits: int) -> None:
        size = -(-bits // 8)
        places.append(Allocation(owner, chip, free[chip], size))
        free[chip] += -(-size // ALIGNMENT_BYTES) * ALIGNMENT_BYTES

    for tensor in program.tensors:
        place(tensor.name, tensor.chip, tensor.page_count * tensor.tile**2 * tensor.dtype.bits)
    for buffer in program.buffers:
        assert buffer.site is not None
        assert buffer.depth is not None
        bits = buffer.depth.pages * buffer.page.beats * buffer.page.beat_bits
        place(buffer.name, buffer.site.chip, bits)
    return replace(program, memory=tuple(places))
