"""How often each wire of a module is read."""

from collections import Counter
from collections.abc import Iterable

from hw.verilog.decision import segments, tests
from hw.verilog.demand import OUTPUTS
from hw.verilog.rtlil import Assign, Module, Statement
from hw.verilog.signals import Signal, Slice, wires_of


class Uses:
    """How often each wire is read, as the text of the module will do it.

    Parameters
    ----------
    module : :class:`Module`
        The module.
    outputs : dict
        For each kind of instance in the module, the ports that it drives.

    Attributes
    ----------
    next_values : dict
        Wires that a process drives and that nothing reads but one register, with the wire of that
        register: the process becomes the clocked block of the register. Not if the process sets
        parts of it: Yosys 0.70 loses a part that is set behind a condition that sets the whole.
    """

    def __init__(self, module: Module, outputs: dict[str, set[str]]):
        self.module = module
        self.count: Counter[str] = Counter()
        self.in_parts: set[str] = set()
        for cell in module.cells:
            driven = outputs.get(cell.kind, {OUTPUTS.get(cell.kind, "Y")})
            for port in cell.ports.keys() - driven:
                self._use(cell.ports[port])
        for signal in module.aliases.values():
            self._use(signal)
        self.next_values = self._next_values()
        for wire, body in module.processes.items():
            runs = len(segments(body, module.wires[wire].width))
            self._use_in(body, 0 if wire in self.next_values else runs)

    def once_as_a_whole(self, wire: str) -> bool:
        """Whether a wire is read in one place, all of it."""
        return self.count[wire] == 1 and wire not in self.in_parts

    def _use(self, signal: Signal, times: int = 1) -> None:
        for piece in signal:
            if isinstance(piece, Slice):
                self.count[piece.wire] += times
                if piece.width != self.module.wires[piece.wire].width:
                    self.in_parts.add(piece.wire)

    def _use_in(self, body: Iterable[Statement], runs: int) -> None:
        """Count what a process reads.

        A subject is read for each pattern. In an expression, of which there is one for each of
        ``runs`` runs of bits, so is a value that later statements may keep.
        """
        body = list(body)
        for statement in body:
            if isinstance(statement, Assign):
                self._use(statement.value, 2 if runs and statement is not body[-1] else 1)
                continue
            for case in statement.cases:
                for pattern in case.patterns:
                    for signal, _ in tests(statement.subject, pattern):
                        self._use(signal, max(runs, 1))
                self._use_in(case.body, runs)

    def _next_values(self) -> dict[str, str]:
        registers = {
            next(iter(wires_of(cell.ports["D"])), ""): cell
            for cell in self.module.cells
            if cell.kind == "$dff"
        }
        return {
            wire: next(iter(wires_of(registers[wire].ports["Q"])))
            for wire, body in self.module.processes.items()
            if wire in registers
            and self.once_as_a_whole(wire)
            and len(registers[wire].ports["D"]) == 1
            and len(segments(body, self.module.wires[wire].width)) == 1
        }
