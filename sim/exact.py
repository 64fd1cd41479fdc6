"""Numbers from one type to another: exactly, or not at all."""

import numpy as np

from compiler.ir.dtype import DType
from sim.errors import InexactTypeError, InexactValueError


def exact(values: np.ndarray, dtype: DType, what: str) -> np.ndarray:
    """``values`` in the least of numpy's integer types that holds ``dtype``, in native byte order.

    Every conversion of numbers on their way into a machine or out of it goes through here: what
    ``astype`` would wrap, round or cut is refused.

    Parameters
    ----------
    values : array
        Integers of any width, or Python's.
    what : str
        What holds the values, for the error.

    Raises
    ------
    InexactTypeError
        If they are no integers.
    InexactValueError
        If one of them is none that ``dtype`` holds.
    """
    if values.dtype.kind not in "iu" and not _are_integers(values):
        raise InexactTypeError(what=what, dtype=str(values.dtype), wanted=str(dtype))
    outside = np.asarray((values < dtype.low) | (values > dtype.high), dtype=bool)
    if outside.any():
        position = tuple(int(index) for index in np.argwhere(outside)[0])
        raise InexactValueError(
            what=what,
            value=int(values[position]),
            position=position,
            dtype=str(dtype),
            low=dtype.low,
            high=dtype.high,
        )
    return values.astype(dtype.numpy_name)


def _are_integers(values: np.ndarray) -> bool:
    """Whether an array of objects holds integers alone."""
    return values.dtype == object and all(
        isinstance(value, int | np.integer) and not isinstance(value, bool) for value in values.flat
    )


def wrapped(values: np.ndarray, dtype: DType) -> np.ndarray:
    """Values modulo ``2 ** dtype.bits``, in two's complement, as sums wrap in the hardware.

    It is meant to change values. ``dtype`` is one that the machine sums in, so that 64 bits hold
    all that stands here on the way.
    """
    return (values - dtype.low) % (1 << dtype.bits) + dtype.low
