"""What the user asks for: one matrix product."""

from dataclasses import dataclass, field, replace

from compiler.errors import EmptyMatrixError, WorkloadError
from compiler.ir.init import External, Init
from compiler.ir.tensor import ValueRange

INT8_RANGE = ValueRange(-128, 127)


@dataclass(frozen=True)
class MatmulSpec:
    """``C (m x n) = A (m x k) . B (k x n)`` over int8 operands with int32 sums.

    Parameters
    ----------
    m, n, k : int
        Extents of the product. ``k`` is the contraction axis.
    k_pad : int
        Zeros that stand behind the last element of the contraction axis. They change no sum;
        they make the axis divide over chips and tiles. The operands keep their ``k`` elements.
    a, b : Init
        Values of the operands. :class:`External` means that the host supplies them at run time.
    a_range, b_range : ValueRange
        Closed ranges that hold every element of the operands.

    Raises
    ------
    WorkloadError
        If an extent is not an integer or is negative, or if a range leaves int8.
    EmptyMatrixError
        If an extent is zero.
    """

    m: int
    n: int
    k: int
    k_pad: int = 0
    a: Init = field(default_factory=External)
    b: Init = field(default_factory=External)
    a_range: ValueRange = INT8_RANGE
    b_range: ValueRange = INT8_RANGE

    def __post_init__(self) -> None:
        for name in ("m", "n", "k", "k_pad"):
            extent = getattr(self, name)
            if not isinstance(extent, int) or isinstance(extent, bool) or extent < 0:
                raise WorkloadError(f"{name} must be a non-negative integer, not {extent!r}")
        if 0 in (self.m, self.n, self.k):
            raise EmptyMatrixError(m=self.m, n=self.n, k=self.k)
        for name in ("a_range", "b_range"):
            value_range = getattr(self, name)
            if value_range.low < INT8_RANGE.low or value_range.high > INT8_RANGE.high:
                raise WorkloadError(
                    f"{name} must lie within int8's [-128, 127], not "
                    f"[{value_range.low}, {value_range.high}]"
                )

    @property
    def k_total(self) -> int:
        """Extent of the contraction axis with its padding."""
        return self.k + self.k_pad

    def padded_k(self, multiple: int) -> "MatmulSpec":
        """The same product with the contraction axis padded to a multiple of ``multiple``."""
        return replace(self, k_pad=-self.k % multiple)
