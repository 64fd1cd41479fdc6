"""The wires of a module: what they are called, and what drives them."""

import re
from collections.abc import Iterable

from hw.verilog.decision import decided, segments
from hw.verilog.expression import (
    INVERSE,
    ZERO,
    Expression,
    Joined,
    Name,
    Number,
    Operation,
    broken,
    choice,
    flat,
    operation,
)
from hw.verilog.keywords import KEYWORDS
from hw.verilog.rtlil import Cell, Module
from hw.verilog.signals import Bits, Signal, Slice, join, resized, width_of
from hw.verilog.uses import Uses

OPERATORS = {
    "$and": "&",
    "$or": "|",
    "$xor": "^",
    "$add": "+",
    "$sub": "-",
    "$mul": "*",
    "$eq": "==",
    "$ne": "!=",
    "$lt": "<",
    "$le": "<=",
    "$gt": ">",
    "$ge": ">=",
    "$not": "~",
    "$neg": "-",
    "$reduce_bool": "|",
    "$reduce_or": "|",
    "$reduce_and": "&",
    "$reduce_xor": "^",
}
SIMPLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*")
INLINED_LENGTH = 60
"""Characters up to which an expression that is read once stands where it is read."""
REPEATED_LENGTH = 16
"""Characters up to which one does that is read more often."""


def identifier(name: str) -> str:
    """A name as Verilog reads it: escaped if it is a keyword, or has other characters."""
    simple = SIMPLE_NAME.fullmatch(name) and name not in KEYWORDS
    return name if simple else f"\\{name} "


def only_word(memory: str) -> str:
    """The name of the register that a memory of one word is."""
    return identifier(f"{memory}[0]")


def unused(name: str, taken: Iterable[str]) -> str:
    """The name, or one like it that is not taken."""
    return unused(f"{name}_", taken) if name in taken else name


def declared_range(width: int) -> str:
    """The range of a declaration, and a space behind it."""
    return f"[{width - 1}:0] " if width > 1 else ""


def whole_wire(signal: Signal) -> str:
    """The wire that a signal is all of."""
    (piece,) = signal
    assert isinstance(piece, Slice)
    return piece.wire


