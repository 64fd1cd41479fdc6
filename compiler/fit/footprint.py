"""What one chip holds of a layer: weights, activations, buffers."""

from typing import NamedTuple

from compiler.fit.model import ELEMENT_BYTES, SUM_BYTES, Layer
from compiler.fit.roofline import received_partials, tiles
from compiler.ir.program import Program
from compiler.ir.tensor import TensorRole
from compiler.passes.buffer import OPERAND_PAGES
from compiler.passes.memory import ALIGNMENT_BYTES

ESTIMATED_PAGES = 2
"""Depth of a result buffer of which no program says the depth."""


class MemoryFootprint(NamedTuple):
    """Bytes that one chip holds of a layer."""

    weights: int
    activations: int
    buffers: int


def planned_footprint(layer: Layer, chips: int) -> MemoryFootprint:
    """Bytes of a layer on one chip of a machine of which nothing but figures is known.

    Its slices of weights and activations; as buffers the whole of its own partial sum and, on
    several chips, of one that it receives. At the home chip the sum is the result.
    """
    k = -(-layer.k // chips)
    element = ELEMENT_BYTES[layer.dtype]
    partial = layer.m * layer.n * SUM_BYTES
    return MemoryFootprint(
        weights=k * layer.n * element,
        activations=layer.m * k * element,
        buffers=partial * (2 if chips > 1 else 1),
    )


def tiled_footprint(layer: Layer, chips: int, tile: int) -> MemoryFootprint:
    """Bytes of a layer at the home chip of a target with tiles of ``tile``.

    Tensors are whole tiles, and each begins at a multiple of 64 bytes, as the memory pass places
    them. Of the buffers it is an estimate: two pages for each operand, for the product, for every
    partial sum that arrives, and for their sum.
    """
    element = ELEMENT_BYTES[layer.dtype] * tile**2
    rows, cols = tiles(layer.m, tile), tiles(layer.n, tile)
    blocks = tiles(layer.k, tile * chips)
    arriving = received_partials(chips)
    sums = 1 + (arriving + 1 if arriving else 0)
    return MemoryFootprint(
        weights=_aligned(blocks * cols * element),
        activations=_aligned(rows * blocks * element) + _aligned(rows * cols * tile**2 * SUM_BYTES),
        buffers=2 * _aligned(OPERAND_PAGES * element)
        + sums * _aligned(ESTIMATED_PAGES * tile**2 * SUM_BYTES),
    )


def program_footprint(program: Program) -> MemoryFootprint:
    """Bytes of a compiled layer on the chip that holds most, gaps between them included."""
    end = dict.fromkeys(range(program.chip_count), 0)
    for place in program.memory:
        end[place.chip] = max(end[place.chip], place.address + place.size_bytes)
    fullest = max(end, key=lambda chip: end[chip])
    sizes = {place.owner: place.size_bytes for place in program.memory if place.chip == fullest}
    weights = activations = 0
    for tensor in program.chips[fullest].tensors:
        size = _aligned(sizes[tensor.name])
        if tensor.role is TensorRole.INPUT and tensor.value == program.claim.right:
            weights += size
        else:
            activations += size
    return MemoryFootprint(weights, activations, end[fullest] - weights - activations)


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
