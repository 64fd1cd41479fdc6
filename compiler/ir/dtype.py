"""Element types of tensors, pages and link words, and all that is known of each.

This is the one place for facts of a type: its size, its range, what numpy calls it, and whether the
machine computes with it.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class DType:
    """An element type. ``bits`` is the width of one element; ``kind`` is ``int`` or ``float``.

    The three are one fact, stated three times: :attr:`exists` says whether they agree.
    """

    name: str
    bits: int
    kind: str = "int"

    @property
    def exists(self) -> bool:
        """Whether name, bits and kind are those of one type."""
        if self.kind == "int":
            return 1 <= self.bits <= WIDEST_BITS and self.name == f"int{self.bits}"
        return DTYPES.get(self.name) == self

    @property
    def low(self) -> int:
        """Smallest value of an integer type (two's complement)."""
        return -(1 << (self.bits - 1))

    @property
    def high(self) -> int:
        """Largest value of an integer type (two's complement)."""
        return (1 << (self.bits - 1)) - 1

    @property
    def bytes(self) -> int:
        """Bytes that one element takes by itself."""
        return -(-self.bits // 8)

    @property
    def numpy_name(self) -> str:
        """numpy's name of the least integer type that holds every value of this one."""
        return f"int{max(8, 1 << (self.bits - 1).bit_length())}"

    @property
    def is_multiplied(self) -> bool:
        """Whether tile units multiply operands of this type."""
        return self == INT8

    @property
    def is_summed(self) -> bool:
        """Whether accumulators, folds, links and results have elements of this type."""
        return self.exists and self.kind == "int" and self.bits in SUM_BITS

    def __str__(self) -> str:
        return self.name


def integer(bits: int) -> DType:
    """The signed integer type of ``bits`` bits."""
    return DType(f"int{bits}", bits)


WIDEST_BITS = 64
SUM_BITS = range(2, 33)
"""Widths of the sums that the machine makes."""

INT8 = integer(8)
INT16 = integer(16)
INT32 = integer(32)
INT64 = integer(64)
FP8 = DType("fp8", 8, "float")
BF16 = DType("bf16", 16, "float")
FP32 = DType("fp32", 32, "float")

DTYPES = {dtype.name: dtype for dtype in (INT8, INT16, INT32, INT64, FP8, BF16, FP32)}
