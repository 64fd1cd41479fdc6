"""What every multiplier looks like from outside."""

from amaranth.hdl import Shape, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

MULTIPLIER_CYCLES = 3
"""From the cycle in which operands are there to the one in which their product is."""


class MultiplierSignature(wiring.Signature):
    """Multiplies two signed numbers, a new pair in every cycle.

    Parameters
    ----------
    width_bits : int
        Width of an operand.

    Members
    -------
    a, b : ``Out(signed(width_bits))``
        Operands.
    product : ``In(signed(2 * width_bits))``
        Their product, 3 cycles later. Zero after reset.
    """

    def __init__(self, width_bits: int):
        self.width_bits = width_bits
        super().__init__(
            {
                "a": Out(signed(width_bits)),
                "b": Out(signed(width_bits)),
                "product": In(signed(2 * width_bits)),
            }
        )


class Multiplier(wiring.Component):
    """A component with the signature of a multiplier, as its user sees it flipped.

    Parameters
    ----------
    width_bits : :class:`int`
        Width of an operand.

    Raises
    ------
    :exc:`TypeError`
        If the width is not an integer.
    :exc:`ValueError`
        If it is outside of ``1 .. widest_bits``.
    """

    widest_bits: int = 64

    def __init__(self, width_bits: int):
        if not isinstance(width_bits, int) or isinstance(width_bits, bool):
            raise TypeError(f"Operand width must be an integer, not {width_bits!r}")
        if not 1 <= width_bits <= self.widest_bits:
            raise ValueError(
                f"Operand width must be in 1 .. {self.widest_bits} bits, not {width_bits!r}"
            )
        self.width_bits = width_bits
        super().__init__(MultiplierSignature(width_bits).flip())

    @property
    def product_shape(self) -> Shape:
        """Shape of a product."""
        return signed(2 * self.width_bits)
