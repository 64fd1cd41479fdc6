"""Memory images: matrices as the words of a tensor memory, and back.

A word is one beat: a row of a tile or a column, as the tensor's orientation says. Tiles lie
row-major; lane 0 is in the lowest bits.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from compiler.ir.dtype import INT32
from compiler.ir.orientation import Orientation
from compiler.ir.tensor import Tensor
from sim.errors import ElementTypeError, MemoryImageError
from sim.exact import exact

WHOLE_BYTES = (8, 16, 32, 64)


def words(array: np.ndarray, tensor: Tensor) -> list[int]:
    """The memory words of a matrix, each element in the bits of the tensor's type.

    Raises
    ------
    ExactError
        If the type does not hold an element.
    """
    elements = exact(array, tensor.dtype, tensor.name)
    beats = beats_of(elements, tensor)
    bits = tensor.dtype.bits
    if bits in WHOLE_BYTES:
        little = beats.astype(beats.dtype.newbyteorder("<"))
        return [int.from_bytes(beat.tobytes(), "little") for beat in little]
    mask = (1 << bits) - 1
    return [
        sum((value & mask) << bits * lane for lane, value in enumerate(beat))
        for beat in beats.tolist()
    ]


def words_for(contents: Mapping[str, Sequence[int]], tensor: Tensor) -> Sequence[int]:
    """The words that ``contents`` has for a tensor's memory, none if it has none.

    Raises
    ------
    MemoryImageError
        If there are more than the memory has, or one is wider: simulators would cut it silently.
    """
    given = contents.get(tensor.name, ())
    depth, bits = tensor.page_count * tensor.tile, tensor.tile * tensor.dtype.bits
    if len(given) > depth:
        why = f"they are {len(given)}, and it has {depth}"
        raise MemoryImageError(tensor=tensor.name, why=why)
    for row, word in enumerate(given):
        if not 0 <= word < 1 << bits:
            why = f"word {row} is {word:#x}, and a word has {bits} bits"
            raise MemoryImageError(tensor=tensor.name, why=why)
    return given


def beats_of(array: np.ndarray, tensor: Tensor) -> np.ndarray:
    """A matrix as the beats of its memory, one a row. Edge tiles are filled with zeros."""
    tile = tensor.tile
    padded = np.zeros((tensor.row_tiles * tile, tensor.col_tiles * tile), dtype=array.dtype)
    padded[: array.shape[0], : array.shape[1]] = array
    tiles = padded.reshape(tensor.row_tiles, tile, tensor.col_tiles, tile)
    order = (0, 2, 3, 1) if _by_columns(tensor) else (0, 2, 1, 3)
    return np.ascontiguousarray(tiles.transpose(order)).reshape(-1, tile)


def matrix_of_beats(beats: np.ndarray, tensor: Tensor) -> np.ndarray:
    """The int32 matrix whose beats these are, one a row, without the padding of edge tiles.

    Raises
    ------
    ExactError
        If int32 does not hold an element.
    """
    tile = tensor.tile
    tiles = beats.reshape(tensor.row_tiles, tensor.col_tiles, tile, tile)
    order = (0, 3, 1, 2) if _by_columns(tensor) else (0, 2, 1, 3)
    padded = tiles.transpose(order).reshape(tensor.row_tiles * tile, tensor.col_tiles * tile)
    matrix = np.ascontiguousarray(padded[: tensor.rows, : tensor.cols])
    return exact(matrix, INT32, tensor.name)


def _by_columns(tensor: Tensor) -> bool:
    return tensor.orientation is Orientation.COLUMNS


def matrix_of(memory: list[int], tensor: Tensor) -> np.ndarray:
    """The int32 matrix that the words of an output memory hold, without the padding of edge tiles.

    Lanes may have any width that the machine sums in.

    Raises
    ------
    ElementTypeError
        If it does not sum in the tensor's type.
    """
    if not tensor.dtype.is_summed:
        raise ElementTypeError(what=f"tensor {tensor.name!r}", dtype=str(tensor.dtype))
    return matrix_of_beats(_lanes(memory, tensor.tile, tensor.dtype.bits), tensor)


def _lanes(memory: list[int], count: int, bits: int) -> np.ndarray:
    """The ``count`` lanes of ``bits`` bits of every word, in two's complement."""
    word_bytes = -(-count * bits // 8)
    raw = b"".join(word.to_bytes(word_bytes, "little") for word in memory)
    if bits in WHOLE_BYTES:
        return np.frombuffer(raw, f"<i{bits // 8}")
    stored = np.frombuffer(raw, np.uint8).reshape(-1, word_bytes)
    digits = np.unpackbits(stored, axis=1, count=count * bits, bitorder="little")
    weights = 1 << np.arange(bits)
    weights[-1] *= -1
    return digits.reshape(-1, bits) @ weights
