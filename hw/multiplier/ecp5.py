"""The multiplier block of ECP5 devices."""

from amaranth.hdl import ClockSignal, Instance, Module, ResetSignal, Signal, Value

from hw.multiplier.signature import Multiplier

OPERAND_BITS = 18
CONTROLS = 4
"""Clocks, clock enables and resets of a block; the first of each is used."""


class Ecp5Multiplier(Multiplier):
    """An ``MULT18X18D`` with the registers of its operands and of its result, and one register
    behind it.

    Written out because synthesis infers the block without its registers. The block's registers are
    reset with the clock domain; a ``ResetInserter`` does not reach them.

    Source: Lattice FPGA-TN-02205, "ECP5 and ECP5-5G sysDSP Usage Guide".
    """

    widest_bits = OPERAND_BITS

    def elaborate(self, platform) -> Module:
        m = Module()
        result = Signal(self.product_shape)
        ports: dict[str, object] = {"i_SIGNEDA": 1, "i_SIGNEDB": 1, "i_SOURCEA": 0, "i_SOURCEB": 0}
        for bit in range(OPERAND_BITS):
            ports[f"i_A{bit}"] = _extended(self.a, bit)
            ports[f"i_B{bit}"] = _extended(self.b, bit)
            ports[f"i_C{bit}"] = 0
        for bit in range(len(result)):
            ports[f"o_P{bit}"] = result[bit]
        for control in range(CONTROLS):
            ports[f"i_CLK{control}"] = 0 if control else ClockSignal()
            ports[f"i_CE{control}"] = 0 if control else 1
            ports[f"i_RST{control}"] = 0 if control else ResetSignal(allow_reset_less=True)
        m.submodules.block = Instance(
            "MULT18X18D",
            p_REG_INPUTA_CLK="CLK0",
            p_REG_INPUTB_CLK="CLK0",
            p_REG_OUTPUT_CLK="CLK0",
            **ports,
        )
        m.d.sync += self.product.eq(result)
        return m


def _extended(operand: Value, bit: int) -> Value:
    """A bit of an operand that is extended by its sign."""
    return Value.cast(operand[min(bit, len(operand) - 1)])
