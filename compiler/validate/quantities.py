"""Quantities: what is counted is there, and what is measured has a size."""

from compiler.errors import ValidationError
from compiler.ir.program import Program


def check_quantities(program: Program) -> None:
    """Tiles, tensors, depths, types and links have a size; all have the tiles of the program."""
    _tensors(program)
    _depths(program)
    _types(program)
    _links(program)


def _tensors(program: Program) -> None:
    for tensor in program.tensors:
        if program.tile < 1 or tensor.tile != program.tile:
            raise ValidationError(
                "TensorTile",
                tensor.name,
                f"tensor {tensor.name!r} has tiles of {tensor.tile}, the program of {program.tile}",
            )
        if min(tensor.rows, tensor.cols) < 1:
            raise ValidationError(
                "TensorShape",
                tensor.name,
                f"tensor {tensor.name!r} must have at least 1 element, not {tensor.rows} x "
                f"{tensor.cols}",
            )
        if min(tensor.part.row, tensor.part.col) < 0:
            raise ValidationError(
                "TensorPart",
                tensor.name,
                f"tensor {tensor.name!r} is said to be {tensor.part}; a part begins at row 0 and "
                f"column 0, or behind",
            )


def _depths(program: Program) -> None:
    for buffer in program.buffers:
        if buffer.depth_pages is not None and buffer.depth_pages < 1:
            raise ValidationError(
                "BufferDepth",
                buffer.name,
                f"buffer {buffer.name!r} must hold at least 1 page, not {buffer.depth_pages}",
            )


def _types(program: Program) -> None:
    types = [
        (program.name, program.numerics.operand),
        (program.name, program.numerics.total),
        *((tensor.name, tensor.dtype) for tensor in program.tensors),
        *((buffer.name, buffer.page.dtype) for buffer in program.buffers),
    ]
    for name, dtype in types:
        if dtype.bits < 1:
            raise ValidationError(
                "TypeWidth",
                name,
                f"{name!r} has elements of type {dtype}, which must have at least 1 bit, not "
                f"{dtype.bits}",
            )


def _links(program: Program) -> None:
    for link in program.links:
        if min(link.width_bits, link.latency_cycles, link.flit_cycles) < 1:
            raise ValidationError(
                "LinkShape",
                link.name,
                f"link {link.name!r} must have at least 1 bit, 1 cycle and 1 cycle a flit, not "
                f"{link.width_bits} bits, {link.latency_cycles} cycles and {link.flit_cycles} "
                f"cycles a flit",
            )
