"""Memory images: matrices as the words of a tensor memory, and back.

A word is one beat. Tiles lie row-major. An A tile is stored by columns, B and C tiles by rows; lane
0 is in the lowest bits.
"""

import numpy as np

from compiler.ir.tensor import Tensor


def words(array: np.ndarray, tensor: Tensor, *, by_columns: bool) -> list[int]:
    """The memory words of a matrix of 8, 16 or 32 bits an element."""
    beats = beats_of(array, tensor, by_columns=by_columns)
    little = beats.astype(beats.dtype.newbyteorder("<"))
    return [int.from_bytes(beat.tobytes(), "little") for beat in little]


def beats_of(array: np.ndarray, tensor: Tensor, *, by_columns: bool) -> np.ndarray:
    """A matrix as the beats of its memory, one a row. Edge tiles are filled with zeros."""
    tile = tensor.tile
    padded = np.zeros((tensor.row_tiles * tile, tensor.col_tiles * tile), dtype=array.dtype)
    padded[: array.shape[0], : array.shape[1]] = array
    tiles = padded.reshape(tensor.row_tiles, tile, tensor.col_tiles, tile)
    order = (0, 2, 3, 1) if by_columns else (0, 2, 1, 3)
    return np.ascontiguousarray(tiles.transpose(order)).reshape(-1, tile)


def matrix_of(memory: list[int], tensor: Tensor) -> np.ndarray:
    """The int32 matrix that the words of an output memory hold, without the padding of edge tiles.

    Lanes may have any width of up to 32 bits.
    """
    tile = tensor.tile
    lanes = _lanes(memory, tile, tensor.dtype.bits)
    tiles = lanes.reshape(tensor.row_tiles, tensor.col_tiles, tile, tile)
    padded = tiles.transpose(0, 2, 1, 3).reshape(tensor.row_tiles * tile, tensor.col_tiles * tile)
    return np.ascontiguousarray(padded[: tensor.rows, : tensor.cols], dtype=np.int32)


def _lanes(memory: list[int], count: int, bits: int) -> np.ndarray:
    """The ``count`` lanes of ``bits`` bits of every word, in two's complement."""
    word_bytes = -(-count * bits // 8)
    raw = b"".join(word.to_bytes(word_bytes, "little") for word in memory)
    if bits in (8, 16, 32):
        return np.frombuffer(raw, f"<i{bits // 8}")
    stored = np.frombuffer(raw, np.uint8).reshape(-1, word_bytes)
    digits = np.unpackbits(stored, axis=1, count=count * bits, bitorder="little")
    weights = 1 << np.arange(bits)
    weights[-1] *= -1
    return digits.reshape(-1, bits) @ weights
