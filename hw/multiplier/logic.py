"""A multiplier of logic and carry chains, for arrays larger than a device's multiplier blocks."""

from amaranth.hdl import Const, Module, Mux, Signal, Value

from hw.multiplier.signature import Multiplier


class LogicMultiplier(Multiplier):
    """Adds up ``a`` times each bit of ``b`` in a tree that has a register at every level.

    The first level adds pairs of neighbouring bits of ``b``, of which the highest counts
    negatively; the second adds pairs of those sums, and the third the rest. So an 8-bit product is
    4, 2 and 1 additions of about 10, 12 and 14 bits.
    """

    def elaborate(self, platform) -> Module:
        m = Module()
        highest = self.width_bits - 1
        rows = [(self._row(bit), bit, bit == highest) for bit in range(self.width_bits)]
        level = []
        for low in range(0, self.width_bits, 2):
            pair = rows[low : low + 2]
            total: Value = Const(0)
            for value, bit, negative in pair:
                shifted = value << (bit - low)
                total = total - shifted if negative else total + shifted
            level.append((self._registered(m, total, f"pair_{low}", self.width_bits + 2), low))
        level = [
            (
                self._registered(
                    m, _sum(level[i : i + 2]), f"quad_{level[i][1]}", self.width_bits + 4
                ),
                level[i][1],
            )
            for i in range(0, len(level), 2)
        ]
        m.d.sync += self.product.eq(_sum(level))
        return m

    def _row(self, bit: int) -> Value:
        return Mux(self.b[bit], self.a, 0).as_signed()

    def _registered(self, m: Module, value: Value, name: str, width: int) -> Value:
        register = Signal(type(self.a.shape())(width, signed=True), name=name)
        m.d.sync += register.eq(value)
        return register


def _sum(terms: list[tuple[Value, int]]) -> Value:
    """The sum of terms in units of the lowest one."""
    lowest = terms[0][1]
    total: Value = Const(0)
    for value, bit in terms:
        total = total + (value << (bit - lowest))
    return total
