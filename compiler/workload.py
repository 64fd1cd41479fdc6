"""What the user asks for: one matrix product."""

from dataclasses import dataclass, field, replace

from compiler.errors import EmptyMatrixError, WorkloadError
from compiler.ir.body import Body, is_operation, operands_of
from compiler.ir.dtype import INT8, SUM_BITS
from compiler.ir.init import External, Init
from compiler.ir.tensor import ValueRange

INT8_RANGE = ValueRange(INT8.low, INT8.high)


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
    sum_bits : int
        Width of accumulators, partial sums, link words and results, 2 to 32 bits. A product whose
        sums could overflow it is refused.
    map : Body, optional
        Expression over ``Operand(0)`` that is applied to every element of the whole sum.

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
    sum_bits: int = 32
    map: Body | None = None

    def __post_init__(self) -> None:
        for name in ("m", "n", "k", "k_pad"):
            extent = getattr(self, name)
            if not isinstance(extent, int) or isinstance(extent, bool) or extent < 0:
                raise WorkloadError(f"{name} must be a non-negative integer, not {extent!r}")
        if 0 in (self.m, self.n, self.k):
            raise EmptyMatrixError(m=self.m, n=self.n, k=self.k)
        if type(self.sum_bits) is not int or self.sum_bits not in SUM_BITS:
            raise WorkloadError(
                f"sum_bits must be an integer in {SUM_BITS[0]} to {SUM_BITS[-1]}, not "
                f"{self.sum_bits!r}"
            )
        if self.map is not None and (
            not is_operation(self.map) or list(operands_of(self.map)) != [0]
        ):
            raise WorkloadError(
                f"map must be an operation on op0, used once, in which no operation is of "
                f"literals alone, not {self.map}"
            )
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
