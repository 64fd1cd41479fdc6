"""The multiplier as plain arithmetic, for simulation and for tools that infer blocks themselves."""

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import data

from hw.multiplier.signature import Multiplier


class PlainMultiplier(Multiplier):
    """A multiplication with registers where a multiplier block has them: operands, product, and
    one more register behind the block."""

    def elaborate(self, platform) -> Module:
        m = Module()
        lane = data.ArrayLayout(self.a.shape(), 1)
        (product,) = multiply_lanes(m, self.a, data.View(lane, Value.cast(self.b)))
        m.d.comb += self.product.eq(product)
        return m


def multiply_lanes(m: Module, a: Value, b: data.View, *, name: str = "lanes") -> list[Value]:
    """The product of ``a`` with every lane of ``b``, flat in ``m``, which simulates fastest.

    Parameters
    ----------
    name : str
        Begins the names of the registers.
    """
    lanes = b.shape().length
    width = 2 * len(a)
    products = data.ArrayLayout(type(a.shape())(width, signed=True), lanes)
    a_taken = Signal(a.shape(), name=f"{name}_a")
    b_taken = Signal(b.shape(), name=f"{name}_b")
    multiplied = Signal(products, name=f"{name}_multiplied")
    product = Signal(products, name=f"{name}_product")
    m.d.sync += a_taken.eq(a)
    m.d.sync += b_taken.eq(b)
    m.d.sync += multiplied.eq(Cat((a_taken * b_taken[lane])[:width] for lane in range(lanes)))
    m.d.sync += product.eq(multiplied)
    return [Value.cast(product[lane]) for lane in range(lanes)]
