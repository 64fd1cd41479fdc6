"""Shapes and signatures that more than one component uses."""

from amaranth.hdl import Shape, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from compiler.ir.buffer import Page
from compiler.ir.dtype import DType


def element_shape(dtype: DType) -> Shape:
    """Shape of one element of an integer type."""
    return signed(dtype.bits)


def beat_layout(page: Page) -> data.ArrayLayout:
    """Layout of one beat of a page: ``page.lanes`` elements, lane 0 in the lowest bits."""
    return data.ArrayLayout(element_shape(page.dtype), page.lanes)


def lane_layout(shape: data.ArrayLayout, name: str) -> data.ArrayLayout:
    """Check that ``shape`` is an array layout of signed lanes and return it.

    Raises
    ------
    :exc:`TypeError`
        If it is not.
    """
    if not isinstance(shape, data.ArrayLayout) or not (
        isinstance(shape.elem_shape, Shape) and shape.elem_shape.signed
    ):
        raise TypeError(f"{name} must be an ArrayLayout of signed lanes, not {shape!r}")
    return shape


def positive(value: object, name: str) -> int:
    """Check that ``value`` is a positive integer and return it.

    Raises
    ------
    :exc:`TypeError`
        If it is not.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise TypeError(f"{name} must be a positive integer, not {value!r}")
    return value


class CreditLinkSignature(wiring.Signature):
    """One physical link that carries Token hand-offs, seen from the sending chip.

    Parameters
    ----------
    width_bits : int
        Bits of a flit.

    Members
    -------
    flit : ``Out(stream.Signature(width_bits, always_ready=True))``
        At most one flit per cycle. Holding a credit takes the place of ``ready``.
    credit : ``In(1)``
        Asserted for one cycle for each page slot that the receiver has freed.
    """

    def __init__(self, width_bits: int):
        self.width_bits = positive(width_bits, "Link width")
        super().__init__(
            {
                "flit": Out(stream.Signature(width_bits, always_ready=True)),
                "credit": In(1),
            }
        )

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.width_bits == self.width_bits


class SemaphoreLinkSignature(wiring.Signature):
    """One physical link that carries Semaphore hand-offs, seen from the sending chip.

    Parameters
    ----------
    width_bits : int
        Bits of a flit.

    Members
    -------
    flit : ``Out(stream.Signature(width_bits, always_ready=True))``
        At most one flit per cycle, whole pages only.
    valid : ``Out(1)``
        Asserted for one cycle after the last flit of a page: the page may be read.
    ready : ``In(1)``
        Asserted for one cycle for each page slot that the receiver offers. The receiver offers
        every slot once after reset, and again whenever a page has been read.
    """

    def __init__(self, width_bits: int):
        self.width_bits = positive(width_bits, "Link width")
        super().__init__(
            {
                "flit": Out(stream.Signature(width_bits, always_ready=True)),
                "valid": Out(1),
                "ready": In(1),
            }
        )

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.width_bits == self.width_bits


def flit_count(beat_bits: int, width_bits: int) -> int:
    """Flits that one beat takes on a link. The last flit is padded with zeros."""
    return -(-beat_bits // width_bits)
