"""Components of random logic, for what turns logic into Verilog."""

import random

from amaranth.hdl import Array, Cat, Const, Module, Mux, Shape, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

INPUTS, OUTPUTS, REGISTERS = 5, 6, 6
WIDEST = 6


class RandomLogic(wiring.Component):
    """Registers, wires and a memory that random expressions and decisions drive.

    Every operator, selection and statement that this project's components use may occur, with
    operands of any width up to 6 bits, signed or not.
    """

    def __init__(self, seed: object):
        self.rng = random.Random(f"random logic/{seed}")
        super().__init__(
            {f"i{index}": In(self._shape()) for index in range(INPUTS)}
            | {f"o{index}": Out(self._shape()) for index in range(OUTPUTS)}
            | {"read_address": In(2), "write_address": In(2)}
        )

    def _shape(self) -> Shape:
        return Shape(self.rng.randint(1, WIDEST), self.rng.random() < 0.5)

    def elaborate(self, platform) -> Module:
        m = Module()
        rng = self.rng
        registers = [
            Signal(shape, name=f"r{index}", init=rng.randrange(1 << shape.width - shape.signed))
            for index, shape in enumerate(self._shape() for _ in range(REGISTERS))
        ]
        known: list[Value] = [getattr(self, f"i{index}") for index in range(INPUTS)]
        known += registers
        m.submodules.words = words = Memory(shape=4, depth=4, init=[])
        read = words.read_port(domain=rng.choice(("comb", "sync")))
        write = words.write_port(granularity=2)
        m.d.comb += read.addr.eq(self._expression(known, 1) ^ self.read_address)
        m.d.comb += write.addr.eq(self._expression(known, 1) ^ self.write_address)
        known.append(read.data)
        for index in range(8):
            wire = Signal(self._shape(), name=f"w{index}")
            if rng.random() < 0.5:
                m.d.comb += wire.eq(self._expression(known, 3))
            else:
                self._decide(m, m.d.comb, wire, known, 2)
            known.append(wire)
        for register in registers:
            self._decide(m, m.d.sync, register, known, 3)
        data = self._expression(known, 2) ^ Cat(self.write_address, self.read_address)
        m.d.comb += write.data.eq(data)
        m.d.comb += write.en.eq(self._expression(known, 2))
        for index in range(OUTPUTS):
            m.d.comb += getattr(self, f"o{index}").eq(self._expression(known, 3))
        return m

    def _decide(self, m: Module, domain, target: Signal, known: list[Value], depth: int) -> None:
        """Assign to a signal, or to a part of it, under random conditions."""
        rng = self.rng
        for _ in range(rng.randint(1, 2)):
            kind = rng.choice(("assign", "part", "if", "switch")) if depth else "assign"
            if kind == "assign":
                domain += target.eq(self._expression(known, 2))
            elif kind == "part":
                start = rng.randrange(len(target))
                domain += target[start:].eq(self._expression(known, 2))
            elif kind == "if":
                with m.If(self._expression(known, 1).bool()):
                    self._decide(m, domain, target, known, depth - 1)
                if rng.random() < 0.5:
                    with m.Elif(self._expression(known, 1).bool()):
                        self._decide(m, domain, target, known, depth - 1)
                if rng.random() < 0.5:
                    with m.Else():
                        self._decide(m, domain, target, known, depth - 1)
            else:
                self._switch(m, domain, target, known, depth)

    def _switch(self, m: Module, domain, target: Signal, known: list[Value], depth: int) -> None:
        rng = self.rng
        subject = rng.choice(known)
        with m.Switch(subject):
            for _ in range(rng.randint(1, 4)):
                patterns = {
                    "".join(rng.choice("0011-") for _ in range(len(subject)))
                    for _ in range(rng.randint(1, 2))
                }
                with m.Case(*sorted(patterns)):
                    if rng.random() < 0.8:
                        self._decide(m, domain, target, known, depth - 1)
            if rng.random() < 0.5:
                with m.Default():
                    self._decide(m, domain, target, known, depth - 1)

    def _expression(self, known: list[Value], depth: int) -> Value:
        rng = self.rng
        if not depth:
            if rng.random() < 0.2:
                return Const(rng.randrange(1 << 3))
            return rng.choice(known)
        x, y, z = (self._expression(known, depth - 1) for _ in range(3))
        few = y[: min(2, len(y))].as_unsigned()
        return rng.choice(
            (
                lambda: x + y,
                lambda: x - y,
                lambda: x[:3] * y[:3],
                lambda: Cat(x, y)[:3].as_signed() * Cat(y, z)[:3].as_signed(),
                lambda: x & y,
                lambda: x | y,
                lambda: x ^ y,
                lambda: ~x,
                lambda: -x,
                lambda: x == y,
                lambda: x != y,
                lambda: x < y,
                lambda: x <= y,
                lambda: x > y,
                lambda: x >= y,
                lambda: x.any(),
                lambda: x.all(),
                lambda: x.xor(),
                lambda: Mux(x, y, z),
                lambda: Cat(x, y)[:WIDEST],
                lambda: x[-1].replicate(2),
                lambda: x[len(x) // 2 :],
                lambda: x[: len(x) // 2 + 1],
                lambda: Cat(x).word_select(few, rng.randint(1, 3)),
                lambda: Cat(x).bit_select(few, rng.randint(1, 3)),
                lambda: Array([x, y, z])[few],
            )
        )()
