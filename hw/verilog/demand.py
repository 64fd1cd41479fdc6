"""What is read of a netlist, across its modules."""

from collections.abc import Iterable, Iterator

from hw.verilog.rtlil import Assign, Cell, Module, Statement
from hw.verilog.signals import Signal, Slice, part, wires_of

LOW_BITS = frozenset({"$add", "$sub", "$mul", "$neg", "$and", "$or", "$xor", "$not", "$mux"})
"""Operators whose low bits depend on the low bits of their operands alone."""
OUTPUTS = {"$dff": "Q", "$memrd_v2": "DATA", "$memwr_v2": ""}
"""The port that a cell drives, where it is not ``Y``."""


class Demand:
    """How many low bits of each wire are read by what an output depends on.

    A memory is read if one of its read ports is.

    Parameters
    ----------
    modules : list of :class:`Module`
        The outermost module and those inside of it, each instantiated once.

    Attributes
    ----------
    bits : dict
        For each module by name, the bits that are read by wire; without the wires that nobody
        reads.
    memories : dict
        For each module by name, the memories that are read.
    """

    def __init__(self, modules: list[Module]):
        self.modules = {module.name: module for module in modules}
        self.bits: dict[str, dict[str, int]] = {module.name: {} for module in modules}
        self.memories: dict[str, set[str]] = {module.name: set() for module in modules}
        self._instances = {
            cell.kind: (module.name, cell)
            for module in modules
            for cell in module.cells
            if cell.kind in self.modules
        }
        self._drivers = {module.name: self._driven(module) for module in modules}
        top = modules[0]
        for name, wire in top.wires.items():
            if wire.direction == "output":
                self._read(top.name, (Slice(name, 0, wire.width),))

    def _driven(self, module: Module) -> dict[str, tuple[Cell, str]]:
        """For each wire that a cell drives, the cell and its port."""
        return {
            wire: (cell, port)
            for cell in module.cells
            for port in self._outputs(cell)
            for wire in wires_of(cell.ports[port])
        }

    def _outputs(self, cell: Cell) -> Iterable[str]:
        inner = self.modules.get(cell.kind)
        if inner is None:
            return {OUTPUTS.get(cell.kind, "Y")} & cell.ports.keys()
        return [name for name in cell.ports if inner.wires[name].direction == "output"]

    def _read(self, module: str, signal: Signal) -> None:
        """Note that a signal is read, and with it all that it depends on."""
        waiting = [(module, signal)]
        while waiting:
            module, signal = waiting.pop()
            for piece in signal:
                if isinstance(piece, Slice):
                    bits = piece.start + piece.width
                    if bits > self.bits[module].get(piece.wire, 0):
                        self.bits[module][piece.wire] = bits
                        waiting += self._behind(module, piece.wire, bits)

    def _behind(self, module: str, wire: str, bits: int) -> Iterator[tuple[str, Signal]]:
        """What the low bits of a wire are made from."""
        here = self.modules[module]
        if wire in here.aliases:
            yield module, part(here.aliases[wire], 0, bits)
        if wire in here.processes:
            yield from ((module, signal) for signal in read_by(here.processes[wire], bits))
        if here.wires[wire].direction == "input" and module in self._instances:
            parent, instance = self._instances[module]
            yield parent, instance.ports[wire]
        if wire in self._drivers[module]:
            yield from self._behind_cell(module, *self._drivers[module][wire], bits)

    def _behind_cell(
        self, module: str, cell: Cell, port: str, bits: int
    ) -> Iterator[tuple[str, Signal]]:
        if cell.kind in self.modules:
            yield cell.kind, (Slice(port, 0, self.modules[cell.kind].wires[port].width),)
            return
        for name, operand in cell.ports.items():
            if name != port:
                low = cell.kind in LOW_BITS and name != "S"
                yield module, part(operand, 0, bits) if low else operand
        memory = cell.parameters.get("MEMID")
        if memory is not None and memory not in self.memories[module]:
            self.memories[module].add(str(memory))
            for writer in self.modules[module].cells:
                if writer.kind == "$memwr_v2" and writer.parameters["MEMID"] == memory:
                    yield from ((module, signal) for signal in writer.ports.values())


def read_by(body: Iterable[Statement], bits: int) -> Iterator[Signal]:
    """The signals that decide on the low bits of what a process drives."""
    for statement in body:
        if isinstance(statement, Assign):
            if statement.target.start < bits:
                yield part(statement.value, 0, bits - statement.target.start)
        elif any(sets(case.body, bits) for case in statement.cases):
            yield statement.subject
            for case in statement.cases:
                yield from read_by(case.body, bits)


def sets(body: Iterable[Statement], bits: int) -> bool:
    """Whether statements set one of the low bits."""
    return any(
        statement.target.start < bits
        if isinstance(statement, Assign)
        else any(sets(case.body, bits) for case in statement.cases)
        for statement in body
    )
