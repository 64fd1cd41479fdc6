"""Element types of tensors, pages and link words."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DType:
    """An element type. ``bits`` is the width of one element; ``kind`` is ``int`` or ``float``."""

    name: str
    bits: int
    kind: str = "int"

    @property
    def low(self) -> int:
        """Smallest value of an integer type (two's complement)."""
        return -(1 << (self.bits - 1))

    @property
    def high(self) -> int:
        """Largest value of an integer type (two's complement)."""
        return (1 << (self.bits - 1)) - 1

    def __str__(self) -> str:
        return self.name


INT8 = DType("int8", 8)
INT16 = DType("int16", 16)
INT32 = DType("int32", 32)
INT64 = DType("int64", 64)
BF16 = DType("bf16", 16, "float")
FP32 = DType("fp32", 32, "float")


def integer(bits: int) -> DType:
    """The signed integer type of ``bits`` bits."""
    return DType(f"int{bits}", bits)


DTYPES = {dtype.name: dtype for dtype in (INT8, INT16, INT32, INT64, BF16, FP32)}
