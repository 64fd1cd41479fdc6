"""What the memories of a program hold for given operands."""

import numpy as np

from compiler.ir.program import Program
from sim.images import words
from sim.operands import bind


def images(program: Program, a: np.ndarray, b: np.ndarray) -> dict[str, list[int]]:
    """Words of every tensor that comes from outside; those of A are columns."""
    left = program.claim.left
    return {
        name: words(
            array,
            program.tensor_by_name[name],
            by_columns=_whole(program, name) == left,
        )
        for name, array in bind(program, a, b).items()
    }


def _whole(program: Program, name: str) -> str:
    piece = program.tensor_by_name[name].slice_of
    return piece.whole if piece is not None else name
