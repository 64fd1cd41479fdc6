"""numpy's answer."""

import numpy as np


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``a . b`` of two int8 matrices, summed in 64 bits and returned as int32.

    Raises
    ------
    OverflowError
        If an element does not fit into int32, so that there is no int32 answer.
    """
    exact = a.astype(np.int64) @ b.astype(np.int64)
    bounds = np.iinfo(np.int32)
    if exact.size and (exact.min() < bounds.min or exact.max() > bounds.max):
        raise OverflowError("the product leaves int32")
    return exact.astype(np.int32)
