"""Memory images: matrices as the words of a tensor memory, and back.

A word is one beat. Tiles lie row-major. An A tile is stored by columns, B and C tiles by rows; lane
0 is in the lowest bits.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from compiler.ir.dtype import INT32
from compiler.ir.tensor import Tensor
from sim.errors import ElementTypeError, MemoryImageError
from sim.exact import exact

WHOLE_BYTES = (8, 16, 32, 64)


def words(array: np.ndarray, tensor: Tensor, *, by_columns: bool) -> list[int]:
    """The memory words of a matrix, each element in the bits of the tensor's type.

    Raises
    ------
    ExactError
        If the type does not hold an element.
    """
    elements = exact(array, tensor.dtype, tensor.name)
    beats = beats_of(elements, tensor, by_columns=by_columns)
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

    Lanes may have any width that the machine sums in.

    Raises
    ------
    ElementTypeError
        If it does not sum in the tensor's type.
    """
    tile = tensor.tile
    if not tensor.dtype.is_summed:
        raise ElementTypeError(what=f"tensor {tensor.name!r}", dtype=str(tensor.dtype))
    lanes = _lanes(memory, tile, tensor.dtype.bits)
    tiles = lanes.reshape(tensor.row_tiles, tensor.col_tiles, tile, tile)
    padded = tiles.transpose(0, 2, 1, 3).reshape(tensor.row_tiles * tile, tensor.col_tiles * tile)
    matrix = np.ascontiguousarray(padded[: tensor.rows, : tensor.cols])
    return exact(matrix, INT32, tensor.name)


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
