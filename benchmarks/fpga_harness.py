"""A component on two pins, for devices whose tools place pins or nothing."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hw.verilog.convert import component_ports


class TwoPins(wiring.Component):
    """Shifts a component's inputs in at one pin, and shows the parity of its outputs at another.

    It takes a register for each bit of the inputs, and one for the parity of each output.
    """

    def __init__(self, component: wiring.Component):
        self.component = component
        super().__init__({"i": In(1), "o": Out(1)})

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.component = self.component
        before: Signal = self.i
        parities = []
        for port, value in component_ports(self.component):
            if port.direction == "input":
                bits = Signal(len(value), name=port.name)
                m.d.sync += bits.eq(Cat(before, bits[:-1]))
                m.d.comb += value.eq(bits)
                before = bits[-1]
            else:
                outputs = Signal(len(value), name=port.name)
                parity = Signal(name=f"{port.name}_parity")
                m.d.comb += outputs.eq(value)
                m.d.sync += parity.eq(outputs.xor())
                parities.append(parity)
        m.d.sync += self.o.eq(Cat(parities).xor())
        return m
