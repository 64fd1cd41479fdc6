"""The multiplier block of iCE40 UltraPlus devices."""

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Module, ResetSignal, Signal

from hw.multiplier.signature import Multiplier

OPERAND_BITS = 16
SELECT_PRODUCT = Const(0b11, 2)
"""Both halves of the output show the product of 16 bits by 16."""
UNUSED = (
    *("C", "D", "AHOLD", "BHOLD", "CHOLD", "DHOLD", "ORSTTOP", "ORSTBOT", "OLOADTOP", "OLOADBOT"),
    *("ADDSUBTOP", "ADDSUBBOT", "OHOLDTOP", "OHOLDBOT", "CI", "ACCUMCI", "SIGNEXTIN"),
)


class Ice40Multiplier(Multiplier):
    """An ``SB_MAC16`` with the registers of its operands and of its result, and one register behind
    it.

    Written out because synthesis infers the block without its registers, whose resets are
    asynchronous. They are reset by the reset of the clock domain, which must come from a register;
    the register behind the block hides that they do not wait for the clock. A ``ResetInserter``
    does not reach them.

    Source: Lattice FPGA-TN-02007, "DSP Function Usage Guide for iCE40 Devices".
    """

    widest_bits = OPERAND_BITS

    def elaborate(self, platform) -> Module:
        m = Module()
        result = Signal(2 * OPERAND_BITS)
        reset = ResetSignal(allow_reset_less=True)
        m.submodules.block = Instance(
            "SB_MAC16",
            p_A_REG=Const(1, 1),
            p_B_REG=Const(1, 1),
            p_PIPELINE_16x16_MULT_REG2=Const(1, 1),
            p_TOPOUTPUT_SELECT=SELECT_PRODUCT,
            p_BOTOUTPUT_SELECT=SELECT_PRODUCT,
            p_A_SIGNED=Const(1, 1),
            p_B_SIGNED=Const(1, 1),
            i_CLK=ClockSignal(),
            i_CE=1,
            i_A=_extended(self.a),
            i_B=_extended(self.b),
            i_IRSTTOP=reset,
            i_IRSTBOT=reset,
            **{f"i_{port}": Const(0, OPERAND_BITS if port in ("C", "D") else 1) for port in UNUSED},
            o_O=result,
        )
        m.d.sync += self.product.eq(result)
        return m


def _extended(operand: Signal):
    """An operand, extended by its sign."""
    return Cat(operand, operand[-1].replicate(OPERAND_BITS - len(operand)))
