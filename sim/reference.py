"""numpy's answer."""

import numpy as np

from compiler.ir.body import Add, Body, Literal, Max, Operand
from compiler.ir.program import Claim


def claimed(claim: Claim, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """What a program claims to compute from its operands, as int32.

    Raises
    ------
    OverflowError
        If an element does not fit into int32, so that there is no int32 answer.
    """
    total = product(a, b)
    return total if claim.map is None else mapped(total, claim.map)


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``a . b`` of two int8 matrices, summed in 64 bits and returned as int32.

    Raises
    ------
    OverflowError
        If an element does not fit into int32, so that there is no int32 answer.
    """
    return _as_int32(a.astype(np.int64) @ b.astype(np.int64), "product")


def mapped(product: np.ndarray, body: Body) -> np.ndarray:
    """``body`` applied to each element of a product, in 64 bits and returned as int32.

    Raises
    ------
    OverflowError
        If an element does not fit into int32, so that there is no int32 answer.
    """
    wide = product.astype(np.int64)

    def value(of: Body) -> np.ndarray:
        match of:
            case Operand():
                return wide
            case Literal(constant):
                return np.full_like(wide, constant)
            case Add(left, right):
                return value(left) + value(right)
            case Max(left, right):
                return np.maximum(value(left), value(right))

    return _as_int32(value(body), "mapped product")


def _as_int32(exact: np.ndarray, what: str) -> np.ndarray:
    bounds = np.iinfo(np.int32)
    if exact.size and (exact.min() < bounds.min or exact.max() > bounds.max):
        raise OverflowError(f"the {what} leaves int32")
    return exact.astype(np.int32)