class Definitions:
    """Gives expressions of signals, and defines the wires that they need.

    A wire that is read more than once has a name and a definition. An operator that is read once
    stands where it is read.

    Parameters
    ----------
    module : :class:`Module`
        A module with exact widths.
    outputs : dict
        For each kind of instance in the module, the ports that it drives.

    Attributes
    ----------
    names : dict
        Name of each wire; what an instance drives is named after it and its port.
    lines : list of str
        The definitions so far, each behind those that it needs.
    """

    def __init__(self, module: Module, outputs: dict[str, set[str]]):
        self.module = module
        self.uses = Uses(module, outputs)
        self.reads = {whole_wire(c.ports["DATA"]): c for c in module.cells if c.kind == "$memrd_v2"}
        self.operators = {whole_wire(c.ports["Y"]): c for c in module.cells if "Y" in c.ports}
        self.names = self._named(outputs)
        self.lines: list[str] = []
        self._taken = {*self.names.values(), *module.memories}
        self._defined: set[str] = set()
        self._expressions: dict[str, Expression] = {}

    def _named(self, outputs: dict[str, set[str]]) -> dict[str, str]:
        names = {
            wire: wire.replace("$", "_", 1) if wire.startswith("$") else wire
            for wire in self.module.wires
        }
        for cell in self.module.cells:
            for port, signal in cell.ports.items():
                if port in outputs.get(cell.kind, ()):
                    wire = whole_wire(signal)
                    if not self.module.wires[wire].direction:
                        names[wire] = unused(f"{cell.name}__{port}", names.values())
        return {wire: identifier(name) for wire, name in names.items()}

    def read(self, signal: Signal) -> Expression:
        """The expression of a signal; wires that it needs are defined."""
        parts: list[Expression] = []
        for piece in reversed(signal):
            if isinstance(piece, Bits):
                parts.append(Number(piece.value, piece.width))
            elif piece.width == self.module.wires[piece.wire].width:
                parts.append(self._whole(piece.wire))
            else:
                self._define(piece.wire)
                parts.append(Name(self.selected(piece), piece.width))
        return parts[0] if len(parts) == 1 else Joined(tuple(parts))

    def selected(self, piece: Slice) -> str:
        """The text of some bits of a wire, or of all of them."""
        name, high = self.names[piece.wire], piece.start + piece.width - 1
        if piece.width == self.module.wires[piece.wire].width:
            return name
        return f"{name}[{piece.start}]" if piece.width == 1 else f"{name}[{high}:{piece.start}]"

    def is_combinational(self, wire: str) -> bool:
        """Whether an operator, a process or a memory without a register drives a wire."""
        if wire in self.reads:
            return not self.reads[wire].parameters["CLK_ENABLE"]
        return wire in self.operators or wire in self.module.processes

    def expression(self, wire: str) -> Expression:
        """What drives a combinational wire."""
        if wire not in self._expressions:
            self._expressions[wire] = self._driver(wire)
        return self._expressions[wire]

    def word(self, cell: Cell) -> Name:
        """The word of a memory that a port of it reads or writes."""
        memory = str(cell.parameters["MEMID"])
        width, size = self.module.memories[memory]
        if size == 1:
            return Name(only_word(memory), width)
        address = self.read(cell.ports["ADDR"])
        if not isinstance(address, Name | Number):  # simulators differ in how wide they make it
            address = self._named_as(f"{memory}_address", address)
        return Name(f"{identifier(memory)}[{flat(address)}]", width)

    def _whole(self, wire: str) -> Expression:
        """A wire by its name, or what drives it if that is short and stands nowhere else."""
        if wire.startswith("$") and wire not in self.uses.in_parts and self._can_move(wire):
            longest = INLINED_LENGTH if self.uses.count[wire] == 1 else REPEATED_LENGTH
            expression = self.expression(wire)
            if len(flat(expression)) <= longest:
                return expression
        self._define(wire)
        return Name(self.names[wire], self.module.wires[wire].width)

    def _can_move(self, wire: str) -> bool:
        """Whether an expression means the same elsewhere. A product takes its width from there."""
        product = wire in self.operators and self.operators[wire].kind == "$mul"
        return self.is_combinational(wire) and not product

    def _define(self, wire: str) -> None:
        """Define a combinational wire behind the wires that it needs, once."""
        port = self.module.wires[wire].direction
        if self.is_combinational(wire) and not port and wire not in self._defined:
            expression = self.expression(wire)
            self._defined.add(wire)
            self._define_as(self.names[wire], expression)

    def _named_as(self, wanted: str, expression: Expression) -> Name:
        """An expression under a name of its own, that wanted or one like it."""
        name = unused(wanted, self._taken)
        self._taken.add(name)
        self._define_as(name, expression)
        return Name(name, expression.width)

    def _define_as(self, name: str, expression: Expression) -> None:
        begin = f"  wire {declared_range(expression.width)}{name} = "
        self.lines.append(f"{begin}{broken(expression, '  ', len(begin))};")

    # --- Drivers --------------------------------------------------------------------------------

    def _driver(self, wire: str) -> Expression:
        if wire in self.module.processes:
            body, width = self.module.processes[wire], self.module.wires[wire].width
            runs = [decided(body, *run, self.read, ZERO) for run in segments(body, width)]
            return runs[0] if len(runs) == 1 else Joined(tuple(reversed(runs)))
        if wire in self.reads:
            return self.word(self.reads[wire])
        cell = self.operators[wire]
        if cell.kind == "$select":
            return self._selection(cell, self.names[wire])
        if cell.kind == "$mux":
            return choice(*(self.read(cell.ports[port]) for port in ("S", "B", "A")))
        return self._operation(cell)

    def _operation(self, cell: Cell) -> Expression:
        operator = OPERATORS[cell.kind]
        operands = [self.read(cell.ports[port]) for port in ("A", "B") if port in cell.ports]
        if cell.kind.startswith("$reduce"):
            return Operation(operator, tuple(operands), 1)
        if cell.parameters["A_SIGNED"] and (operator == "*" or operator in INVERSE):
            operands = [Name(f"$signed({flat(o)})", o.width) for o in operands]
        if operator == "*":
            return Operation(operator, tuple(operands), width_of(cell.ports["Y"]))
        return operation(operator, *operands)

    def _selection(self, cell: Cell, name: str) -> Expression:
        """Word ``B`` of ``A``, which is filled up so that there is a word for every number."""
        index, width = cell.ports["B"], width_of(cell.ports["Y"])
        stride = int(cell.parameters["STRIDE"])
        bits = ((1 << width_of(index)) - 1) * stride + width
        words = resized(cell.ports["A"], bits, signed=bool(cell.parameters["A_SIGNED"]))
        value = self.read(words)
        if not isinstance(value, Name) or not SIMPLE_NAME.fullmatch(value.text):
            value = self._named_as(f"{name}_words", value)
        start = self._scaled(index, stride, (bits - 1).bit_length())
        return Name(f"{value.text}[{flat(start)} +: {width}]", width)

    def _scaled(self, index: Signal, factor: int, width: int) -> Expression:
        """A number times a constant, without carries if that is a power of two."""
        shift = factor.bit_length() - 1
        if factor == 1 << shift:
            return self.read(resized(join((Bits(0, shift),), index), width))
        return operation("*", self.read(resized(index, width)), Number(factor, width))
