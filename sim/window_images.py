"""Matrices as the bytes of a host port's windows, and back."""

from dataclasses import replace

import numpy as np

from compiler.ir.dtype import integer
from compiler.ir.tensor import Tensor
from hw.register_map import Window, element_bits
from sim.exact import exact
from sim.images import beats_of, matrix_of


def window_beats(array: np.ndarray, tensor: Tensor, window: Window) -> list[bytes]:
    """The beats of a matrix as a host sees them, each with the rest of its span.

    Raises
    ------
    ExactError
        If an element of the window does not hold one of the matrix.
    """
    elements = exact(array, integer(window.element_bits), tensor.name)
    beats = beats_of(elements, tensor)
    little = beats.astype(beats.dtype.newbyteorder("<"))
    return [beat.tobytes().ljust(window.beat_bytes, b"\0") for beat in little]


def matrix_of_window(beats: list[bytes], tensor: Tensor) -> np.ndarray:
    """The int32 matrix in the beats of a tensor's window, without the padding of edge tiles."""
    bits = element_bits(tensor)
    words = [int.from_bytes(beat[: bits // 8 * tensor.tile], "little") for beat in beats]
    return matrix_of(words, replace(tensor, dtype=integer(bits)))
