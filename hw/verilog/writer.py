"""A netlist as Verilog text."""

from collections.abc import Iterator
from dataclasses import replace

from hw.verilog.clocked import If, Set, Step, block, register_steps
from hw.verilog.definitions import (
    Definitions,
    declared_range,
    identifier,
    only_word,
    unused,
    whole_wire,
)
from hw.verilog.expression import ONE, Expression, Number, broken, flat
from hw.verilog.rtlil import Cell, Module
from hw.verilog.signals import Slice, part


def written(modules: list[Module]) -> str:
    """The text of modules that have exact widths, the outermost first.

    Inner modules are named after their instance and those around it: ``chip_0_matmul``.
    """
    by_name = {module.name: module for module in modules}
    names: dict[str, str] = {}
    for module in modules:
        names[module.name] = unused(module.name.replace(".", "_"), names.values())
    return "\n".join(_ModuleText(module, by_name, names).text() for module in modules)


class _ModuleText:
    """The text of one module: ports, wires, outputs, registers, memories, instances."""

    def __init__(self, module: Module, modules: dict[str, Module], module_names: dict[str, str]):
        self.module = module
        self.module_names = module_names
        self.instances = [cell for cell in module.cells if cell.kind in modules]
        self.outputs = {
            cell.kind: {p for p, w in modules[cell.kind].wires.items() if w.direction == "output"}
            for cell in self.instances
        }
        self.registers = {whole_wire(c.ports["Q"]): c for c in module.cells if c.kind == "$dff"}
        self.wires = Definitions(module, self.outputs)
        self.names = self.wires.names

    def text(self) -> str:
        """The module."""
        ports = [(name, wire) for name, wire in self.module.wires.items() if wire.direction]
        ports.sort(key=lambda port: port[0] not in ("clk", "rst"))
        head = ",\n".join(
            f"  {wire.direction} {self._kind(name)} {declared_range(wire.width)}{self.names[name]}"
            for name, wire in ports
        )
        clocked = [line for block in self._clocked() for line in block]
        joined = [line for cell in self.instances for line in self._instance(cell)]
        outputs = list(self._outputs())
        body = [*self._declared(), *self.wires.lines, *outputs, *clocked, *joined]
        name = identifier(self.module_names[self.module.name])
        return "\n".join([f"module {name} (", head, ");", *body, "endmodule", ""])

    def _kind(self, wire: str) -> str:
        read = self.wires.reads.get(wire)
        registered = wire in self.registers or (read and read.parameters["CLK_ENABLE"])
        return "reg" if registered else "wire"

    def _declared(self) -> Iterator[str]:
        """Registers, what instances drive, and memories."""
        driven = {
            whole_wire(cell.ports[port])
            for cell in self.instances
            for port in cell.ports
            if port in self.outputs[cell.kind]
        }
        for name, wire in self.module.wires.items():
            kind = self._kind(name)
            if not wire.direction and (kind == "reg" or name in driven):
                yield f"  {kind} {declared_range(wire.width)}{self.names[name]};"
        for name, (width, size) in self.module.memories.items():
            if size == 1:
                yield f"  reg {declared_range(width)}{only_word(name)};"
            else:
                yield f"  reg {declared_range(width)}{identifier(name)} [0:{size - 1}];"

    def _outputs(self) -> Iterator[str]:
        """What drives the outputs that are neither registers nor driven by an instance."""
        for name, wire in self.module.wires.items():
            if wire.direction != "output":
                continue
            if name in self.module.aliases:
                value = self.wires.read(self.module.aliases[name])
            elif self.wires.is_combinational(name):
                value = self.wires.expression(name)
            else:
                continue
            begin = f"  assign {self.names[name]} = "
            yield f"{begin}{broken(value, '  ', len(begin))};"

    def _clocked(self) -> Iterator[Iterator[str]]:
        for wire, cell in self.registers.items():
            yield self._register(wire, cell)
        for cell in self.module.cells:
            if cell.kind == "$memwr_v2":
                yield self._block(cell, tuple(self._written_lanes(cell)))
            elif cell.kind == "$memrd_v2" and cell.parameters["CLK_ENABLE"]:
                step = Set(self.names[whole_wire(cell.ports["DATA"])], self.wires.word(cell))
                yield self._block(cell, (_guarded(self.wires.read(cell.ports["EN"]), step),))

    def _block(self, cell: Cell, steps: tuple[Step, ...]) -> Iterator[str]:
        clock = flat(self.wires.read(cell.ports["CLK"]))
        yield from block(f"always @(posedge {clock})", steps, "  ")

    def _register(self, wire: str, cell: Cell) -> Iterator[str]:
        init, width = self.module.wires[wire].init, self.module.wires[wire].width
        data = cell.ports["D"]
        yield f"  initial {self.names[wire]} = {flat(Number(init, width))};"
        match data:
            case (Slice(next_value, _, _),) if next_value in self.wires.uses.next_values:
                steps = register_steps(
                    self.module.processes[next_value],
                    self.wires.read,
                    lambda target: self.wires.selected(replace(target, wire=wire)),
                )
            case _:
                steps = (Set(self.names[wire], self.wires.read(data)),)
        yield from self._block(cell, steps)

    def _written_lanes(self, cell: Cell) -> Iterator[Step]:
        """What a write port does; lanes that are enabled together are written together."""
        word = self.wires.word(cell)
        start = 0
        while start < word.width:
            enable = part(cell.ports["EN"], start, 1)
            end = start
            while end < word.width and part(cell.ports["EN"], end, 1) == enable:
                end += 1
            lane = "" if end - start == word.width else f"[{end - 1}:{start}]"
            value = self.wires.read(part(cell.ports["DATA"], start, end - start))
            yield _guarded(self.wires.read(enable), Set(f"{word.text}{lane}", value))
            start = end

    def _instance(self, cell: Cell) -> Iterator[str]:
        joined = [
            f"    .{identifier(port)}({flat(self.wires.read(signal))})"
            for port, signal in cell.ports.items()
        ]
        kind = identifier(self.module_names[cell.kind])
        yield f"  {kind} {identifier(cell.name)} ("
        yield ",\n".join(joined)
        yield "  );"


def _guarded(condition: Expression, step: Set) -> Step:
    return step if condition == ONE else If(((condition, (step,)),))
