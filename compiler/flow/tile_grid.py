"""The grid of tiles that lies over each value of a problem, and where tensors stand in it."""

from compiler.flow.errors import FlowError
from compiler.ir.program import Program


def contraction_blocks(program: Program) -> int:
    """Contributions of which every sum has one each.

    Those of a product are blocks of its contraction axis, padding included. Those of slices that
    are combined are the slices. What is not summed has one.
    """
    moved = program.graph.redistribution
    if moved is not None:
        return program.mesh.size(moved.axis) if moved.combine else 1
    return -(-(program.claim.k + program.claim.k_pad) // program.tile)


def tile_number(program: Program, tile: tuple[int, ...]) -> int:
    """The number of a tile of the whole output, counted row by row."""
    row, col = tile
    output = program.graph.value_by_name[program.graph.output]
    return row * -(-output.cols // program.tile) + col


def first_tile(program: Program, name: str) -> tuple[int, int]:
    """Where a tensor stands in its value, in tiles. It must be cut where tiles end.

    Raises
    ------
    FlowError
        If it begins or ends in the midst of a tile.
    """
    tensor, tile = program.tensor_by_name[name], program.tile
    value = program.graph.value_by_name[tensor.value]
    part = tensor.part
    for begin, size, end in (
        (part.row, tensor.rows, value.padded_rows),
        (part.col, tensor.cols, value.padded_cols),
    ):
        if begin % tile:
            raise FlowError(
                "PartAlignment",
                name,
                f"tensor {name!r} does not begin at a tile of {value.name!r}: it is {part}, "
                f"and tiles are of {tile}",
            )
        if (begin + size) % tile and begin + size != end:
            raise FlowError(
                "PartAlignment",
                name,
                f"tensor {name!r} ends at element {begin + size} of {value.name!r}, in the "
                f"midst of a tile of {tile}",
            )
    return part.row // tile, part.col // tile
